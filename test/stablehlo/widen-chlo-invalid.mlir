// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-widen-chlo{to=f64})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-widen-chlo' has no option 'to' (it takes no options)
func.func @nothing() {
  return
}
