// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-linalg-to-loops)' --split-input-file --verify-diagnostics

#id = affine_map<(d0) -> (d0)>

func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'linalg.generic' still works on tensors: bufferize first (one-shot-bufferize)}}
  %y = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
