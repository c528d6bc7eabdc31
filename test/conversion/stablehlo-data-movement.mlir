// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-data-movement)' | FileCheck %s

// CHECK: #[[ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK: #[[ONE:.*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK: #[[SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @broadcasts
// CHECK: linalg.generic {indexing_maps = [#[[ROW]],
// CHECK: linalg.generic {indexing_maps = [#[[ONE]],
// CHECK: linalg.generic {indexing_maps = [#[[SWAP]],
func.func @broadcasts(%a: tensor<4xf32>, %b: tensor<3x1xf32>, %c: tensor<4x3xf32>)
    -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x4xf32>
  %2 = stablehlo.transpose %c, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  return %0, %1, %2 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

// Dimensions that stay as they are stay out of the reshape.
// CHECK-LABEL: func.func @reshapes
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] output_shape [2, 3, 4, 8]
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<2x3x32xf32> into tensor<6x32xf32>
func.func @reshapes(%a: tensor<2x3x32xf32>) -> (tensor<2x3x4x8xf32>, tensor<6x32xf32>) {
  %0 = stablehlo.reshape %a : (tensor<2x3x32xf32>) -> tensor<2x3x4x8xf32>
  %1 = stablehlo.reshape %a : (tensor<2x3x32xf32>) -> tensor<6x32xf32>
  return %0, %1 : tensor<2x3x4x8xf32>, tensor<6x32xf32>
}

// Interior padding comes first, then the negative low end cuts: element 0 is dropped, element 1 lands at 1.
// CHECK-LABEL: func.func @pads
// CHECK: tensor.pad %{{.*}} low[1, 0] high[0, 2]
// CHECK: %[[FILL:.*]] = linalg.fill
// CHECK: %[[PART:.*]] = tensor.extract_slice %{{.*}}[1] [2] [1] : tensor<3xf32> to tensor<2xf32>
// CHECK: tensor.insert_slice %[[PART]] into %[[FILL]][1] [2] [2] : tensor<2xf32> into tensor<4xf32>
func.func @pads(%a: tensor<2x3xf32>, %b: tensor<3xf32>, %v: tensor<f32>) -> (tensor<3x5xf32>, tensor<4xf32>) {
  %0 = stablehlo.pad %a, %v, low = [1, 0], high = [0, 2], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x5xf32>
  %1 = stablehlo.pad %b, %v, low = [-1], high = [0], interior = [1] : (tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1 : tensor<3x5xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @joins
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [2, 3] [1, 1]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 3] [2, 1] [1, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 1] [2, 2] [1, 2]
func.func @joins(%a: tensor<2x3xf32>, %b: tensor<2x1xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.slice %0 [0:2, 1:4:2] : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// A complex number is two floats, the real one first.
// CHECK-LABEL: func.func @complex_bits
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4x2xf64>)
// CHECK: complex.re
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4x2x2xf32>)
// CHECK: arith.shrui
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4x2xcomplex<f32>>)
func.func @complex_bits(%x: tensor<4xcomplex<f64>>) -> tensor<4x2xcomplex<f32>> {
  %0 = stablehlo.bitcast_convert %x : (tensor<4xcomplex<f64>>) -> tensor<4x2xcomplex<f32>>
  return %0 : tensor<4x2xcomplex<f32>>
}
