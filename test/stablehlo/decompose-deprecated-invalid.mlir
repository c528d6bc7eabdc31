// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-decompose-deprecated)' --split-input-file --verify-diagnostics

func.func @sizes(%a: tensor<2x3xf32>, %b: tensor<4x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+2 {{'stablehlo.einsum': 'b' is 3 in one operand and 4 in the other}}
  // expected-note@+1 {{nearest thing that works: stablehlo.dot_general}}
  %r = stablehlo.einsum %a, %b, config = "ab,bc->ac" : (tensor<2x3xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

func.func @ranks(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  // expected-error@+2 {{'abc' in the configuration 'abc,bc->ac' does not name the dimensions of a value of rank 2}}
  // expected-note@+1 {{nearest thing that works}}
  %r = stablehlo.einsum %a, %b, config = "abc,bc->ac" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

func.func @unknown(%x: tensor<?x3xf32>, %i: tensor<2xi32>) -> tensor<?x2xf32> {
  // expected-error@+2 {{of an operand whose shape is only known at run time cannot be compiled}}
  // expected-note@+1 {{nearest thing that works: stablehlo.dynamic_gather}}
  %r = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 0 : i64}> : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}
