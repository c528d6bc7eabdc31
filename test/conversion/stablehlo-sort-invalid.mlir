// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-stablehlo-sort)'

func.func @comparator(%x: tensor<9xf32>) -> tensor<9xf32> {
  // expected-note @+1 {{only elementwise ops on rank-0 tensors, constants and control flow are supported there}}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // expected-error @+1 {{'stablehlo.custom_call' in the region of 'stablehlo.sort' has no scalar form}}
    %p = "stablehlo.custom_call"(%a, %b) {call_target_name = "f"} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<9xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}
