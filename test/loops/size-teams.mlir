// RUN: kc-opt %s --pass-pipeline='builtin.module(convert-scf-to-openmp,canonicalize,kc-size-teams,canonicalize)' | FileCheck %s

// The team is as large as the number of iterations at most.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: (%[[N:.*]]: index,
// CHECK: %[[C:.*]] = arith.ceildivsi %{{.*}}, %{{.*}} : index
// CHECK: %[[M:.*]] = arith.minsi %[[C]], %{{.*}}
// CHECK: %[[L:.*]] = arith.maxsi %[[M]], %{{.*}}
// CHECK: %[[T:.*]] = arith.index_cast %[[L]] : index to i32
// CHECK: omp.parallel num_threads(%[[T]] : i32)
// CHECK: omp.loop_nest
// CHECK: memref.store
func.func @dynamic(%n: index, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %v = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%n) step (%c2) {
    memref.store %v, %x[%i] : memref<?xf32>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func @static
// CHECK: %[[T:.*]] = arith.constant 12 : i32
// CHECK: omp.parallel num_threads(%[[T]] : i32)
func.func @static(%x: memref<3x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %v = arith.constant 1.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c3, %c4) step (%c1, %c1) {
    memref.store %v, %x[%i, %j] : memref<3x4xf32>
    scf.reduce
  }
  return
}
