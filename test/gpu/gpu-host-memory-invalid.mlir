// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-gpu-host-memory)' --verify-diagnostics

func.func @strided(%a: memref<8x4xf32, strided<[1, 8]>>, %b: memref<8x4xf32>) {
  // expected-error @+1 {{a copy of a buffer that is not contiguous: run kc-convert-linalg-to-gpu before kc-gpu-host-memory}}
  memref.copy %a, %b : memref<8x4xf32, strided<[1, 8]>> to memref<8x4xf32>
  return
}
