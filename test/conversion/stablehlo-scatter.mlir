// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-scatter)' | FileCheck %s

// One loop over the updates; one unsigned comparison per axis keeps negative indices out too.
// CHECK-LABEL: func.func @add
// CHECK-SAME: (%[[X:.*]]: tensor<4xi32>, %[[I:.*]]: tensor<5x1xi32>, %[[U:.*]]: tensor<5xi32>)
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[T:.*]] = %[[X]])
// CHECK: %[[E:.*]] = tensor.extract %[[I]][%[[K]], %{{.*}}]
// CHECK: %[[AT:.*]] = arith.index_cast %[[E]] : i32 to index
// CHECK: arith.cmpi ult, %[[AT]], %{{.*}} : index
// CHECK: scf.if %{{.*}} -> (tensor<4xi32>)
// CHECK: %[[OLD:.*]] = tensor.extract %[[T]][%[[AT]]] : tensor<4xi32>
// CHECK: %[[NEW:.*]] = arith.addi %[[OLD]], %{{.*}} : i32
// CHECK: tensor.insert %[[NEW]] into %[[T]][%[[AT]]] : tensor<4xi32>
// CHECK: scf.yield %[[T]] : tensor<4xi32>
func.func @add(%x: tensor<4xi32>, %i: tensor<5x1xi32>, %u: tensor<5xi32>) -> tensor<4xi32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<4xi32>, tensor<5x1xi32>, tensor<5xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// Over the source, then over the window: what is chosen, whether anything is, and where.
// CHECK-LABEL: func.func @pool
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<6xf32>)
// CHECK: scf.for %{{.*}} -> (f32, i1, index)
// CHECK: arith.cmpf oge
// CHECK: arith.addf
func.func @pool(%x: tensor<6xf32>, %s: tensor<5xf32>, %v: tensor<f32>) -> tensor<6xf32> {
  %0 = "stablehlo.select_and_scatter"(%x, %s, %v) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) {window_dimensions = array<i64: 2>} : (tensor<6xf32>, tensor<5xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
