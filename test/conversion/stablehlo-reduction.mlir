// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-reduction)' | FileCheck %s

// CHECK-LABEL: func.func @sum
// CHECK-SAME: (%[[X:.*]]: tensor<3x4x5xf32>, %[[V:.*]]: tensor<f32>)
// CHECK: %[[INIT:.*]] = tensor.extract %[[V]][] : tensor<f32>
// CHECK: %[[FILL:.*]] = linalg.fill ins(%[[INIT]] : f32)
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "reduction"]} ins(%[[X]] : tensor<3x4x5xf32>) outs(%[[FILL]] : tensor<4xf32>)
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc,contract> : f32
func.func @sum(%x: tensor<3x4x5xf32>, %v: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%x init: %v) applies stablehlo.add across dimensions = [0, 2] : (tensor<3x4x5xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The accumulators are the reducer's first arguments.
// CHECK-LABEL: func.func @argmax
// CHECK: ^bb0(%[[X:.*]]: f32, %[[I:.*]]: i32, %[[BEST:.*]]: f32, %[[AT:.*]]: i32):
// CHECK: %[[C:.*]] = arith.cmpf oge, %[[BEST]], %[[X]] : f32
// CHECK: arith.select %[[C]], %[[BEST]], %[[X]] : f32
// CHECK: arith.select %[[C]], %[[AT]], %[[I]] : i32
func.func @argmax(%x: tensor<7xf32>, %i: tensor<7xi32>, %v: tensor<f32>, %z: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %0:2 = stablehlo.reduce(%x init: %v), (%i init: %z) across dimensions = [0]
    : (tensor<7xf32>, tensor<7xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
      %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %m = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>
      %n = stablehlo.select %p, %c, %d : tensor<i1>, tensor<i32>
      stablehlo.return %m, %n : tensor<f32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// A window is read from the operand padded with the initial value; loops of extent 1 are left out.
// CHECK-LABEL: func.func @window
// CHECK: tensor.pad %{{.*}} low[0, 1] high[0, 1]
// CHECK: tensor.empty() : tensor<3xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: arith.maximumf
func.func @window(%x: tensor<2x8xf32>, %v: tensor<f32>) -> tensor<2x4xf32> {
  %0 = "stablehlo.reduce_window"(%x, %v) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}
    : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// A window that reaches over everything before is a scan: five blocks of 20, one element after the other in each, then
// the totals of those before are added to each.
// CHECK-LABEL: func.func @cumulative
// CHECK-SAME: [[X:%.*]]: tensor<3x100xf32>
// CHECK: [[BLOCKS:%.*]] = tensor.expand_shape [[X]] {{.*}} into tensor<3x5x20xf32>
// CHECK: scf.for
// CHECK: [[FIRST:%.*]] = tensor.extract [[BLOCKS]]
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: {kc.independent}
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 19] [3, 5, 1] [1, 1, 1]
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: tensor.collapse_shape {{.*}} into tensor<3x100xf32>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<3x100xf32>)
func.func @cumulative(%x: tensor<3x100xf32>) -> tensor<3x100xf32> {
  %v = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %v) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 1, 100>, padding = dense<[[0, 0], [99, 0]]> : tensor<2x2xi64>}
    : (tensor<3x100xf32>, tensor<f32>) -> tensor<3x100xf32>
  return %0 : tensor<3x100xf32>
}

// Differences depend on their order: every window is folded for itself.
// CHECK-LABEL: func.func @ordered
// CHECK-NOT: scf.for
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]}
func.func @ordered(%x: tensor<9xf32>, %v: tensor<f32>) -> tensor<9xf32> {
  %0 = "stablehlo.reduce_window"(%x, %v) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 9>, padding = dense<[[8, 0]]> : tensor<1x2xi64>}
    : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// A window that finds no room leaves nothing to compute.
// CHECK-LABEL: func.func @no_room
// CHECK-NOT: linalg.generic
// CHECK: tensor.empty() : tensor<0xf32>
func.func @no_room(%x: tensor<4xf32>, %v: tensor<f32>) -> tensor<0xf32> {
  %0 = "stablehlo.reduce_window"(%x, %v) <{window_dimensions = array<i64: 3>, window_dilations = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<0xf32>
  return %0 : tensor<0xf32>
}

// A sum over a long axis is one of the sums of blocks: the rounding errors of a few hundred additions, not of 10^5.
// CHECK-LABEL: func.func @long
// CHECK: arith.constant -0.000000e+00 : f32
// CHECK: tensor.expand_shape %{{.*}} into tensor<800x125x3xf32>
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction", "parallel"]} {{.*}} outs(%{{.*}} : tensor<800x3xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} {{.*}} outs(%{{.*}} : tensor<3xf32>)
func.func @long(%x: tensor<100000x3xf32>, %v: tensor<f32>) -> tensor<3xf32> {
  %0 = stablehlo.reduce(%x init: %v) applies stablehlo.add across dimensions = [0]
    : (tensor<100000x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
