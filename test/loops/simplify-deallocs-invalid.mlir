// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-simplify-deallocs{all=true})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-simplify-deallocs' has no option 'all'
func.func @nothing() {
  return
}
