// RUN: not kc-opt %s --pass-pipeline='builtin.module(func.func(kc-uplift-while{signed}))' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-uplift-while' has no option 'signed' (it takes no options)
func.func @nothing() {
  return
}
