// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-legalize-dynamism)' | FileCheck %s

// The bound is checked where the program starts, and the type is a plain unknown size from then on.
// CHECK-LABEL: func.func @unsigned_sizes
// CHECK: %[[S:.*]] = stablehlo.convert %{{.*}} : (tensor<1xui8>) -> tensor<1xi64>
// CHECK: stablehlo.dynamic_iota %[[S]]
func.func @unsigned_sizes(%s: tensor<1xui8>) -> tensor<?xf32> {
  %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1xui8>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @bounded
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32>) -> tensor<?xf32>
// CHECK: %[[N:.*]] = tensor.dim %[[X]]
// CHECK: %[[OK:.*]] = arith.cmpi sle, %[[N]]
// CHECK: call @[[CHECK:kc_check_[0-9]+]](%[[OK]], %[[N]], %{{.*}})
// CHECK: stablehlo.negate %[[X]] : tensor<?xf32>
func.func @bounded(%x: tensor<?xf32, #stablehlo.bounds<8>>) -> tensor<?xf32, #stablehlo.bounds<8>> {
  %0 = stablehlo.negate %x : tensor<?xf32, #stablehlo.bounds<8>>
  return %0 : tensor<?xf32, #stablehlo.bounds<8>>
}

// CHECK-LABEL: func.func @first_elements
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>, %[[N:.*]]: tensor<i32>)
// CHECK: %[[FOUR:.*]] = stablehlo.constant dense<4>
// CHECK: %[[WIDE:.*]] = stablehlo.convert %[[N]]
// CHECK: %[[ONE:.*]] = stablehlo.reshape %[[WIDE]]
// CHECK: %[[LIMITS:.*]] = stablehlo.concatenate %[[ONE]], %[[FOUR]], dim = 0
// CHECK: stablehlo.real_dynamic_slice %[[X]], %{{.*}}, %[[LIMITS]], %{{.*}} {kc.origin = "stablehlo.set_dimension_size"}
// CHECK-SAME: -> tensor<?x4xf32>
func.func @first_elements(%x: tensor<8x4xf32>, %n: tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>> {
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<8x4xf32>, tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>>
  return %0 : tensor<?x4xf32, #stablehlo.bounds<8, ?>>
}

// CHECK-LABEL: func.func @flat
// CHECK: %[[REST:.*]] = stablehlo.divide
// CHECK: %[[SHAPE:.*]] = stablehlo.concatenate %[[REST]]
// CHECK: stablehlo.dynamic_reshape %{{.*}}, %[[SHAPE]]
func.func @flat(%x: tensor<?x3xf32, #stablehlo.bounds<8, ?>>) -> tensor<?xf32, #stablehlo.bounds<24>> {
  %0 = stablehlo.reshape %x : (tensor<?x3xf32, #stablehlo.bounds<8, ?>>) -> tensor<?xf32, #stablehlo.bounds<24>>
  return %0 : tensor<?xf32, #stablehlo.bounds<24>>
}

// The operand may have size 1 when the program runs.
// CHECK-LABEL: func.func @broadcast
// CHECK: stablehlo.dynamic_broadcast_in_dim %{{.*}}, %{{.*}}, dims = [1] {kc.origin = "stablehlo.broadcast_in_dim"}
func.func @broadcast(%x: tensor<?xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<?xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @chlo
// CHECK: %[[IS:.*]] = stablehlo.compare EQ
// CHECK: %[[SIZE:.*]] = stablehlo.select %[[IS]]
// CHECK: %[[A:.*]] = stablehlo.dynamic_broadcast_in_dim
// CHECK: %[[B:.*]] = stablehlo.dynamic_broadcast_in_dim
// CHECK: stablehlo.add %[[A]], %[[B]] : tensor<?xf32>
func.func @chlo(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = chlo.broadcast_add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK: func.func private @[[CHECK]](i1, index, index) attributes {kc.check = "argument 0: dimension 0 has size {0}, its type bounds it by {1}"}
