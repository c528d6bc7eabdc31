// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-expand-copies{grain=1 grain=2})' 2>&1 | FileCheck %s

// CHECK: error: option 'grain' is given twice
func.func @nothing() {
  return
}
