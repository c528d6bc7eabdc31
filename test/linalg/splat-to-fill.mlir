// RUN: kc-opt %s --pass-pipeline='builtin.module(func.func(kc-splat-to-fill))' | FileCheck %s

// CHECK-LABEL: func.func @splats
// CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : bf16
// CHECK: %[[E:.*]] = tensor.empty() : tensor<2x3xbf16>
// CHECK: %[[A:.*]] = linalg.fill ins(%[[ONE]] : bf16) outs(%[[E]] : tensor<2x3xbf16>)
// CHECK: %[[Z:.*]] = complex.constant [1.000000e+00 : f32, -2.000000e+00 : f32] : complex<f32>
// CHECK: %[[B:.*]] = linalg.fill ins(%[[Z]] : complex<f32>)
// CHECK: %[[T:.*]] = arith.constant true
// CHECK: %[[C:.*]] = linalg.fill ins(%[[T]] : i1) outs(%{{.*}} : tensor<i1>)
// Values that differ are no splat; scalars are no tensors.
// CHECK: %[[D:.*]] = arith.constant dense<[1, 2]> : tensor<2xi32>
// CHECK: %[[S:.*]] = arith.constant 7 : i32
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[S]]
func.func @splats() -> (tensor<2x3xbf16>, tensor<4xcomplex<f32>>, tensor<i1>, tensor<2xi32>, i32) {
  %a = arith.constant dense<1.0> : tensor<2x3xbf16>
  %b = arith.constant dense<(1.0, -2.0)> : tensor<4xcomplex<f32>>
  %c = arith.constant dense<true> : tensor<i1>
  %d = arith.constant dense<[1, 2]> : tensor<2xi32>
  %s = arith.constant 7 : i32
  return %a, %b, %c, %d, %s : tensor<2x3xbf16>, tensor<4xcomplex<f32>>, tensor<i1>, tensor<2xi32>, i32
}
