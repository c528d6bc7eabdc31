// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-expand-small-floats{bits=8})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-expand-small-floats' has no option 'bits' (it takes no options)
func.func @nothing() {
  return
}
