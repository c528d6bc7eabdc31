// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-sort)' | FileCheck %s

// Chunks of eight are sorted in place, by neighbours that change places; then rounds double the length of the runs. The
// loops over chunks are marked as independent, the one inside is not.
// CHECK-LABEL: func.func @pairs
// CHECK: %[[C:.*]]:2 = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (tensor<9xf32>, tensor<9xi32>)
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.cmpf olt, %[[RIGHT:.*]], %[[LEFT:.*]] : f32
// CHECK: %[[SWAP:.*]] = arith.ori
// CHECK: arith.select %[[SWAP]], %[[RIGHT]], %[[LEFT]] : f32
// CHECK: tensor.insert
// CHECK: arith.select %[[SWAP]], %[[LEFT]], %[[RIGHT]] : f32
// CHECK-COUNT-3: tensor.insert
// CHECK: {kc.independent}
// CHECK: scf.for %[[ROUND:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %[[C]]#0, %{{.*}} = %[[C]]#1)
// CHECK: arith.shli %{{.*}}, %[[ROUND]] : index
// CHECK: scf.for {{.*}} -> (tensor<9xf32>, tensor<9xi32>)
// CHECK: scf.while
// CHECK: arith.cmpf olt
// CHECK: scf.for {{.*}} -> (index, index, tensor<9xf32>, tensor<9xi32>)
// CHECK: arith.cmpf olt
// CHECK-COUNT-2: tensor.insert
// CHECK: {kc.independent}
func.func @pairs(%k: tensor<9xf32>, %v: tensor<9xi32>) -> (tensor<9xf32>, tensor<9xi32>) {
  %0:2 = "stablehlo.sort"(%k, %v) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<9xf32>, tensor<9xi32>) -> (tensor<9xf32>, tensor<9xi32>)
  return %0#0, %0#1 : tensor<9xf32>, tensor<9xi32>
}

// One element is sorted.
// CHECK-LABEL: func.func @single
// CHECK-SAME: (%[[X:.*]]: tensor<3x1xf32>)
// CHECK-NEXT: return %[[X]]
func.func @single(%x: tensor<3x1xf32>) -> tensor<3x1xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3x1xf32>) -> tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}

// LT of floats is no order among NaN: they come last. Two keys, or the total order, are taken as they are.
// CHECK-LABEL: func.func @floats
// CHECK: %[[LESS:.*]] = arith.cmpf olt, %[[A:.*]], %[[B:.*]] : f32
// CHECK: %[[ORD:.*]] = arith.cmpf ord, %[[A]], %[[A]] : f32
// CHECK: %[[UNO:.*]] = arith.cmpf uno, %[[B]], %[[B]] : f32
// CHECK: %[[NAN:.*]] = arith.andi %[[ORD]], %[[UNO]] : i1
// CHECK: arith.ori %[[LESS]], %[[NAN]] : i1
// CHECK-LABEL: func.func @total
// CHECK-NOT: arith.cmpf
func.func @floats(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
func.func @total(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
