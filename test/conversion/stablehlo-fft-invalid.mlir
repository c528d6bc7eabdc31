// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-fft{radix=2})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-convert-stablehlo-fft' has no option 'radix'
func.func @nothing() {
  return
}
