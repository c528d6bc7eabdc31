// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-gather)' | FileCheck %s

// CHECK-LABEL: func.func @lookup
// CHECK-SAME: (%[[T:.*]]: tensor<20x16xf32>, %[[I:.*]]: tensor<5x1xi32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} outs(%{{.*}} : tensor<5x16xf32>)
// CHECK: %[[R:.*]] = linalg.index 0
// CHECK: %[[C:.*]] = linalg.index 1
// CHECK: %[[E:.*]] = tensor.extract %[[I]][%[[R]], %{{.*}}] : tensor<5x1xi32>
// CHECK: %[[X:.*]] = arith.index_cast %[[E]] : i32 to index
// CHECK: %[[LOW:.*]] = arith.maxsi %[[X]], %{{.*}} : index
// CHECK: %[[AT:.*]] = arith.minsi %[[LOW]], %{{.*}} : index
// CHECK: tensor.extract %[[T]][%[[AT]], %[[C]]] : tensor<20x16xf32>
func.func @lookup(%t: tensor<20x16xf32>, %i: tensor<5x1xi32>) -> tensor<5x16xf32> {
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
    start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 16>}> : (tensor<20x16xf32>, tensor<5x1xi32>) -> tensor<5x16xf32>
  return %0 : tensor<5x16xf32>
}

// An unsigned index is extended by zeros and needs the upper bound only. The second axis is taken whole: its start is 0.
// CHECK-LABEL: func.func @slices
// CHECK: %[[U:.*]] = arith.index_castui %{{.*}} : i8 to index
// CHECK: %[[AT:.*]] = arith.minui %[[U]], %{{.*}} : index
// CHECK: tensor.extract_slice %{{.*}}[%[[AT]], 0] [4, 6] [1, 1] : tensor<300x6xf32> to tensor<4x6xf32>
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}, 0] [4, 6] [1, 1]
func.func @slices(%x: tensor<300x6xf32>, %i: tensor<i8>, %j: tensor<i8>) -> (tensor<4x6xf32>, tensor<300x6xf32>) {
  %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [4, 6] {kc.unsigned = array<i1: false, true, true, false>}
    : (tensor<300x6xf32>, tensor<i8>, tensor<i8>) -> tensor<4x6xf32>
  %1 = stablehlo.dynamic_update_slice %x, %0, %i, %j : (tensor<300x6xf32>, tensor<4x6xf32>, tensor<i8>, tensor<i8>) -> tensor<300x6xf32>
  return %0, %1 : tensor<4x6xf32>, tensor<300x6xf32>
}
