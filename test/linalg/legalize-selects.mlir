// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-legalize-selects,canonicalize)' | FileCheck %s

// The sizes may differ: each branch copies its own tensor, and canonicalize leaves that alone.
// CHECK-LABEL: func.func @whole
// CHECK-SAME: (%[[P:.*]]: i1, %[[A:.*]]: tensor<?x4xf32>, %[[B:.*]]: tensor<?x4xf32>)
// CHECK: scf.if %[[P]] -> (tensor<?x4xf32>)
// CHECK: tensor.insert_slice %[[A]] into %{{.*}}[0, 0] [%{{.*}}, 4] [1, 1]
// CHECK: tensor.insert_slice %[[B]] into %{{.*}}[0, 0] [%{{.*}}, 4] [1, 1]
// CHECK-NOT: arith.select
func.func @whole(%p: i1, %a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %r = arith.select %p, %a, %b : tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @others
// CHECK: arith.select
// CHECK: arith.select
func.func @others(%p: i1, %q: tensor<?xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<?xf32>, %d: tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %r = arith.select %p, %a, %b : tensor<4xf32>
  %s = arith.select %q, %c, %d : tensor<?xi1>, tensor<?xf32>
  return %r, %s : tensor<4xf32>, tensor<?xf32>
}

// An scf.if that canonicalize would make such a select.
// CHECK-LABEL: func.func @passed
// CHECK-SAME: (%[[P:.*]]: i1, %[[A:.*]]: tensor<?xf32>, %[[B:.*]]: tensor<?xf32>)
// CHECK: scf.if %[[P]] -> (tensor<?xf32>)
// CHECK: tensor.insert_slice %[[A]] into
// CHECK: tensor.insert_slice %[[B]] into
// CHECK-NOT: arith.select
func.func @passed(%p: i1, %a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = scf.if %p -> (tensor<?xf32>) {
    scf.yield %a : tensor<?xf32>
  } else {
    scf.yield %b : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
