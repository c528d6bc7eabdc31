// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-widen-accumulation{to=f64})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-widen-accumulation' has no option 'to' (it takes no options)
func.func @nothing() {
  return
}
