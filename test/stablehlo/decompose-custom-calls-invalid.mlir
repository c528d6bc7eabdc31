// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-decompose-custom-calls)' --split-input-file --verify-diagnostics | FileCheck %s

// What is not formed as XLA forms it stays a call, for whoever has registered the name; it is never guessed at.
// CHECK: stablehlo.custom_call @mhlo.erf(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf64>
func.func @types(%x: tensor<4xf32>) -> tensor<4xf64> {
  %0 = stablehlo.custom_call @mhlo.erf(%x) : (tensor<4xf32>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

// CHECK: stablehlo.custom_call @mhlo.topk
func.func @smallest(%x: tensor<8xf32>) -> tensor<2xi32> {
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = false}}
    : (tensor<8xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0#1 : tensor<2xi32>
}
