// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-legalize-quantized)' | FileCheck %s

// CHECK-LABEL: func.func @quantize
// CHECK-SAME: -> tensor<4xi8>
// CHECK-NOT: quant.uniform
// CHECK: chlo.broadcast_divide
// CHECK: stablehlo.clamp
func.func @quantize(%x: tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 0.5>>
}
