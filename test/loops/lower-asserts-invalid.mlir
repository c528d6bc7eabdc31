// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-lower-asserts{mode=keep})' 2>&1 | FileCheck %s

// The pass takes no options.
// CHECK: error: pass 'kc-lower-asserts' has no option 'mode'
func.func @nothing() {
  return
}
