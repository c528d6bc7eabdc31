// RUN: not kc-opt %s --pass-pipeline='builtin.module(func.func(kc-split-empty-tensor))' 2>&1 | FileCheck %s

// CHECK: error: {{.*}}'kc-split-empty-tensor'
// CHECK: kc-split-empty-tensors
func.func @nothing() {
  return
}
