// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-own-results)' | FileCheck %s

// One allocation returned twice, an argument, a part of an allocation: all but the first become copies.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: memref<?x4xf32>)
// CHECK: %[[A:.*]] = memref.alloc(
// CHECK: %[[N:.*]] = memref.dim %[[A]], %{{.*}}
// CHECK: %[[B:.*]] = memref.alloc(%[[N]]) {alignment = 64 : i64} : memref<?x4xf32>
// CHECK: memref.copy %[[A]], %[[B]]
// CHECK: %[[C:.*]] = memref.alloc(
// CHECK: memref.copy %[[X]], %[[C]]
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @main(%x: memref<?x4xf32>) -> (memref<?x4xf32>, memref<?x4xf32>, memref<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %a = memref.alloc(%n) : memref<?x4xf32>
  return %a, %a, %x : memref<?x4xf32>, memref<?x4xf32>, memref<?x4xf32>
}

// A reshaped allocation is still one's own; what a loop yields may be anything.
// CHECK-LABEL: func.func @views
// CHECK: %[[E:.*]] = memref.expand_shape
// CHECK: %[[L:.*]] = scf.for
// CHECK: %[[C:.*]] = memref.alloc() {{.*}} : memref<8xf32>
// CHECK: memref.copy %[[L]], %[[C]]
// CHECK: return %[[E]], %[[C]]
func.func @views(%x: memref<8xf32>) -> (memref<2x4xf32>, memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  %e = memref.expand_shape %a [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  %l = scf.for %i = %c0 to %c1 step %c1 iter_args(%b = %x) -> memref<8xf32> {
    scf.yield %b : memref<8xf32>
  }
  return %e, %l : memref<2x4xf32>, memref<8xf32>
}

// Private functions pass buffers as they like.
// CHECK-LABEL: func.func private @inner
// CHECK-NOT: memref.copy
func.func private @inner(%x: memref<4xf32>) -> memref<4xf32> {
  return %x : memref<4xf32>
}
