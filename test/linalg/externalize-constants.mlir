// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-externalize-constants{threshold=8})' --split-input-file | FileCheck %s

// A constant in the entry function and one in a private function: both become arguments of the entry, in number order;
// the private function gets what it needs, and so does the call. Equal constants share a parameter.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<5xf32>, %[[P0:.*]]: tensor<5xf32> {kc.param = 0 : i64}, %[[P1:.*]]: tensor<5xbf16> {kc.param = 1 : i64})
// CHECK: %[[Y:.*]] = arith.addf %[[X]], %[[P0]]
// CHECK: call @helper(%[[Y]], %[[P0]], %[[P1]])
// CHECK-LABEL: func.func private @helper
// CHECK-SAME: (%[[A:[a-z0-9]*]]: tensor<5xf32>, %[[B:[a-z0-9]*]]: tensor<5xf32>, %[[C:[a-z0-9]*]]: tensor<5xbf16>)
// CHECK: arith.extf %[[C]]
// CHECK: arith.addf %[[A]], %[[B]]
func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %w = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %y = arith.addf %x, %w : tensor<5xf32>
  %z = call @helper(%y) : (tensor<5xf32>) -> tensor<5xf32>
  return %z : tensor<5xf32>
}
func.func private @helper(%x: tensor<5xf32>) -> tensor<5xf32> {
  %h = arith.constant dense_resource<halves> : tensor<5xbf16>
  %f = arith.extf %h : tensor<5xbf16> to tensor<5xf32>
  %w = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %y = arith.addf %x, %w : tensor<5xf32>
  %s = arith.addf %y, %f : tensor<5xf32>
  return %s : tensor<5xf32>
}
{-#
  dialect_resources: { builtin: { halves: "0x04000000803F0040404080409040" } }
#-}

// -----

// Splats and small constants stay.
// CHECK-LABEL: func.func @stays() ->
// CHECK: arith.constant dense<1.000000e+00>
// CHECK: arith.constant dense<[1, 2]>
func.func @stays() -> (tensor<1000xf32>, tensor<2xi8>) {
  %splat = arith.constant dense<1.0> : tensor<1000xf32>
  %small = arith.constant dense<[1, 2]> : tensor<2xi8>
  return %splat, %small : tensor<1000xf32>, tensor<2xi8>
}

// -----

// Complex elements, which have no Python form in the bindings, and a function used other than by a call.
// CHECK-LABEL: func.func @complex
// CHECK-SAME: tensor<3xcomplex<f32>> {kc.param = 0 : i64}
func.func @complex() -> tensor<3xcomplex<f32>> {
  %c = stablehlo.constant dense<[(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)]> : tensor<3xcomplex<f32>>
  return %c : tensor<3xcomplex<f32>>
}
// CHECK-LABEL: func.func private @taken() ->
// CHECK: arith.constant dense<
func.func private @taken() -> tensor<5xf32> {
  %w = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  return %w : tensor<5xf32>
}
func.func @takes() -> (() -> tensor<5xf32>) {
  %f = func.constant @taken : () -> tensor<5xf32>
  return %f : () -> tensor<5xf32>
}
