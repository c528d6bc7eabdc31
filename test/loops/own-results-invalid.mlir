// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-own-results{copy=always})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-own-results' has no option 'copy'
func.func @nothing() {
  return
}
