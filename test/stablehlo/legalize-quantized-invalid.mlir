// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-legalize-quantized)' --split-input-file --verify-diagnostics

func.func @other(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>, %i: index) -> tensor<i1> {
  // expected-error@+2 {{'tensor.extract' on a quantised type cannot be compiled}}
  // expected-note@+1 {{nearest thing that works: stablehlo.uniform_dequantize, the op, stablehlo.uniform_quantize}}
  %0 = "tensor.extract"(%x, %i) : (tensor<4x!quant.uniform<i8:f32, 0.5>>, index) -> !quant.uniform<i8:f32, 0.5>
  %1 = stablehlo.constant dense<true> : tensor<i1>
  return %1 : tensor<i1>
}
