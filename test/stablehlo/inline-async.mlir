// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-inline-async)' | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[G:.*]] = "stablehlo.all_gather"(%[[X]])
  // CHECK-NOT: async
  // CHECK: %[[N:.*]] = stablehlo.negate %[[X]]
  // CHECK: %[[S:.*]] = stablehlo.add %[[G]], %[[N]]
  // CHECK: return %[[S]]
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    %0 = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>} : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %0 : tensor<4xf32>
  }) : (tensor<4xf32>) -> !stablehlo.future<tensor<4xf32>>
  %n = stablehlo.negate %x : tensor<4xf32>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  %s = stablehlo.add %r, %n : tensor<4xf32>
  return %s : tensor<4xf32>
}
