// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-check-shapes)' | FileCheck %s

// The check stands where its numbers are first known, before anything reads; a size that is known equal is not checked
// again.
// CHECK-LABEL: func.func @elementwise
// CHECK-SAME: (%[[A:.*]]: tensor<?xf32>, %[[B:.*]]: tensor<?xf32>)
// CHECK-DAG: %[[M:.*]] = tensor.dim %[[A]]
// CHECK-DAG: %[[N:.*]] = tensor.dim %[[B]]
// CHECK: %[[OK:.*]] = arith.cmpi eq, %[[M]], %[[N]]
// CHECK: call @[[ADD:kc_check_[0-9]+]](%[[OK]], %[[M]], %[[N]]) : (i1, index, index) -> ()
// CHECK: stablehlo.exponential
// CHECK-NOT: call @
// CHECK: return
func.func @elementwise(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %e = stablehlo.exponential %a : tensor<?xf32>
  %s = stablehlo.add %e, %b : tensor<?xf32>
  %t = stablehlo.multiply %s, %b : tensor<?xf32>
  return %t : tensor<?xf32>
}

// A size of 1 may be repeated to any other.
// CHECK-LABEL: func.func @broadcast
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[SIZE:.*]], %[[TARGET:.*]] : index
// CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[SIZE]], %{{.*}} : index
// CHECK: %[[EITHER:.*]] = arith.ori %[[SAME]], %[[ONE]]
// CHECK: call @{{kc_check_[0-9]+}}(%[[EITHER]], %[[SIZE]], %[[TARGET]])
// CHECK: stablehlo.dynamic_broadcast_in_dim
func.func @broadcast(%a: tensor<?xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {
  %r = stablehlo.dynamic_broadcast_in_dim %a, %n, dims = [0] : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A check inside a branch stays there: it says nothing about what runs without it.
// CHECK-LABEL: func.func @branch
// CHECK-NOT: call @
// CHECK: stablehlo.if
// CHECK: arith.cmpi eq
// CHECK-NEXT: func.call @{{kc_check_[0-9]+}}
// CHECK: stablehlo.add
// CHECK: stablehlo.return
// CHECK: func.call @{{kc_check_[0-9]+}}
// CHECK: stablehlo.add
func.func @branch(%p: tensor<i1>, %a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = "stablehlo.if"(%p) ({
    %s = stablehlo.add %a, %b : tensor<?xf32>
    stablehlo.return %s : tensor<?xf32>
  }, {
    %s = stablehlo.add %b, %a : tensor<?xf32>
    stablehlo.return %s : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @static
// CHECK-NOT: call @
func.func @static(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = stablehlo.add %a, %b : tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK: func.func private @[[ADD]](i1, index, index)
// CHECK-SAME: kc.check = "'stablehlo.add' at {{.*}}check-shapes.mlir:16:8: dimension 0 of operand 0 has size {0}, dimension 0 of operand 1 has size {1}"
