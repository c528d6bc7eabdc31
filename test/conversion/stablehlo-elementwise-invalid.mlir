// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-stablehlo-elementwise)'

func.func @map(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @+1 {{only elementwise ops on rank-0 tensors, constants and control flow are supported there}}
  %0 = "stablehlo.map"(%x) ({
  ^bb0(%a: tensor<f32>):
    // expected-error @+1 {{'stablehlo.custom_call' in the region of 'stablehlo.map' has no scalar form}}
    %1 = "stablehlo.custom_call"(%a) {call_target_name = "f"} : (tensor<f32>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @quantised(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>> {
  // expected-error @+2 {{'stablehlo.add' on a quantised type cannot be converted to linalg}}
  // expected-note @+1 {{nearest thing that works: kc-legalize-quantized before this pass}}
  %0 = stablehlo.add %x, %x : tensor<4x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 0.5>>
}
