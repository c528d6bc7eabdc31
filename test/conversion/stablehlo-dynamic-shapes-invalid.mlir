// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-stablehlo-dynamic-shapes)'

func.func private @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}
func.func @strides(%x: tensor<?xf32>, %init: tensor<f32>, %n: tensor<1xi32>, %padding: tensor<1x2xi32>) -> tensor<?xf32> {
  // expected-error @+1 {{a window whose strides or dilations are only known at run time cannot be compiled}}
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %init, %n, %n, %n, %n, %padding) {called_computations = [@sum]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
