// RUN: kc-opt %s --pass-pipeline='builtin.module(func.func(kc-uplift-while))' --split-input-file | FileCheck %s

// i <= n, by 2, with the sides exchanged and the limit carried along.
// CHECK-LABEL: func.func @inclusive
// CHECK-SAME: (%[[N:.*]]: i32, %[[X:.*]]: tensor<4xf32>)
// CHECK: %[[TO:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK: %[[FROM:.*]] = arith.index_cast %c3_i32 : i32 to index
// CHECK: %[[D:.*]] = arith.subi %[[TO]], %[[FROM]] : index
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[REACH:.*]] = arith.addi %[[D]], %[[C2]]
// CHECK: %[[SOME:.*]] = arith.maxsi %[[REACH]],
// CHECK: %[[TRIPS:.*]] = arith.divui %[[SOME]],
// CHECK: %[[R:.*]]:3 = scf.for %{{.*}} = %{{.*}} to %[[TRIPS]] step %{{.*}} iter_args(%[[I:.*]] = %c3_i32, %[[M:.*]] = %[[N]], %[[A:.*]] = %[[X]])
// CHECK: %[[J:.*]] = arith.addi %[[I]], %c2_i32
// CHECK: scf.yield %[[J]], %[[M]], %[[A]]
// CHECK: return %[[R]]#0
func.func @inclusive(%n: i32, %x: tensor<4xf32>) -> i32 {
  %c3_i32 = arith.constant 3 : i32
  %c2_i32 = arith.constant 2 : i32
  %r:3 = scf.while (%i = %c3_i32, %m = %n, %a = %x) : (i32, i32, tensor<4xf32>) -> (i32, i32, tensor<4xf32>) {
    %p = arith.cmpi sge, %m, %i : i32
    scf.condition(%p) %i, %m, %a : i32, i32, tensor<4xf32>
  } do {
  ^bb0(%i: i32, %m: i32, %a: tensor<4xf32>):
    %j = arith.addi %i, %c2_i32 : i32
    scf.yield %j, %m, %a : i32, i32, tensor<4xf32>
  }
  return %r#0 : i32
}

// -----

// Not counted: a limit that changes, a step that is not a positive constant, a condition that is not `<`.
// CHECK-LABEL: func.func @limit
// CHECK-NOT: scf.for
// CHECK-LABEL: func.func @step
// CHECK-NOT: scf.for
// CHECK-LABEL: func.func @unequal
// CHECK-NOT: scf.for
func.func @limit(%n: i32, %c1: i32) -> i32 {
  %c1_i32 = arith.constant 1 : i32
  %c0_i32 = arith.constant 0 : i32
  %r:2 = scf.while (%i = %c0_i32, %m = %n) : (i32, i32) -> (i32, i32) {
    %p = arith.cmpi slt, %i, %m : i32
    scf.condition(%p) %i, %m : i32, i32
  } do {
  ^bb0(%i: i32, %m: i32):
    %j = arith.addi %i, %c1_i32 : i32
    %k = arith.subi %m, %c1_i32 : i32
    scf.yield %j, %k : i32, i32
  }
  return %r#0 : i32
}
func.func @step(%n: i32) -> i32 {
  %c0_i32 = arith.constant 0 : i32
  %cm1_i32 = arith.constant -1 : i32
  %r = scf.while (%i = %c0_i32) : (i32) -> i32 {
    %p = arith.cmpi slt, %i, %n : i32
    scf.condition(%p) %i : i32
  } do {
  ^bb0(%i: i32):
    %j = arith.addi %i, %cm1_i32 : i32
    scf.yield %j : i32
  }
  return %r : i32
}
func.func @unequal(%n: i32) -> i32 {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %r = scf.while (%i = %c0_i32) : (i32) -> i32 {
    %p = arith.cmpi ne, %i, %n : i32
    scf.condition(%p) %i : i32
  } do {
  ^bb0(%i: i32):
    %j = arith.addi %i, %c1_i32 : i32
    scf.yield %j : i32
  }
  return %r : i32
}
