// RUN: kc-opt %s --split-input-file --pass-pipeline='builtin.module(kc-expand-manual-sharding)' | FileCheck %s

// Four partitions as a 2 x 2 mesh whose axes are swapped: partition 1 has the second rows, partition 2 the second columns.
// CHECK-LABEL: func.func @split(
// CHECK-SAME: %[[X:.*]]: tensor<8x4xf32>)
// CHECK: %[[SHARDED:.*]] = stablehlo.custom_call @Sharding(%[[X]])
// CHECK: %[[ID:.*]] = stablehlo.partition_id : tensor<ui32>
// CHECK: %[[N:.*]] = stablehlo.convert %[[ID]] : (tensor<ui32>) -> tensor<i32>
// CHECK: %[[ROWS:.*]] = stablehlo.constant dense<[0, 4, 0, 4]> : tensor<4xi32>
// CHECK: stablehlo.dynamic_slice %[[ROWS]], %[[N]], sizes = [1]
// CHECK: %[[COLUMNS:.*]] = stablehlo.constant dense<[0, 0, 2, 2]> : tensor<4xi32>
// CHECK: stablehlo.dynamic_slice %[[COLUMNS]], %[[N]], sizes = [1]
// CHECK: stablehlo.dynamic_slice %[[SHARDED]], %{{.*}}, %{{.*}}, sizes = [4, 2] : {{.*}} -> tensor<4x2xf32>
func.func @split(%x: tensor<8x4xf32>) -> tensor<4x2xf32> {
  %s = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{devices=[2,2]<=[2,2]T(1,0)}"} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %m = stablehlo.custom_call @SPMDFullToShardShape(%s) {mhlo.sharding = "{manual}"} : (tensor<8x4xf32>) -> tensor<4x2xf32>
  return %m : tensor<4x2xf32>
}

// -----

// CHECK-LABEL: func.func @join(
// CHECK: %[[ROW:.*]] = stablehlo.reshape %{{.*}} : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
// CHECK: %[[ALL:.*]] = "stablehlo.all_gather"(%[[ROW]]) <{all_gather_dim = 0 : i64, {{.*}}dense<{{\[\[}}0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<1x2x3xf32>) -> tensor<4x2x3xf32>
// One part of each pair of equal ones: those of partitions 0 and 2.
// CHECK: %[[A:.*]] = stablehlo.slice %[[ALL]] [0:1, 0:2, 0:3]
// CHECK: %[[B:.*]] = stablehlo.slice %[[ALL]] [2:3, 0:2, 0:3]
// CHECK: stablehlo.concatenate %[[A]], %[[B]], dim = 0
// CHECK: stablehlo.reshape %{{.*}} : (tensor<2x2x3xf32>) -> tensor<1x2x2x3xf32>
// CHECK: stablehlo.transpose %{{.*}}, dims = [0, 2, 1, 3] : (tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
// CHECK: stablehlo.reshape %{{.*}} : (tensor<1x2x2x3xf32>) -> tensor<2x6xf32>
func.func @join(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %m = stablehlo.custom_call @SPMDShardToFullShape(%x) {mhlo.sharding = "{devices=[1,2,2]0,1,2,3 last_tile_dim_replicate}"} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  return %m : tensor<2x6xf32>
}

// -----

// CHECK-LABEL: func.func @same(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  %m = stablehlo.custom_call @SPMDFullToShardShape(%x) {mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<4xf32>
  return %m : tensor<4xf32>
}
