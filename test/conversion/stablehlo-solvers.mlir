// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-solvers)' --split-input-file | FileCheck %s

// One block: each row is divided by its diagonal entry, then subtracted from those below it.
// CHECK-LABEL: func.func @solve
// CHECK-SAME: (%{{.*}}: tensor<4x4xf32>, %[[B:.*]]: tensor<4x3xf32>)
// CHECK: %[[ROWS:.*]] = tensor.extract_slice %[[B]][0, 0] [4, 3] [1, 1]
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[X:.*]] = %[[ROWS]]) -> (tensor<4x3xf32>)
// CHECK: tensor.extract_slice %[[X]][%[[ROW]], 0] [1, 3] [1, 1]
// CHECK: arith.divf
// CHECK: linalg.generic {{.*}} outs(%[[X]] : tensor<4x3xf32>)
// CHECK: arith.subf
func.func @solve(%a: tensor<4x4xf32>, %b: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<4x4xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func.func @factor
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<2x4x4xf32>)
// CHECK: math.sqrt %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @factor(%a: tensor<2x4x4xbf16>) -> tensor<2x4x4xbf16> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<2x4x4xbf16>
  return %0 : tensor<2x4x4xbf16>
}

// -----

// 40 rows are two blocks of 32, padded; what a block owes to the rows above is a product.
// CHECK-LABEL: func.func @blocks
// CHECK: tensor.empty() : tensor<64x64xf64>
// CHECK: scf.for %[[FIRST:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[U:.*]] = %{{.*}}) -> (tensor<64x64xf64>)
// CHECK: %[[ABOVE:.*]] = tensor.extract_slice %[[U]][0, %[[FIRST]]] [%[[FIRST]], %{{.*}}] [1, 1] : tensor<64x64xf64> to tensor<?x?xf64>
// CHECK: %[[LEFT:.*]] = tensor.extract_slice %[[U]][0, %[[FIRST]]] [%[[FIRST]], 32] [1, 1]
// CHECK: linalg.generic {{.*}}"reduction"]} ins(%[[LEFT]], %[[ABOVE]] : tensor<?x32xf64>, tensor<?x?xf64>)
func.func @blocks(%a: tensor<40x40xf64>) -> tensor<40x40xf64> {
  %0 = stablehlo.cholesky %a, lower = false : tensor<40x40xf64>
  return %0 : tensor<40x40xf64>
}
