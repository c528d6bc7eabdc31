// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-legalize-arg-max{nan=first})' 2>&1 | FileCheck %s

// The pass takes no options.
// CHECK: error: pass 'kc-legalize-arg-max' has no option 'nan'
func.func @nothing() {
  return
}
