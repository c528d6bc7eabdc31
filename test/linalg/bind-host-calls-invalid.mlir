// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-bind-host-calls)' --split-input-file --verify-diagnostics

// expected-error@+1 {{a host call's last arguments must be its destinations, one for each result}}
func.func private @c(tensor<2xf32>, tensor<4xi32>) -> tensor<4xf32>
  attributes {kc.host_call = "kc_custom_call", kc.host_words = array<i64>}

// -----

// expected-error@+1 {{a host call takes tensors, not (f32, tensor<4xf32>) -> tensor<4xf32>}}
func.func private @c(f32, tensor<4xf32>) -> tensor<4xf32>
  attributes {kc.host_call = "kc_custom_call", kc.host_words = array<i64>}
