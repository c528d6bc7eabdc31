// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-place-answers)' --verify-diagnostics

// expected-error@+2 {{kernel '@k' has type (memref<4xf32>) -> (), its answer (memref<5xf32>) -> ()}}
// expected-note@+1 {{an answer takes the kernel's arguments as bufferized, destinations last, and has no results}}
func.func private @k(%x: memref<4xf32>) attributes {kc.kernel, kc.answer = "func.func @main(%x: memref<5xf32>) { return }"} {
  return
}
