// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-inline-async)' --verify-diagnostics

func.func @main(%x: tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>> {
  // expected-note@+1 {{the future is made here}}
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %0 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  // expected-error@+1 {{'func.return' uses a future: only 'stablehlo.async_done' can in a compiled program}}
  return %f : !stablehlo.future<tensor<4xf32>>
}
