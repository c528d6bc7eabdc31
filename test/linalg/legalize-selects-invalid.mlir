// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-legalize-selects{strict=true})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-legalize-selects' has no option 'strict' (it takes no options)
func.func @nothing() {
  return
}
