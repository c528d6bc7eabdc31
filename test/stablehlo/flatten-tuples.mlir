// RUN: kc-opt %s --split-input-file --pass-pipeline='builtin.module(kc-flatten-tuples)' | FileCheck %s

// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %[[A:.*]]: tensor<1xf32>, %[[B:.*]]: tensor<2xf32> {kc.name = "b"}, %[[C:.*]]: tensor<3xf32>) -> (tensor<3xf32>, tensor<1xf32>)
// CHECK-NEXT: return %[[C]], %[[A]] : tensor<3xf32>, tensor<1xf32>
func.func @nested(%t: tuple<tensor<1xf32>, !stablehlo.token>, %b: tensor<2xf32> {kc.name = "b"}, %u: tuple<tuple<tensor<3xf32>>>)
    -> tuple<tensor<3xf32>, tuple<tensor<1xf32>>> {
  %a = stablehlo.get_tuple_element %t[0] : (tuple<tensor<1xf32>, !stablehlo.token>) -> tensor<1xf32>
  %v = stablehlo.get_tuple_element %u[0] : (tuple<tuple<tensor<3xf32>>>) -> tuple<tensor<3xf32>>
  %c = stablehlo.get_tuple_element %v[0] : (tuple<tensor<3xf32>>) -> tensor<3xf32>
  %i = stablehlo.tuple %a : tuple<tensor<1xf32>>
  %r = stablehlo.tuple %c, %i : tuple<tensor<3xf32>, tuple<tensor<1xf32>>>
  return %r : tuple<tensor<3xf32>, tuple<tensor<1xf32>>>
}

// -----

// Through calls, custom calls and control flow; each transfer keeps a token of its own, and its place.
// CHECK-LABEL: func.func @flow(
// CHECK-SAME: %[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[T0:.*]] = stablehlo.create_token
// CHECK: "stablehlo.outfeed"(%[[X]], %[[T0]])
// CHECK: %[[CALL:.*]] = call @g(%[[X]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: stablehlo.while(%[[I:.*]] = %[[CALL]]) : tensor<4xf32>
// CHECK: %[[T1:.*]] = stablehlo.create_token
// CHECK: %{{.*}}:2 = "stablehlo.infeed"(%[[T1]])
// CHECK: stablehlo.custom_call @two(%{{.*}}) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi8>)
// CHECK-NOT: stablehlo.tuple
func.func @flow(%token: !stablehlo.token, %p: tensor<i1>, %x: tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>) {
  %o = "stablehlo.outfeed"(%x, %token) : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %both = stablehlo.after_all %o, %token : !stablehlo.token
  %c:2 = func.call @g(%both, %x) : (!stablehlo.token, tensor<4xf32>) -> (tensor<4xf32>, !stablehlo.token)
  %w:2 = stablehlo.while(%i = %c#0, %t = %c#1) : tensor<4xf32>, !stablehlo.token
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %f:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
    stablehlo.return %f#0, %f#1 : tensor<4xf32>, !stablehlo.token
  }
  %k = stablehlo.custom_call @two(%w#0) : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<2xi8>>
  %r = stablehlo.get_tuple_element %k[0] : (tuple<tensor<4xf32>, tensor<2xi8>>) -> tensor<4xf32>
  return %w#1, %r : !stablehlo.token, tensor<4xf32>
}
// CHECK-LABEL: func.func private @g(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>) -> tensor<4xf32>
func.func private @g(%t: !stablehlo.token, %x: tensor<4xf32>) -> (tensor<4xf32>, !stablehlo.token) {
  return %x, %t : tensor<4xf32>, !stablehlo.token
}
