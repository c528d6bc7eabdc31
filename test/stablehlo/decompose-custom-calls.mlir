// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-decompose-custom-calls)' --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @elementwise
// CHECK: chlo.erf %{{.*}} : tensor<4xf32> -> tensor<4xf32>
func.func @elementwise(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @mhlo.erf(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @cholesky
// CHECK: %[[L:.*]] = stablehlo.cholesky %{{.*}}, lower = true : tensor<2x3x3xf64>
// CHECK: stablehlo.compare GT, %[[L]]
// CHECK: %[[BAD:.*]] = stablehlo.reduce
// CHECK: %[[INFO:.*]] = stablehlo.convert %{{.*}} : (tensor<2xi1>) -> tensor<2xi32>
// CHECK: return %[[L]], %[[INFO]]
func.func @cholesky(%x: tensor<2x3x3xf64>) -> (tensor<2x3x3xf64>, tensor<2xi32>) {
  %0:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%x) {api_version = 4 : i32, backend_config = {uplo = 76 : ui8}}
    : (tensor<2x3x3xf64>) -> (tensor<2x3x3xf64>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2x3x3xf64>, tensor<2xi32>
}

// -----

// CHECK-LABEL: func.func @solve
// CHECK: "stablehlo.triangular_solve"(%{{.*}}, %{{.*}}) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = true}>
func.func @solve(%a: tensor<3x3xcomplex<f32>>, %b: tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>> {
  %0 = stablehlo.custom_call @lapack_ctrsm_ffi(%a, %b) {
    backend_config = "", mhlo.backend_config = {diag = 85 : ui8, side = 82 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8}
  } : (tensor<3x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  return %0 : tensor<2x3xcomplex<f32>>
}

// -----

// CHECK-LABEL: func.func @top_k
// CHECK: chlo.top_k(%{{.*}}, k = 2) : tensor<8xf32> -> (tensor<2xf32>, tensor<2xi32>)
func.func @top_k(%x: tensor<8xf32>) -> tensor<2xi32> {
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}}
    : (tensor<8xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0#1 : tensor<2xi32>
}

// -----

// The comparison goes into the sort; the function that held it, which JAX leaves public, goes.
// CHECK-LABEL: func.func @approximate
// CHECK: %[[SORTED:.*]]:2 = "stablehlo.sort"(%{{.*}}, %{{.*}}) <{dimension = 1 : i64, is_stable = true}>
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>):
// CHECK-NEXT: %[[P:.*]] = stablehlo.compare GT, %[[A]], %[[B]]
// CHECK-NEXT: stablehlo.return %[[P]]
// CHECK: stablehlo.slice %[[SORTED]]#0 [0:3, 0:2]
// CHECK-NOT: func.func
func.func @gt(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}
func.func @approximate(%x: tensor<3x8xf32>, %i: tensor<3x8xi32>, %a: tensor<f32>, %b: tensor<i32>) -> (tensor<3x2xf32>, tensor<3x2xi32>) {
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %a, %b) {
    called_computations = [@gt], mhlo.backend_config = {reduction_dim = 1 : i64, top_k = 2 : i64}
  } : (tensor<3x8xf32>, tensor<3x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi32>
}
