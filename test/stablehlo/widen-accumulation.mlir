// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-widen-accumulation)' | FileCheck %s

// CHECK-LABEL: func.func @dot
// CHECK: %[[D:.*]] = stablehlo.dot_general {{.*}} : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xf32>
// CHECK: %[[R:.*]] = stablehlo.convert %[[D]] : (tensor<4x4xf32>) -> tensor<4x4xbf16>
// CHECK: return %[[R]]
func.func @dot(%a: tensor<4x8xbf16>, %b: tensor<8x4xbf16>) -> tensor<4x4xbf16> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xbf16>
  return %0 : tensor<4x4xbf16>
}

// The constant initial value stays a constant; a maximum needs no more bits.
// CHECK-LABEL: func.func @reductions
// CHECK: %[[X:.*]] = stablehlo.convert %{{.*}} : (tensor<4x8xf16>) -> tensor<4x8xf32>
// CHECK: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[S:.*]] = stablehlo.reduce(%[[X]] init: %[[Z]]) applies stablehlo.add {{.*}} -> tensor<4xf32>
// CHECK: stablehlo.convert %[[S]] : (tensor<4xf32>) -> tensor<4xf16>
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.maximum {{.*}} -> tensor<4xf16>
func.func @reductions(%x: tensor<4x8xf16>) -> (tensor<4xf16>, tensor<4xf16>) {
  %z = stablehlo.constant dense<0.0> : tensor<f16>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf16>, tensor<f16>) -> tensor<4xf16>
  %1 = stablehlo.reduce(%x init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf16>, tensor<f16>) -> tensor<4xf16>
  return %0, %1 : tensor<4xf16>, tensor<4xf16>
}

// f32 is wide enough.
// CHECK-LABEL: func.func @wide
// CHECK-NOT: stablehlo.convert
func.func @wide(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// A scatter of many updates adds up in f32, one of a few rounds each sum.
// CHECK-LABEL: func.func @scatters
// CHECK: "stablehlo.scatter"{{.*}}
// CHECK: (tensor<4xf32>, tensor<17x1xi32>, tensor<17xf32>) -> tensor<4xf32>
// CHECK: "stablehlo.scatter"{{.*}}
// CHECK: (tensor<4xf16>, tensor<2x1xi32>, tensor<2xf16>) -> tensor<4xf16>
func.func @scatters(%x: tensor<4xf16>, %i: tensor<17x1xi32>, %u: tensor<17xf16>, %j: tensor<2x1xi32>, %v: tensor<2xf16>)
    -> (tensor<4xf16>, tensor<4xf16>) {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %s = stablehlo.add %a, %b : tensor<f16>
    stablehlo.return %s : tensor<f16>
  }) : (tensor<4xf16>, tensor<17x1xi32>, tensor<17xf16>) -> tensor<4xf16>
  %1 = "stablehlo.scatter"(%x, %j, %v) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    %s = stablehlo.add %a, %b : tensor<f16>
    stablehlo.return %s : tensor<f16>
  }) : (tensor<4xf16>, tensor<2x1xi32>, tensor<2xf16>) -> tensor<4xf16>
  return %0, %1 : tensor<4xf16>, tensor<4xf16>
}
