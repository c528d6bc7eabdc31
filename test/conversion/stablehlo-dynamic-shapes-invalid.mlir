// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-stablehlo-dynamic-shapes)'

func.func @bounded(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  // expected-error @+2 {{'stablehlo.set_dimension_size' makes a bounded dynamic dimension, which kc does not have}}
  // expected-note @+1 {{nearest thing that works: stablehlo.real_dynamic_slice}}
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
