// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-control-flow)' | FileCheck %s

// The counter is carried as an integer, the tensor as a tensor.
// CHECK-LABEL: func.func @loop
// CHECK: %[[START:.*]] = tensor.extract %{{.*}}[] : tensor<i32>
// CHECK: %[[R:.*]]:2 = scf.while (%[[A:.*]] = %[[START]], %[[T:.*]] = %{{.*}}) : (i32, tensor<4xf32>) -> (i32, tensor<4xf32>)
// CHECK: %[[I:.*]] = tensor.from_elements %[[A]] : tensor<i32>
// CHECK: %[[P:.*]] = tensor.extract %{{.*}}[] : tensor<i1>
// CHECK: scf.condition(%[[P]]) %[[A]], %[[T]]
// CHECK: scf.yield %{{.*}}, %{{.*}} : i32, tensor<4xf32>
// CHECK: return %[[R]]#1
func.func @loop(%i: tensor<i32>, %n: tensor<i32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = stablehlo.while(%a = %i, %t = %x) : tensor<i32>, tensor<4xf32>
    cond {
      %p = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %b = stablehlo.add %a, %a : tensor<i32>
      %u = stablehlo.add %t, %t : tensor<4xf32>
      stablehlo.return %b, %u : tensor<i32>, tensor<4xf32>
    }
  return %0#1 : tensor<4xf32>
}

// An index out of range takes the last branch: it is the default.
// CHECK-LABEL: func.func @branches
// CHECK: scf.index_switch %{{.*}} -> tensor<2xf32>
// CHECK: case 0 {
// CHECK-NEXT: scf.yield %[[A:.*]] : tensor<2xf32>
// CHECK: default {
// CHECK-NEXT: scf.yield %[[B:.*]] : tensor<2xf32>
// CHECK: scf.if %{{.*}} -> (i32)
func.func @branches(%i: tensor<i32>, %p: tensor<i1>, %a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<i32>) {
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %a : tensor<2xf32>
  }, {
    stablehlo.return %b : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  %1 = "stablehlo.if"(%p) ({
    stablehlo.return %i : tensor<i32>
  }, {
    %2 = stablehlo.negate %i : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  return %0, %1 : tensor<2xf32>, tensor<i32>
}

// CHECK-LABEL: func.func @barrier
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>)
// CHECK-NEXT: return %[[X]]
func.func @barrier(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.optimization_barrier %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
