// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-bind-answers)' --split-input-file --verify-diagnostics

// expected-error@+1 {{'@f' is an entry point: an answer on buffers must stand on a private function that it calls}}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kc.answer = "func.func @main(%x: memref<4xf32>, %o: memref<4xf32>) { return }"} {
  return %x : tensor<4xf32>
}

// -----

// expected-error@+1 {{function '@f' has type (tensor<4xf32>) -> tensor<4xf32>, its answer (tensor<5xf32>) -> tensor<5xf32>}}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {kc.answer = "func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> { return %x : tensor<5xf32> }"} {
  return %x : tensor<4xf32>
}
