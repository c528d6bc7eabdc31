// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-legalize-quantized{bits=4})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-legalize-quantized' has no option 'bits' (it takes no options)
func.func @nothing() {
  return
}
