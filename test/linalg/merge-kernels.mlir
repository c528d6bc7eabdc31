// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-merge-kernels)' | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = call @k0(%{{.*}})
// CHECK: %[[B:.*]] = call @k0(%[[A]])
// CHECK: %[[C:.*]] = call @k2(%[[B]])
// CHECK: call @plain(%[[C]])
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = call @k0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = call @k1(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = call @k2(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %d = call @plain(%c) : (tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// An entry point stays, whatever it is equal to.
// CHECK: func.func @again
func.func @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = call @k0(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = call @k1(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = call @k2(%b) : (tensor<4xf32>) -> tensor<4xf32>
  %d = call @plain(%c) : (tensor<4xf32>) -> tensor<4xf32>
  return %d : tensor<4xf32>
}

// CHECK: func.func private @k0
// CHECK-NOT: @k1
// CHECK: func.func private @k2
// CHECK: func.func private @plain
func.func private @k0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kc.kernel} {
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
  ^bb0(%v: f32):
    %s = arith.addf %v, %v : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @k1(%other: tensor<4xf32>) -> tensor<4xf32> attributes {kc.kernel} {
  %z = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%other : tensor<4xf32>) {
  ^bb0(%w: f32):
    %t = arith.addf %w, %w : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @k2(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kc.kernel} {
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
  ^bb0(%v: f32):
    %s = arith.mulf %v, %v : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
  ^bb0(%v: f32):
    %s = arith.addf %v, %v : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}
