// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-lower-size-checks{strict=true})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-lower-size-checks' has no option 'strict' (it takes no options)
func.func @nothing() {
  return
}
