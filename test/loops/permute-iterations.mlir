// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-permute-iterations{order=reversed},canonicalize)' | FileCheck %s
// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-permute-iterations{order=interleaved},canonicalize)' | FileCheck %s --check-prefix=EVEN

// CHECK-LABEL: func.func @fill
// CHECK-SAME: (%[[M:[a-z0-9]+]]: memref<?xindex>, %[[LOW:[a-z0-9]+]]: index, %[[N:[a-z0-9]+]]: index)
// CHECK: %[[SPAN:.*]] = arith.subi %[[N]], %[[LOW]]
// CHECK: scf.parallel (%[[I:[a-z0-9]+]]) =
// CHECK: %[[BACK:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK: %[[SCALED:.*]] = arith.muli %[[BACK]]
// CHECK: %[[AT:.*]] = arith.addi %[[LOW]], %[[SCALED]]
// CHECK: memref.store %[[AT]], %[[M]][%[[AT]]]

// Even ones first, then odd ones.
// EVEN-LABEL: func.func @fill
// EVEN: scf.parallel (%[[I:[a-z0-9]+]]) =
// EVEN: %[[FIRST:.*]] = arith.cmpi slt, %[[I]], %[[HALF:.*]] : index
// EVEN: arith.select %[[FIRST]]
func.func @fill(%m: memref<?xindex>, %low: index, %n: index) {
  %c3 = arith.constant 3 : index
  scf.parallel (%i) = (%low) to (%n) step (%c3) {
    memref.store %i, %m[%i] : memref<?xindex>
    scf.reduce
  }
  return
}
