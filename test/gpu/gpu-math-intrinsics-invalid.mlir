// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-gpu-math-intrinsics)' --split-input-file --verify-diagnostics

func.func @transcendental(%x: f32) -> f32 {
  // expected-error @+1 {{'math.exp' has no GPU instruction: run kc-expand-math{target=nvptx} before kc-gpu-math-intrinsics}}
  %0 = math.exp %x : f32
  return %0 : f32
}

// -----

func.func @vector(%x: vector<4xf32>) -> vector<4xf32> {
  // expected-error @+1 {{'arith.remf' on vectors has no GPU form; write it on scalars}}
  %0 = arith.remf %x, %x : vector<4xf32>
  return %0 : vector<4xf32>
}
