// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-expand-manual-sharding)'

func.func @uneven(%x: tensor<7xf32>) -> tensor<4xf32> {
  %s = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2]<=[2]}"} : (tensor<7xf32>) -> tensor<7xf32>
  // expected-error @+1 {{the sharding '{devices=[2]<=[2]}' does not lead from tensor<7xf32> to tensor<4xf32>}}
  %m = stablehlo.custom_call @SPMDFullToShardShape(%s) {mhlo.sharding = "{manual}"} : (tensor<7xf32>) -> tensor<4xf32>
  return %m : tensor<4xf32>
}

// -----

func.func @unmarked(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{the sharding '' does not lead from tensor<8xf32> to tensor<4xf32>}}
  %m = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{manual}"} : (tensor<8xf32>) -> tensor<4xf32>
  return %m : tensor<4xf32>
}
