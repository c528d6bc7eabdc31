// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-legalize-arg-max)' | FileCheck %s

#all = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

// The comparison beside a maximum becomes "larger or NaN, unless the best is NaN already".
// CHECK-LABEL: func.func @arg_max
// CHECK: ^bb0(%[[IN:.*]]: f32, %[[BEST:.*]]: f32, %[[WHERE:.*]]: i64):
// CHECK: %[[M:.*]] = arith.maximumf %[[IN]], %[[BEST]]
// CHECK: %[[L:.*]] = arith.cmpf ugt, %[[IN]], %[[BEST]]
// CHECK: %[[N:.*]] = arith.cmpf ord, %[[BEST]], %[[BEST]]
// CHECK: %[[C:.*]] = arith.andi %[[L]], %[[N]]
// CHECK: arith.select %[[C]], %{{.*}}, %[[WHERE]]
func.func @arg_max(%x: tensor<8xf32>, %m: tensor<f32>, %p: tensor<i64>) -> (tensor<f32>, tensor<i64>) {
  %r:2 = linalg.generic {indexing_maps = [#all, #none, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<8xf32>) outs(%m, %p : tensor<f32>, tensor<i64>) {
  ^bb0(%in: f32, %best: f32, %where: i64):
    %i = linalg.index 0 : index
    %here = arith.index_cast %i : index to i64
    %0 = arith.maximumf %in, %best : f32
    %c = arith.cmpf ogt, %in, %best : f32
    %1 = arith.select %c, %here, %where : i64
    linalg.yield %0, %1 : f32, i64
  } -> (tensor<f32>, tensor<i64>)
  return %r#0, %r#1 : tensor<f32>, tensor<i64>
}

// A comparison of something else is left alone.
// CHECK-LABEL: func.func @other
// CHECK: arith.cmpf ogt
// CHECK-NOT: arith.cmpf ugt
func.func @other(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %zero = arith.constant 0.0 : f32
    %0 = arith.maximumf %in, %out : f32
    %c = arith.cmpf ogt, %in, %zero : f32
    %1 = arith.select %c, %0, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
