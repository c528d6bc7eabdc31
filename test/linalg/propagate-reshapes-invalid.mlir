// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(kc-propagate-reshapes))'

// The pass leaves what it cannot move; a reshape that is not valid itself is the verifier's.

func.func @bad(%x: tensor<2x3x4xf32>) -> tensor<7x4xf32> {
  // expected-error @+1 {{expected dimension 0 of collapsed type to be static value of 6}}
  %c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<7x4xf32>
  return %c : tensor<7x4xf32>
}
