// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-stablehlo-reduction)'

func.func @reducer(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<f32> {
  // expected-note @+1 {{only elementwise ops on rank-0 tensors, constants and control flow are supported there}}
  %0 = "stablehlo.reduce"(%x, %v) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // expected-error @+1 {{'stablehlo.custom_call' in the region of 'stablehlo.reduce' has no scalar form}}
    %1 = "stablehlo.custom_call"(%a, %b) {call_target_name = "f"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
