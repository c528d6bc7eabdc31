// RUN: kc-opt %s --pass-pipeline='builtin.module(convert-func-to-llvm,reconcile-unrealized-casts,kc-emit-entry-points)' | FileCheck %s

// Only the entry points stay visible.
// CHECK: llvm.func internal @none(
// CHECK: llvm.func internal @_mlir_ciface_none(

// No results: pointers of memrefs are handed on, scalars loaded.
// CHECK-LABEL: llvm.func @kc_entry_none(%arg0: !llvm.ptr)
// CHECK: %[[A0:.*]] = llvm.getelementptr %arg0[0]
// CHECK: %[[X:.*]] = llvm.load %[[A0]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[A1:.*]] = llvm.getelementptr %arg0[1]
// CHECK: %[[P:.*]] = llvm.load %[[A1]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[N:.*]] = llvm.load %[[P]] : !llvm.ptr -> i64
// CHECK: llvm.call @_mlir_ciface_none(%[[X]], %[[N]]) : (!llvm.ptr, i64) -> ()
func.func @none(%x: memref<4xf32>, %n: i64) attributes {llvm.emit_c_interface} {
  return
}

// One memref: the caller's descriptor is where the wrapper writes. A rank of zero makes no difference.
// CHECK-LABEL: llvm.func @kc_entry_one(
// CHECK: %[[A1:.*]] = llvm.getelementptr %arg0[1]
// CHECK: %[[R:.*]] = llvm.load %[[A1]] : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.call @_mlir_ciface_one(%[[R]], %{{.*}}) : (!llvm.ptr, !llvm.ptr) -> ()
func.func @one(%x: memref<f32>) -> memref<f32> attributes {llvm.emit_c_interface} {
  return %x : memref<f32>
}

// A scalar: the value is stored.
// CHECK-LABEL: llvm.func @kc_entry_scalar(
// CHECK: %[[V:.*]] = llvm.call @_mlir_ciface_scalar(%{{.*}}) : (f32) -> f32
// CHECK: llvm.store %[[V]], %{{.*}} : f32, !llvm.ptr
func.func @scalar(%x: f32) -> f32 attributes {llvm.emit_c_interface} {
  return %x : f32
}

// Several: a struct on the stack, taken apart.
// CHECK-LABEL: llvm.func @kc_entry_two(
// CHECK: %[[S:.*]] = llvm.alloca
// CHECK: llvm.call @_mlir_ciface_two(%[[S]], %{{.*}})
// CHECK: %[[W:.*]] = llvm.load %[[S]]
// CHECK: %[[F:.*]] = llvm.extractvalue %[[W]][0]
// CHECK: llvm.store %[[F]], %{{.*}} : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>, !llvm.ptr
// CHECK: %[[G:.*]] = llvm.extractvalue %[[W]][1]
// CHECK: llvm.store %[[G]], %{{.*}} : i64, !llvm.ptr
func.func @two(%x: memref<4xf32>) -> (memref<4xf32>, i64) attributes {llvm.emit_c_interface} {
  %c = arith.constant 3 : i64
  return %x, %c : memref<4xf32>, i64
}

// Without a C interface there is no entry point.
// CHECK-NOT: kc_entry_hidden
func.func private @hidden(%x: memref<4xf32>) {
  return
}
