// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-expand-math)' --split-input-file --verify-diagnostics

func.func @quad(%x: f128) -> f128 {
  // expected-error @+1 {{math.exp of element type f128 cannot be expanded; f64, f32, f16 and bf16 can}}
  %0 = math.exp %x : f128
  return %0 : f128
}
