// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-fft)' | FileCheck %s

// The table of roots is made in f64, and so is the sum; half the coefficients of a real signal are enough.
// CHECK-LABEL: func.func @real
// CHECK: arith.constant dense<[1.000000e+00, {{.*}}]> : tensor<6xf64>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}} : tensor<2x6xf32>) outs(%{{.*}} : tensor<2x4xcomplex<f64>>)
// CHECK: complex.add
// CHECK: linalg.generic {{.*}}outs(%{{.*}} : tensor<2x4xcomplex<f32>>)
func.func @real(%x: tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [6] : (tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>>
  return %0 : tensor<2x4xcomplex<f32>>
}
