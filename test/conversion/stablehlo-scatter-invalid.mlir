// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-stablehlo-scatter)'

func.func @combiner(%x: tensor<4xi32>, %i: tensor<5x1xi32>, %u: tensor<5xi32>) -> tensor<4xi32> {
  // expected-note @+1 {{only elementwise ops on rank-0 tensors, constants and control flow are supported there}}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    // expected-error @+1 {{'stablehlo.custom_call' in the region of 'stablehlo.scatter' has no scalar form}}
    %1 = "stablehlo.custom_call"(%a, %b) {call_target_name = "f"} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<4xi32>, tensor<5x1xi32>, tensor<5xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
