// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-custom-call)' --split-input-file --verify-diagnostics

func.func @extents(%x: tensor<4xf32>) -> tensor<?xf32> {
  // expected-error@+2 {{custom call 'f' has a result of unknown extents, tensor<?xf32>, which kc cannot do}}
  // expected-note@+1 {{nearest thing that works: 'indices_of_shape_operands'}}
  %0 = stablehlo.custom_call @f(%x) : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func private @g(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
func.func @computations(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+2 {{custom call 'f' calls computations of the program, which kc cannot do}}
  // expected-note@+1 {{nearest thing that works: a call that gets values only}}
  %0 = stablehlo.custom_call @f(%x) {called_computations = [@g]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
