// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-dynamic-shapes,canonicalize,cse)' | FileCheck %s

// The shape is followed back to the argument; the batch is known to be the same, so the broadcast is a plain one.
// CHECK: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @batch
// CHECK-SAME: (%[[X:[a-z0-9]+]]: tensor<?xf32> {kc.dims = ["d0"]}, %[[Y:[a-z0-9]+]]: tensor<?x4xf32> {kc.dims = ["d0", "4"]})
// CHECK: %[[D:.*]] = tensor.dim %[[Y]], %{{.*}} : tensor<?x4xf32>
// CHECK: call @[[CHECK:kc_check_[0-9]+]](%{{.*}}, %{{.*}}, %{{.*}})
// CHECK: %[[E:.*]] = tensor.empty(%[[D]]) : tensor<?x4xf32>
// CHECK: linalg.generic {indexing_maps = [#[[ROWS]], #[[ID]]], {{.*}}} ins(%[[X]] : tensor<?xf32>) outs(%[[E]] : tensor<?x4xf32>)
func.func @batch(%x: tensor<?xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %same = stablehlo.compare EQ, %n, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%same) {error_message = "the batches differ", has_side_effect = true} : (tensor<i1>) -> ()
  %m1 = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %m1, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// Nothing says that the extents are equal: an extent of 1 is repeated at run time.
// CHECK-LABEL: func.func @unsure
// CHECK: %[[ONE:.*]] = arith.cmpi eq
// CHECK: arith.select
// CHECK: tensor.extract
func.func @unsure(%x: tensor<?xf32>, %shape: tensor<1xi32>) -> tensor<?xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [0] : (tensor<?xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @split
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 2, 4] : tensor<?x8xf32> into tensor<?x2x4xf32>
func.func @split(%x: tensor<?x8xf32>) -> tensor<?x2x4xf32> {
  %rest = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %n1, %rest, dim = 0 : (tensor<1xi32>, tensor<2xi32>) -> tensor<3xi32>
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?x8xf32>, tensor<3xi32>) -> tensor<?x2x4xf32>
  return %0 : tensor<?x2x4xf32>
}

// Two unknown extents: the same type, but another shape.
// CHECK-LABEL: func.func @other_shape
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1]] : tensor<?x?xf32> into tensor<?xf32>
// CHECK: tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1]] output_shape [%{{.*}}, %{{.*}}] : tensor<?xf32> into tensor<?x?xf32>
func.func @other_shape(%x: tensor<?x?xf32>, %shape: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// One beside an extent of 0: nothing to move, and the unknown extent is the new one.
// CHECK-LABEL: func.func @other_empty_shape
// CHECK: tensor.empty(%{{.*}}) : tensor<0x?xf32>
func.func @other_empty_shape(%x: tensor<0x?xf32>, %shape: tensor<2xi32>) -> tensor<0x?xf32> {
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<0x?xf32>, tensor<2xi32>) -> tensor<0x?xf32>
  return %0 : tensor<0x?xf32>
}
