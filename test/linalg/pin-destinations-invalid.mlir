// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-pin-destinations)' --verify-diagnostics

// expected-error @+1 {{a kernel's last arguments must be its destinations, one for each result}}
func.func private @kernel(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<4xf32> attributes {kc.kernel} {
  return %x : tensor<4xf32>
}
