// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-expand-copies{min-work=1000 grain=100})' | FileCheck %s

// A contiguous copy stays (memcpy); one with a strided side becomes loops; a big one is shared by threads.
// CHECK-LABEL: func.func @copies
// CHECK-SAME: (%[[A:[a-z0-9]*]]: memref<4x8xf32>, %[[B:[a-z0-9]*]]: memref<4x8xf32>, %[[S:[a-z0-9]*]]: memref<4x8xf32, strided<[16, 1]>>
// CHECK: memref.copy %[[A]], %[[B]]
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: scf.for %[[J:[a-z0-9]+]] =
// CHECK: %[[V:.*]] = memref.load %[[A]][%[[I]], %[[J]]]
// CHECK: memref.store %[[V]], %[[S]][%[[I]], %[[J]]]
// CHECK: scf.parallel
// CHECK: memref.store {{.*}} : memref<64x?xf32, strided<[?, 2]>>
func.func @copies(%a: memref<4x8xf32>, %b: memref<4x8xf32>, %s: memref<4x8xf32, strided<[16, 1]>>,
                  %d: memref<64x?xf32, strided<[?, 2]>>, %e: memref<64x?xf32>) {
  memref.copy %a, %b : memref<4x8xf32> to memref<4x8xf32>
  memref.copy %a, %s : memref<4x8xf32> to memref<4x8xf32, strided<[16, 1]>>
  memref.copy %e, %d : memref<64x?xf32> to memref<64x?xf32, strided<[?, 2]>>
  return
}

// CHECK-LABEL: func.func @scalar
// CHECK: %[[V:.*]] = memref.load %{{.*}}[] : memref<f32>
// CHECK: memref.store %[[V]], %{{.*}}[] : memref<f32, strided<[], offset: ?>>
func.func @scalar(%a: memref<f32>, %b: memref<f32, strided<[], offset: ?>>) {
  memref.copy %a, %b : memref<f32> to memref<f32, strided<[], offset: ?>>
  return
}
