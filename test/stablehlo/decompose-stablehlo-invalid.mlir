// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-decompose-stablehlo{to=f64})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-decompose-stablehlo' has no option 'to' (it takes no options)
func.func @nothing() {
  return
}
