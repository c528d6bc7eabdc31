// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-random)' --split-input-file --verify-diagnostics

func.func @state(%s: tensor<3xi64>) -> (tensor<3xi64>, tensor<4xi32>) {
  // expected-error@+2 {{'stablehlo.rng_bit_generator' with THREE_FRY of tensor<4xi32> from the state tensor<3xi64> cannot be converted}}
  // expected-note@+1 {{nearest thing that works: a static result, and a state tensor<2xui64>}}
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<3xi64>) -> (tensor<3xi64>, tensor<4xi32>)
  return %0, %1 : tensor<3xi64>, tensor<4xi32>
}

// -----

func.func @short(%s: tensor<1xi64>) -> (tensor<1xi64>, tensor<4xi32>) {
  // expected-error@+2 {{'stablehlo.rng_bit_generator' with PHILOX of tensor<4xi32> from the state tensor<1xi64> cannot be converted}}
  // expected-note@+1 {{(tensor<3xui64> for PHILOX)}}
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<1xi64>) -> (tensor<1xi64>, tensor<4xi32>)
  return %0, %1 : tensor<1xi64>, tensor<4xi32>
}
