// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-instrument-accesses)' --split-input-file | FileCheck %s

// A load and a store: pointer, place and whether the index is in range go to the runtime before the access.
// CHECK: module attributes {kc.sites = "[{\22op\22: \22memref.load\22, \22place\22: \22{{[0-9]+}}:8\22, \22mode\22: 0, \22bytes\22: 4, \22lanes\22: 1}
// CHECK-LABEL: func.func @loads
// CHECK-SAME: (%[[M:[a-z0-9]+]]: memref<?xf32>, %[[I:[a-z0-9]+]]: index)
// CHECK: %[[P:.*]] = memref.extract_aligned_pointer_as_index %[[M]]
// CHECK: %{{.*}}, %[[OFFSET:.*]], %[[SIZE:.*]], %[[STRIDE:.*]] = memref.extract_strided_metadata %[[M]]
// CHECK: %[[SCALED:.*]] = arith.muli %[[I]], %[[STRIDE]]
// CHECK: %[[AT:.*]] = arith.addi %[[OFFSET]], %[[SCALED]]
// CHECK: %[[FITS:.*]] = arith.cmpi ult, %[[I]], %[[SIZE]]
// CHECK: %[[INSIDE:.*]] = arith.extui %[[FITS]]
// CHECK: call @kc_shadow_access(%{{.*}}, %[[P]], %[[AT]], %[[INSIDE]])
// CHECK-NEXT: memref.load %[[M]][%[[I]]]
// CHECK: call @kc_shadow_access(%{{.*}}, %[[P]],
// CHECK-NEXT: memref.store
func.func @loads(%m: memref<?xf32>, %i: index) {
  %v = memref.load %m[%i] : memref<?xf32>
  memref.store %v, %m[%i] : memref<?xf32>
  return
}

// -----

// A parallel loop: fork, one call per iteration, join. What was on the stack is on the heap.
// CHECK-LABEL: func.func @parallel
// CHECK: %[[T:.*]] = memref.alloc(){{.*}} : memref<4xi8>
// CHECK: call @kc_shadow_made
// CHECK: call @kc_shadow_fork
// CHECK-NEXT: scf.parallel (%[[I:[a-z0-9]+]], %[[J:[a-z0-9]+]]) =
// CHECK: func.call @kc_shadow_iteration
// CHECK: func.call @kc_shadow_access
// CHECK: memref.atomic_rmw
// CHECK: scf.reduce
// CHECK: call @kc_shadow_join
func.func @parallel(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i8
  %t = memref.alloca() : memref<4xi8>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
    %old = memref.atomic_rmw addi %one, %t[%i] : (i8, memref<4xi8>) -> i8
    scf.reduce
  }
  return
}

// -----

// A transfer touches only the lanes inside; a masked load only those that the mask takes; a copy moves each element.
// CHECK-LABEL: func.func @vectors
// CHECK: scf.for
// CHECK: arith.cmpi slt
// CHECK: scf.if
// CHECK: func.call @kc_shadow_access
// CHECK: vector.transfer_read
// CHECK: scf.for
// CHECK: vector.extract
// CHECK: scf.if
// CHECK: func.call @kc_shadow_access
// CHECK: vector.maskedload
// CHECK: scf.for
// CHECK: func.call @kc_shadow_move
// CHECK: memref.copy
func.func @vectors(%a: memref<?xf32>, %b: memref<?xf32>, %i: index, %mask: vector<8xi1>) -> (vector<8xf32>, vector<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %pass = arith.constant dense<0.0> : vector<8xf32>
  %v = vector.transfer_read %a[%i], %zero : memref<?xf32>, vector<8xf32>
  %w = vector.maskedload %a[%i], %mask, %pass : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  memref.copy %a, %b : memref<?xf32> to memref<?xf32>
  return %v, %w : vector<8xf32>, vector<8xf32>
}
