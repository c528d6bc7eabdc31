// RUN: not kc-opt %s --pass-pipeline='builtin.module(func.func(kc-convert-loops-to-gpu{block=warp}))' 2>&1 | FileCheck %s

// CHECK: error: option 'block' of 'kc-convert-loops-to-gpu' wants an integer, got 'warp'
func.func @nothing() {
  return
}
