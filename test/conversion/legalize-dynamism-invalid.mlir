// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-legalize-dynamism)'

func.func @broadcast(%x: tensor<2xf32>) -> tensor<?x2xf32, #stablehlo.bounds<4, ?>> {
  // expected-error @+2 {{'stablehlo.broadcast_in_dim' cannot be compiled: nothing tells the size of dimension 0 of its result}}
  // expected-note @+1 {{nearest thing that works: stablehlo.dynamic_broadcast_in_dim}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<2xf32>) -> tensor<?x2xf32, #stablehlo.bounds<4, ?>>
  return %0 : tensor<?x2xf32, #stablehlo.bounds<4, ?>>
}
