// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-permute-iterations{order=shuffled})' 2>&1 | FileCheck %s

// CHECK: error: {{.*}}order
func.func @nothing() {
  return
}
