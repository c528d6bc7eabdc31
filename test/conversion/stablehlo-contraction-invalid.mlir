// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-stablehlo-contraction)'

func.func @quantised(%a: tensor<2x3x!quant.uniform<i8:f32, 0.5>>, %b: tensor<3x2x!quant.uniform<i8:f32, 0.5>>)
    -> tensor<2x2x!quant.uniform<i32:f32, 0.25>> {
  // expected-error @+2 {{'stablehlo.dot_general' on a quantised type cannot be converted to linalg}}
  // expected-note @+1 {{nearest thing that works: kc-legalize-quantized before this pass}}
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<2x3x!quant.uniform<i8:f32, 0.5>>, tensor<3x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i32:f32, 0.25>>
  return %0 : tensor<2x2x!quant.uniform<i32:f32, 0.25>>
}
