// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-contraction)' | FileCheck %s

// Operands stay as they lie, narrow ones are extended in the body, the accumulator has the result's type.
// CHECK: #[[LHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3)>
// CHECK: #[[RHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d0, d2)>
// CHECK: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @dot
// CHECK: %[[ZERO:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<2x3x4xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]],
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK: %[[A:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[B:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[P:.*]] = arith.mulf %[[A]], %[[B]] fastmath<contract> : f32
// CHECK: arith.addf %{{.*}}, %[[P]] fastmath<reassoc,contract> : f32
func.func @dot(%a: tensor<3x2x5xbf16>, %b: tensor<5x2x4xbf16>) -> tensor<2x3x4xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [1] x [1], contracting_dims = [2] x [0]
    : (tensor<3x2x5xbf16>, tensor<5x2x4xbf16>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @bytes
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: arith.extsi %{{.*}} : i8 to i32
func.func @bytes(%a: tensor<3x5xi8>, %b: tensor<5x4xi8>) -> tensor<3x4xi32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {kc.unsigned = array<i1: true, false, false>}
    : (tensor<3x5xi8>, tensor<5x4xi8>) -> tensor<3x4xi32>
  return %0 : tensor<3x4xi32>
}

// A convolution with stride 2 and padding; groups are a loop of their own.
// CHECK-LABEL: func.func @convolution
// CHECK: tensor.pad %{{.*}} low[0, 0, 1] high[0, 0, 1]
// CHECK: tensor.expand_shape %{{.*}} into tensor<2x2x3x9xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
// CHECK: tensor.collapse_shape %{{.*}} into tensor<2x4x4xf32>
func.func @convolution(%x: tensor<2x6x7xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],
    window = {stride = [2], pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
    : (tensor<2x6x7xf32>, tensor<4x3x3xf32>) -> tensor<2x4x4xf32>
  return %0 : tensor<2x4x4xf32>
}

// A 1x1 convolution reads as a matrix product: its input map has no sums.
// CHECK-LABEL: func.func @pointwise
// CHECK-NOT: tensor.pad
// CHECK: linalg.generic {indexing_maps = [#[[POINT:.*]], #{{.*}}, #{{.*}}]
func.func @pointwise(%x: tensor<2x5x6xf32>, %w: tensor<1x6x4xf32>) -> tensor<2x5x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x5x6xf32>, tensor<1x6x4xf32>) -> tensor<2x5x4xf32>
  return %0 : tensor<2x5x4xf32>
}

// A window that finds no room leaves nothing to compute.
// CHECK-LABEL: func.func @no_room
// CHECK-NOT: linalg.generic
// CHECK: tensor.empty() : tensor<1x2x0xi32>
func.func @no_room(%x: tensor<1x1x2xi32>, %w: tensor<1x2x3xi32>) -> tensor<1x2x0xi32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[i, o, 0]->[b, f, 0],
    window = {pad = [[1, 0]], rhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x1x2xi32>, tensor<1x2x3xi32>) -> tensor<1x2x0xi32>
  return %0 : tensor<1x2x0xi32>
}

// A hundred thousand products are added up in blocks, then the blocks' sums.
// CHECK-LABEL: func.func @many
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<2x100x1000xf32>, tensor<100x1000xf32>) outs(%{{.*}} : tensor<100x2xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} {{.*}} outs(%{{.*}} : tensor<2xf32>)
func.func @many(%a: tensor<2x100000xf32>, %b: tensor<100000xf32>) -> tensor<2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x100000xf32>, tensor<100000xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
