// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-trace-values)' --split-input-file --verify-diagnostics

func.func @whole(%m: memref<4xf32>, %v: f32) {
  // expected-error @+1 {{the values of 'linalg.fill' cannot be told of; lower it to loops on buffers first}}
  linalg.fill ins(%v : f32) outs(%m : memref<4xf32>)
  return
}

// -----

func.func @tensors(%t: tensor<4xf32>, %i: index) -> f32 {
  // expected-error @+1 {{the values of 'tensor.extract' cannot be told of}}
  %v = tensor.extract %t[%i] : tensor<4xf32>
  return %v : f32
}
