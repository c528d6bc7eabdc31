// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-pin-destinations)' | FileCheck %s
// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-pin-destinations,func.func(linalg-fuse-elementwise-ops),eliminate-empty-tensors)' | FileCheck %s --check-prefix=FUSED

// CHECK-LABEL: func.func private @kernel
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK: %[[Y:.*]]:2 = linalg.generic
// CHECK: %[[P:.*]] = bufferization.materialize_in_destination %[[Y]]#0 in %[[A]]
// CHECK: %[[Q:.*]] = bufferization.materialize_in_destination %[[Y]]#1 in %[[B]]
// CHECK: return %[[P]], %[[Q]]
// Fusion drops the destinations, which the pins bring back.
// FUSED-LABEL: func.func private @kernel
// FUSED-SAME: (%[[X:.*]]: tensor<4xf32>, %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
// FUSED: linalg.generic {{.*}} outs(%[[A]], %[[B]] : tensor<4xf32>, tensor<4xf32>)
func.func private @kernel(%x: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {kc.kernel} {
  %y:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                         iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%a, %b : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%v: f32, %o: f32, %p: f32):
    %s = arith.addf %v, %v : f32
    %t = arith.mulf %v, %v : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %y#0, %y#1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @main
// CHECK-NOT: materialize
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
