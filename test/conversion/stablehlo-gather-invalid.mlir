// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-stablehlo-gather)'

func.func @quantised(%x: tensor<8x!quant.uniform<i8:f32, 0.5>>, %i: tensor<i32>) -> tensor<2x!quant.uniform<i8:f32, 0.5>> {
  // expected-error @+2 {{'stablehlo.dynamic_slice' on a quantised type cannot be converted to linalg}}
  // expected-note @+1 {{nearest thing that works: kc-legalize-quantized before this pass}}
  %0 = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<8x!quant.uniform<i8:f32, 0.5>>, tensor<i32>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.5>>
}
