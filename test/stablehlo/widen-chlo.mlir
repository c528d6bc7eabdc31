// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-widen-chlo)' | FileCheck %s

// CHECK-LABEL: func.func @narrow
// CHECK-SAME: (%[[X:.*]]: tensor<4xbf16>)
func.func @narrow(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK: %[[W:.*]] = stablehlo.convert %[[X]] : (tensor<4xbf16>) -> tensor<4xf32>
  // CHECK: %[[F:.*]] = chlo.asinh %[[W]] : tensor<4xf32> -> tensor<4xf32>
  // CHECK: %[[R:.*]] = stablehlo.convert %[[F]] : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: return %[[R]]
  %0 = chlo.asinh %x : tensor<4xbf16> -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// The broadcast stays what it says; a size that is not known stays unknown.
// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%x: tensor<?x1xf8E5M2>, %y: tensor<3xf8E5M2>) -> tensor<?x3xf8E5M2> {
  // CHECK: chlo.broadcast_zeta %{{.*}}, %{{.*}} {broadcast_dimensions = array<i64: 1>} : (tensor<?x1xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %0 = chlo.broadcast_zeta %x, %y {broadcast_dimensions = array<i64: 1>} : (tensor<?x1xf8E5M2>, tensor<3xf8E5M2>) -> tensor<?x3xf8E5M2>
  return %0 : tensor<?x3xf8E5M2>
}

// What is exact in any type, and what is wide, stays.
// CHECK-LABEL: func.func @stays
func.func @stays(%x: tensor<4xf16>, %y: tensor<4xf64>) -> (tensor<4xf16>, tensor<4xf64>) {
  // CHECK-NOT: stablehlo.convert
  %0 = chlo.next_after %x, %x : tensor<4xf16>, tensor<4xf16> -> tensor<4xf16>
  %1 = chlo.asinh %y : tensor<4xf64> -> tensor<4xf64>
  return %0, %1 : tensor<4xf16>, tensor<4xf64>
}

// A number that the type does not have: 6 is the largest here, and infinity no value at all.
// CHECK-LABEL: func.func @no_infinity
func.func @no_infinity(%x: tensor<4xf4E2M1FN>) -> tensor<4xi1> {
  // CHECK: chlo.is_inf %{{.*}} : tensor<4xf32> -> tensor<4xi1>
  %0 = chlo.is_inf %x : tensor<4xf4E2M1FN> -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// Sums of series are computed in f64, those of narrow floats in f32.
// CHECK-LABEL: func.func @series
func.func @series(%x: tensor<4xf32>, %y: tensor<4xf16>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf16>, tensor<4xf32>) {
  // CHECK: chlo.lgamma %{{.*}} : tensor<4xf64>
  // CHECK: chlo.lgamma %{{.*}} : tensor<4xf32>
  // CHECK: chlo.asinh %{{.*}} : tensor<4xf32>
  %0 = chlo.lgamma %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.lgamma %y : tensor<4xf16> -> tensor<4xf16>
  %2 = chlo.asinh %z : tensor<4xf32> -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf16>, tensor<4xf32>
}
