// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-sort)' | FileCheck %s

// Rounds that double the length of the runs; each is one generic that reads all operands at the same place.
// CHECK-LABEL: func.func @pairs
// CHECK: scf.while (%[[LEN:.*]] = %{{.*}}, %[[K:.*]] = %{{.*}}, %[[V:.*]] = %{{.*}}) : (index, tensor<9xf32>, tensor<9xi32>)
// CHECK: arith.cmpi slt, %[[LEN]]
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]} outs(%{{.*}}, %{{.*}} : tensor<9xf32>, tensor<9xi32>)
// CHECK: scf.while
// CHECK: arith.cmpf olt
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, i32
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
