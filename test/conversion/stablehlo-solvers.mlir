// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-solvers)' | FileCheck %s

// CHECK-LABEL: func.func @solve
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[X:.*]] = %{{.*}}) -> (tensor<4x3xf32>)
// CHECK: %[[LINE:.*]] = linalg.generic {{.*}}outs(%{{.*}} : tensor<1x3xf32>)
// CHECK: scf.for %{{.*}} to %[[ROW]]
// CHECK: arith.divf
// CHECK: tensor.insert_slice %[[LINE]] into %[[X]][%[[ROW]], 0] [1, 3] [1, 1]
func.func @solve(%a: tensor<4x4xf32>, %b: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @factor
// CHECK: scf.for %[[COLUMN:.*]] = %{{.*}} iter_args(%[[L:.*]] = %{{.*}}) -> (tensor<2x4x4xbf16>)
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: math.sqrt %{{.*}} : f32
// CHECK: tensor.insert_slice %{{.*}} into %[[L]][0, 0, %[[COLUMN]]] [2, 4, 1] [1, 1, 1]
func.func @factor(%a: tensor<2x4x4xbf16>) -> tensor<2x4x4xbf16> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<2x4x4xbf16>
  return %0 : tensor<2x4x4xbf16>
}
