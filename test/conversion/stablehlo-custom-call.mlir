// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-custom-call)' --split-input-file | FileCheck %s

// Column-major operands and results are transposed; the aliased operand is the destination.
// CHECK-LABEL: func.func @layouts
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32>, %[[S:.*]]: tensor<2xi32>)
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<4x3xf32>) outs(%{{.*}} : tensor<3x4xf32>)
// CHECK: %[[R:.*]] = call @kc_custom_call_0(%[[S]], %[[T]]) : (tensor<2xi32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK: %[[BACK:.*]] = linalg.generic {{.*}} ins(%[[R]] : tensor<3x4xf32>) outs(%{{.*}} : tensor<4x3xf32>)
// CHECK: return %[[BACK]]
// What the runtime has to know: words 3 is the address of the shared buffer, 1 that of the other operand.
// CHECK: func.func private @kc_custom_call_0(tensor<2xi32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-SAME: kc.custom_call = "{\22number\22: 0, \22target\22: \22f\22
// CHECK-SAME: \22dtype\22: \22f32\22, \22layout\22: [0, 1], \22word\22: 3
// CHECK-SAME: \22dtype\22: \22ui32\22, \22layout\22: [0], \22word\22: 1
// CHECK-SAME: \22attributes\22: {\22a\22: 1, \22b\22: [true]}
// CHECK-SAME: kc.host_call = "kc_custom_call", kc.host_words = array<i64: 0>
func.func @layouts(%x: tensor<4x3xf32>, %s: tensor<2xi32>) -> tensor<4x3xf32> {
  %0 = stablehlo.custom_call @f(%x, %s) {
    api_version = 4 : i32, backend_config = {a = 1 : i64, b = [true]}, kc.unsigned = array<i1: false, true, false>,
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>],
    output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]
  } : (tensor<4x3xf32>, tensor<2xi32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// Extents come from the shape operand, which the function does not get.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: (%[[X:.*]]: tensor<?xf64>, %[[SHAPE:.*]]: tensor<2xi64>)
// CHECK: %[[N:.*]] = tensor.extract %[[SHAPE]]
// CHECK: %[[I:.*]] = arith.index_cast %[[N]] : i64 to index
// CHECK: %[[E:.*]] = tensor.empty(%[[I]]) : tensor<?x3xf64>
// CHECK: call @kc_custom_call_0(%[[X]], %[[E]]) : (tensor<?xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
func.func @dynamic(%x: tensor<?xf64>, %shape: tensor<2xi64>) -> tensor<?x3xf64> {
  %0 = stablehlo.custom_call @f(%x, %shape) {indices_of_shape_operands = dense<[1]> : tensor<1xi64>}
    : (tensor<?xf64>, tensor<2xi64>) -> tensor<?x3xf64>
  return %0 : tensor<?x3xf64>
}

// -----

// A call that nobody uses goes, unless it has effects.
// CHECK-LABEL: func.func @effects
// CHECK-NEXT: call @kc_custom_call_0(%{{.*}}) : (tensor<4xi1>) -> ()
// CHECK-NEXT: return
func.func @effects(%x: tensor<4xi1>) {
  %0 = stablehlo.custom_call @f(%x) : (tensor<4xi1>) -> tensor<4xi1>
  stablehlo.custom_call @g(%x) {has_side_effect = true} : (tensor<4xi1>) -> ()
  return
}
