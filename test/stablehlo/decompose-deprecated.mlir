// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-decompose-deprecated)' | FileCheck %s

// CHECK-LABEL: func.func @product
// CHECK-SAME: (%[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<3x4xf32>)
func.func @product(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<4x2xf32> {
  // CHECK: %[[D:.*]] = stablehlo.dot_general %[[A]], %[[B]], contracting_dims = [1] x [0]{{.*}} -> tensor<2x4xf32>
  // CHECK: %[[T:.*]] = stablehlo.transpose %[[D]], dims = [1, 0]
  // CHECK: return %[[T]]
  %r = stablehlo.einsum %a, %b, config = "ab,bc->ca" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// The letter that only one operand has is summed there, in the type of the result; the batch stands first.
// CHECK-LABEL: func.func @batched
// CHECK-SAME: (%[[A:.*]]: tensor<5x2x3x7xi8>, %[[B:.*]]: tensor<5x3x4xi8>)
func.func @batched(%a: tensor<5x2x3x7xi8>, %b: tensor<5x3x4xi8>) -> tensor<5x2x4xi32> {
  // CHECK: %[[W:.*]] = stablehlo.convert %[[A]]
  // CHECK: %[[S:.*]] = stablehlo.reduce(%[[W]] {{.*}} across dimensions = [3]
  // CHECK: stablehlo.dot_general %[[S]], %[[B]], batching_dims = [0] x [0], contracting_dims = [2] x [1]
  %r = stablehlo.einsum %a, %b, config = "...mkx,...kn->...mn" : (tensor<5x2x3x7xi8>, tensor<5x3x4xi8>) -> tensor<5x2x4xi32>
  return %r : tensor<5x2x4xi32>
}

// A letter twice in one operand is its diagonal.
// CHECK-LABEL: func.func @trace
// CHECK-SAME: (%[[A:.*]]: tensor<3x3xf32>)
func.func @trace(%a: tensor<3x3xf32>) -> tensor<f32> {
  // CHECK: %[[E:.*]] = stablehlo.compare EQ
  // CHECK: %[[M:.*]] = stablehlo.select %[[E]], %[[A]]
  // CHECK: %[[D:.*]] = stablehlo.reduce(%[[M]] {{.*}} across dimensions = [1]
  // CHECK: %[[T:.*]] = stablehlo.reduce(%[[D]] {{.*}} across dimensions = [0]
  // CHECK: return %[[T]]
  %r = stablehlo.unary_einsum %a, config = "aa->" : (tensor<3x3xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: func.func @index_select
// CHECK-SAME: (%[[X:.*]]: tensor<8x5x9x6xf32>, %[[I:.*]]: tensor<8x2x4xi32>)
func.func @index_select(%x: tensor<8x5x9x6xf32>, %i: tensor<8x2x4xi32>) -> tensor<8x5x2x4x6xf32> {
  // CHECK: "stablehlo.gather"(%[[X]], %[[I]])
  // CHECK-SAME: offset_dims = [1, 4], collapsed_slice_dims = [2]
  // CHECK-SAME: operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2], index_vector_dim = 3
  // CHECK-SAME: slice_sizes = array<i64: 1, 5, 1, 6>
  %r = "stablehlo.torch_index_select"(%x, %i) <{dim = 2 : i64, batch_dims = 1 : i64}>
    : (tensor<8x5x9x6xf32>, tensor<8x2x4xi32>) -> tensor<8x5x2x4x6xf32>
  return %r : tensor<8x5x2x4x6xf32>
}
