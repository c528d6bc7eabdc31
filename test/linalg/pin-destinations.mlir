// RUN: kc-opt %s --pass-pipeline='builtin.module(func.func(linalg-fuse-elementwise-ops),kc-pin-destinations)' | FileCheck %s

// Fusion drops destinations whose old value is not read; they come back, also below a fill.
// CHECK-LABEL: func.func private @kernel
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<f32>)
// CHECK: linalg.generic {{.*}} outs(%[[A]] : tensor<4xf32>)
// CHECK: %[[F:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%[[B]] : tensor<f32>)
// CHECK: linalg.generic {{.*}} outs(%[[F]] : tensor<f32>)
// CHECK-NOT: linalg.copy
func.func private @kernel(%x: tensor<4xf32>, %a: tensor<4xf32>, %b: tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
    attributes {kc.kernel} {
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %v : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %w = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<4xf32>) outs(%f : tensor<f32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %y, %w : tensor<4xf32>, tensor<f32>
}

// A loop that updates what it carries, element by element or not at all, writes in place.
// CHECK-LABEL: func.func private @loop
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %arg1)
// CHECK-NOT: linalg.copy
// CHECK: return
func.func private @loop(%x: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> attributes {kc.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<4xf32>
  %y = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %e) -> (tensor<4xf32>) {
    %v = tensor.extract %x[%i] : tensor<4xf32>
    %z = arith.constant 0.0 : f32
    %p = arith.cmpf ogt, %v, %z : f32
    %n = scf.if %p -> (tensor<4xf32>) {
      %u = tensor.insert %v into %t[%i] : tensor<4xf32>
      scf.yield %u : tensor<4xf32>
    } else {
      scf.yield %t : tensor<4xf32>
    }
    scf.yield %n : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// A loop that carries another tensor on does not.
// CHECK-LABEL: func.func private @swap
// CHECK: linalg.copy
func.func private @swap(%x: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> attributes {kc.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %y:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %a, %s = %x) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %s, %t : tensor<4xf32>, tensor<4xf32>
  }
  return %y#0 : tensor<4xf32>
}

// What no such op writes is copied into the destination.
// CHECK-LABEL: func.func private @copied
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[A:.*]]: tensor<4xf32>)
// CHECK: %[[C:.*]] = linalg.copy ins(%[[X]] : tensor<4xf32>) outs(%[[A]] : tensor<4xf32>)
// CHECK: return %[[C]]
func.func private @copied(%x: tensor<4xf32>, %a: tensor<4xf32>) -> tensor<4xf32> attributes {kc.kernel} {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @main
// CHECK-NOT: linalg.copy
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
