// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-stablehlo-collectives)'

func.func @region(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @+1 {{only elementwise ops on rank-0 tensors, constants and control flow are supported there}}
  %r = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // expected-error @+1 {{'stablehlo.custom_call' in the region of 'stablehlo.all_reduce' has no scalar form}}
    %m = "stablehlo.custom_call"(%a, %b) {call_target_name = "f"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func private @mesh()
func.func @named_mesh(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{axes = [#stablehlo.axis_ref<name = "x">]> cannot be converted}}
  %r = "stablehlo.all_gather"(%x) {
    all_gather_dim = 0 : i64,
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>
  } : (tensor<4xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
