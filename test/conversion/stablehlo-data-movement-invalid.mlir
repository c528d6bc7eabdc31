// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-stablehlo-data-movement)'

func.func @bits(%x: tensor<4xcomplex<f64>>) -> tensor<4x2xcomplex<f32>> {
  // expected-error @+2 {{'stablehlo.bitcast_convert' of complex elements cannot be compiled}}
  // expected-note @+1 {{nearest thing that works: stablehlo.real and stablehlo.imag}}
  %0 = stablehlo.bitcast_convert %x : (tensor<4xcomplex<f64>>) -> tensor<4x2xcomplex<f32>>
  return %0 : tensor<4x2xcomplex<f32>>
}
