// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-decompose-stablehlo)' | FileCheck %s

// Statistics of bf16 are computed in f32.
// CHECK-LABEL: func.func @training
// CHECK: %[[X:.*]] = stablehlo.convert %{{.*}} : (tensor<4x3xbf16>) -> tensor<4x3xf32>
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[X]] init: %{{.*}}) applies stablehlo.add across dimensions = [0]
// CHECK: %[[N:.*]] = stablehlo.constant dense<4.000000e+00> : tensor<3xf32>
// CHECK: %[[MEAN:.*]] = stablehlo.divide %[[SUM]], %[[N]] : tensor<3xf32>
// CHECK: stablehlo.convert %[[MEAN]] : (tensor<3xf32>) -> tensor<3xbf16>
func.func @training(%x: tensor<4x3xbf16>, %s: tensor<3xbf16>, %o: tensor<3xbf16>) -> (tensor<4x3xbf16>, tensor<3xbf16>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 1.0e-03 : f32, feature_index = 1 : i64}>
    : (tensor<4x3xbf16>, tensor<3xbf16>, tensor<3xbf16>) -> (tensor<4x3xbf16>, tensor<3xbf16>, tensor<3xbf16>)
  return %0#0, %0#1 : tensor<4x3xbf16>, tensor<3xbf16>
}

// CHECK-LABEL: func.func @annotation
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @annotation(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Sizes that are only known at run time: the count comes from them, features are broadcast to the operand's sizes.
// CHECK-LABEL: func.func @dynamic_norm
// CHECK: stablehlo.dynamic_broadcast_in_dim
// CHECK-NOT: stablehlo.batch_norm_training
func.func @dynamic_norm(%x: tensor<?x?xf32>, %s: tensor<?xf32>) -> tensor<?x?xf32> {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %s) <{epsilon = 1.0e-03 : f32, feature_index = 1 : i64}>
    : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>)
  return %0#0 : tensor<?x?xf32>
}

// A scan is a loop that carries a counter, the running value and the outputs; in reverse it starts at the end.
// CHECK-LABEL: func.func @scan
// CHECK-SAME: [[X:%.*]]: tensor<2x3xi32>
// CHECK: [[LOOP:%.*]]:3 = stablehlo.while([[K:%.*]] = %{{.*}}, [[SUM:%.*]] = %{{.*}}, [[OUT:%.*]] = %{{.*}}) : tensor<i64>, tensor<2xi32>, tensor<2x3xi32>
// CHECK: stablehlo.compare LT, [[K]]
// CHECK: [[AT:%.*]] = stablehlo.subtract %{{.*}}, [[K]] : tensor<i64>
// CHECK: [[PART:%.*]] = stablehlo.dynamic_slice [[X]], %{{.*}}, [[AT]], sizes = [2, 1]
// CHECK: [[ROW:%.*]] = stablehlo.reshape [[PART]] : (tensor<2x1xi32>) -> tensor<2xi32>
// CHECK: stablehlo.add [[ROW]], [[SUM]] : tensor<2xi32>
// CHECK: stablehlo.dynamic_update_slice [[OUT]], %{{.*}}, %{{.*}}, [[AT]]
// CHECK: return [[LOOP]]#2, [[LOOP]]#1
func.func @scan(%x: tensor<2x3xi32>, %i: tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>) {
  %0:2 = chlo.scan(%x) inits(%i) dimension=1 attributes {is_reverse = true} {
  ^bb0(%a: tensor<2xi32>, %b: tensor<2xi32>):
    %s = stablehlo.add %a, %b : tensor<2xi32>
    stablehlo.return %s, %s : tensor<2xi32>, tensor<2xi32>
  } : (tensor<2x3xi32>, tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2x3xi32>, tensor<2xi32>
}
