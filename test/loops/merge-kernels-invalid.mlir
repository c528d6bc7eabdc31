// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-merge-kernels{by=hash})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-merge-kernels' has no option 'by' (it takes no options)
func.func @nothing() {
  return
}
