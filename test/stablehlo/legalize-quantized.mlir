// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-legalize-quantized,cse)' | FileCheck %s

// CHECK-LABEL: func.func @quantize
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>) -> tensor<4xi8>
func.func @quantize(%x: tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>> {
  // CHECK: %[[S:.*]] = stablehlo.divide %[[X]]
  // CHECK: %[[Z:.*]] = stablehlo.add %[[S]]
  // CHECK-DAG: %[[LOW:.*]] = stablehlo.constant dense<-1.280000e+02> : tensor<f32>
  // CHECK-DAG: %[[HIGH:.*]] = stablehlo.constant dense<1.270000e+02> : tensor<f32>
  // CHECK: %[[C:.*]] = stablehlo.clamp %[[LOW]], %[[Z]], %[[HIGH]]
  // CHECK: %[[R:.*]] = stablehlo.round_nearest_even %[[C]]
  // CHECK: %[[I:.*]] = stablehlo.convert %[[R]] : (tensor<4xf32>) -> tensor<4xi8>
  // CHECK: return %[[I]]
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 0.5:3>>
}

// Unsigned storage is unsigned, and scales along an axis are broadcast along it.
// CHECK-LABEL: func.func @dequantize
// CHECK-SAME: (%[[Q:.*]]: tensor<2x3xui8>) -> tensor<2x3xf32>
func.func @dequantize(%q: tensor<2x3x!quant.uniform<u8:f32:1, {0.5:1, 0.25:2, 1.0:3}>>) -> tensor<2x3xf32> {
  // CHECK: %[[F:.*]] = stablehlo.convert %[[Q]] : (tensor<2x3xui8>) -> tensor<2x3xf32>
  // CHECK: %[[Z:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: %[[D:.*]] = stablehlo.subtract %[[F]], %[[Z]]
  // CHECK: %[[S:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: %[[R:.*]] = stablehlo.multiply %[[D]], %[[S]]
  // CHECK: return %[[R]]
  %0 = stablehlo.uniform_dequantize %q : (tensor<2x3x!quant.uniform<u8:f32:1, {0.5:1, 0.25:2, 1.0:3}>>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Moving and ordering work on what is stored.
// CHECK-LABEL: func.func @stored
// CHECK-SAME: (%[[A:.*]]: tensor<4xi8>, %[[B:.*]]: tensor<4xi8>)
func.func @stored(%a: tensor<4x!quant.uniform<i8:f32, 0.5>>, %b: tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>> {
  // CHECK-NEXT: %[[M:.*]] = stablehlo.maximum %[[A]], %[[B]] : tensor<4xi8>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.slice %[[M]] [0:2] : (tensor<4xi8>) -> tensor<2xi8>
  // CHECK-NEXT: return %[[S]]
  %0 = stablehlo.maximum %a, %b : tensor<4x!quant.uniform<i8:f32, 0.5>>
  %1 = stablehlo.slice %0 [0:2] : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return %1 : tensor<2x!quant.uniform<i8:f32, 0.5>>
}

// A contraction is exact in integers and is scaled once: 0.5 * 0.25 / 2.
// CHECK-LABEL: func.func @dot
// CHECK-SAME: (%[[A:.*]]: tensor<2x8xi8>, %[[B:.*]]: tensor<8x3xi8>) -> tensor<2x3xi8>
func.func @dot(%a: tensor<2x8x!quant.uniform<i8:f32, 0.5>>, %b: tensor<8x3x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x3x!quant.uniform<i8:f32, 2.0:1>> {
  // CHECK: %[[D:.*]] = stablehlo.dot_general %[[A]], %[[B]], contracting_dims = [1] x [0] : (tensor<2x8xi8>, tensor<8x3xi8>) -> tensor<2x3xi32>
  // CHECK: %[[F:.*]] = stablehlo.convert %[[D]] : (tensor<2x3xi32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.constant dense<6.250000e-02>
  // CHECK: stablehlo.multiply %[[F]]
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<2x8x!quant.uniform<i8:f32, 0.5>>, tensor<8x3x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x3x!quant.uniform<i8:f32, 2.0:1>>
  return %0 : tensor<2x3x!quant.uniform<i8:f32, 2.0:1>>
}
