// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-guard-divisions{zero=1})' 2>&1 | FileCheck %s

// The pass takes no options.
// CHECK: error: pass 'kc-guard-divisions' has no option 'zero'
func.func @nothing() {
  return
}
