// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-expand-switches{strict=true})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-expand-switches' has no option 'strict' (it takes no options)
func.func @nothing() {
  return
}
