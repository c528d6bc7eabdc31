// RUN: kc-opt %s --pass-pipeline='builtin.module(func.func(kc-convert-linalg-to-gpu))' --split-input-file --verify-diagnostics
// RUN: not kc-opt %s --pass-pipeline='builtin.module(func.func(kc-convert-linalg-to-gpu{block=100}))' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-convert-linalg-to-gpu': block must be a power of two from 32 to 1024

func.func @named(%x: memref<4x5xf32>, %y: memref<5x6xf32>, %z: memref<4x6xf32>) {
  // expected-error @+1 {{'linalg.matmul' is not in generic form: run linalg-generalize-named-ops before kc-convert-linalg-to-gpu}}
  linalg.matmul ins(%x, %y : memref<4x5xf32>, memref<5x6xf32>) outs(%z : memref<4x6xf32>)
  return
}

// -----

func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{this linalg op is still on tensors: run one-shot-bufferize first}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%x : tensor<4xf32>) {
  ^bb0(%a: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The combiner is not one of the known associative ops, so the long reduction is serial; the user is told.
func.func @serial(%x: memref<1000xf32>, %y: memref<f32>) {
  // expected-remark @+1 {{one thread per output does this reduction: its combiner has no known tree form}}
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<1000xf32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.subf %a, %out : f32
    linalg.yield %s : f32
  }
  return
}
