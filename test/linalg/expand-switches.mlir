// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-expand-switches)' | FileCheck %s

// CHECK-LABEL: func.func @three
// CHECK-SAME: (%[[I:.*]]: index, %[[A:.*]]: tensor<4xi32>, %[[B:.*]]: tensor<4xi32>, %[[C:.*]]: tensor<4xi32>)
// CHECK: %[[TWO:.*]] = arith.constant 2 : index
// CHECK: %[[P:.*]] = arith.cmpi eq, %[[I]], %[[TWO]] : index
// CHECK: %[[R:.*]] = scf.if %[[P]] -> (tensor<4xi32>) {
// CHECK: scf.yield %[[A]]
// CHECK: } else {
// CHECK: %[[FIVE:.*]] = arith.constant 5 : index
// CHECK: %[[Q:.*]] = arith.cmpi eq, %[[I]], %[[FIVE]] : index
// CHECK: %[[S:.*]] = scf.if %[[Q]] -> (tensor<4xi32>) {
// CHECK: scf.yield %[[B]]
// CHECK: } else {
// CHECK: scf.yield %[[C]]
// CHECK: scf.yield %[[S]]
// CHECK: return %[[R]]
func.func @three(%i: index, %a: tensor<4xi32>, %b: tensor<4xi32>, %c: tensor<4xi32>) -> tensor<4xi32> {
  %0 = scf.index_switch %i -> tensor<4xi32>
  case 2 {
    scf.yield %a : tensor<4xi32>
  }
  case 5 {
    scf.yield %b : tensor<4xi32>
  }
  default {
    scf.yield %c : tensor<4xi32>
  }
  return %0 : tensor<4xi32>
}

// CHECK-LABEL: func.func @only_the_default
// CHECK-SAME: (%{{.*}}: index, %[[A:.*]]: tensor<4xi32>)
// CHECK-NOT: scf
// CHECK: %[[SUM:.*]] = arith.addi %[[A]], %[[A]] : tensor<4xi32>
// CHECK: return %[[SUM]]
func.func @only_the_default(%i: index, %a: tensor<4xi32>) -> tensor<4xi32> {
  %0 = scf.index_switch %i -> tensor<4xi32>
  default {
    %1 = arith.addi %a, %a : tensor<4xi32>
    scf.yield %1 : tensor<4xi32>
  }
  return %0 : tensor<4xi32>
}

// Scalars have no buffers.
// CHECK-LABEL: func.func @scalars
// CHECK: scf.index_switch
func.func @scalars(%i: index, %a: i32, %b: i32) -> i32 {
  %0 = scf.index_switch %i -> i32
  case 0 {
    scf.yield %a : i32
  }
  default {
    scf.yield %b : i32
  }
  return %0 : i32
}
