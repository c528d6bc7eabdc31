// RUN: kc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(kc-convert-run-parallel)'

func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{result tensor<?xf32> has an extent that is only known at run time}}
  %r = "interpreter.run_parallel"(%a) {programs = [[@f]]} : (tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @"a/b"(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a function named 'a/b' cannot be run in parallel: rename it}}
  %r = "interpreter.run_parallel"(%a) {programs = [[@"a/b"]]} : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
