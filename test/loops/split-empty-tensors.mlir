// RUN: kc-opt %s --pass-pipeline='builtin.module(func.func(kc-split-empty-tensors))' | FileCheck %s

// Each writer gets an empty tensor of its own, a writer in a loop one inside it; a reader shares.
// CHECK-LABEL: func.func @writers
// CHECK: %[[A:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: linalg.exp {{.*}} outs(%[[A]] :
// CHECK: scf.for
// CHECK: %[[B:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: linalg.add {{.*}} outs(%[[B]] :
// CHECK: %[[C:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: linalg.exp {{.*}} outs(%[[C]] :
func.func @writers(%x: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %a = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4xf32> {
    %q = linalg.add ins(%s, %a : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %q : tensor<4xf32>
  }
  %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %a, %l, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Two reductions that start from one fill get a fill each.
// CHECK-LABEL: func.func @fills
// CHECK: %[[F:.*]] = linalg.fill
// CHECK: linalg.reduce {{.*}} outs(%[[F]] :
// CHECK: %[[G:.*]] = linalg.fill
// CHECK: linalg.reduce {{.*}} outs(%[[G]] :
// CHECK: return
func.func @fills(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %a = linalg.reduce {arith.addf} ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %b = linalg.reduce {arith.addf} ins(%y : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// What a loop carries on is made in the loop; what it only uses for itself stays outside.
// CHECK-LABEL: func.func @carried
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: scf.for
// CHECK: linalg.exp {{.*}} outs(%[[E]] :
// CHECK: %[[F:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: linalg.exp {{.*}} outs(%[[F]] :
// CHECK: scf.yield
func.func @carried(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %f = tensor.empty() : tensor<4xf32>
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4xf32> {
    %p = linalg.exp ins(%s : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %q = linalg.exp ins(%p : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %q : tensor<4xf32>
  }
  return %l : tensor<4xf32>
}
