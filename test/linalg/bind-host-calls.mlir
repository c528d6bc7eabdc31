// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-bind-host-calls)' | FileCheck %s

// The reference body reads what the call reads and writes what it writes; nothing else is asked of it.
// CHECK-LABEL: func.func private @c(
// CHECK-SAME: %[[X:.*]]: tensor<?x2xf32>, %[[OUT:.*]]: tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
// CHECK-SAME: kc.impl = @c__impl
// CHECK: tensor.extract %[[X]][%{{.*}}, %{{.*}}] : tensor<?x2xf32>
// CHECK: %[[WRITTEN:.*]] = tensor.insert %{{.*}} into %[[OUT]][%{{.*}}] : tensor<4xcomplex<f64>>
// CHECK: return %[[WRITTEN]]
func.func private @c(tensor<?x2xf32>, tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
  attributes {kc.host_call = "kc_custom_call", kc.host_words = array<i64: 7>}

// Words: the constant, address and two sizes of the input, address and size of the destination.
// CHECK: llvm.func @kc_custom_call(!llvm.ptr)
// CHECK-LABEL: func.func private @c__impl(
// CHECK-SAME: %[[X:.*]]: memref<?x2xf32>, %[[OUT:.*]]: memref<4xcomplex<f64>>) attributes {kc.impl, no_inline}
// CHECK: %[[SEVEN:.*]] = arith.constant 7 : i64
// CHECK: memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: memref.dim %[[X]]
// CHECK: memref.extract_aligned_pointer_as_index %[[OUT]]
// CHECK: %[[COUNT:.*]] = arith.constant 6 : i64
// CHECK: %[[BLOCK:.*]] = llvm.alloca %[[COUNT]] x i64
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[BLOCK]][0]
// CHECK: llvm.store %[[SEVEN]], %[[FIRST]]
// CHECK: llvm.call @kc_custom_call(%[[BLOCK]])
