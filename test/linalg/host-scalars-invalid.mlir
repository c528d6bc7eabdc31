// RUN: not kc-opt %s --pass-pipeline='builtin.module(func.func(kc-host-scalars{all=true}))' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-host-scalars' has no option 'all' (it takes no options)
func.func @nothing() {
  return
}
