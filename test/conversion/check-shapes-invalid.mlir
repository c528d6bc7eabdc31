// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-check-shapes{strict=true})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-check-shapes' has no option 'strict' (it takes no options)
func.func @nothing() {
  return
}
