// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-size-teams{threads=4})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-size-teams' has no option 'threads' (it takes no options)
func.func @nothing() {
  return
}
