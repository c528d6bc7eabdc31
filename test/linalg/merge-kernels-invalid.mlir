// RUN: not kc-opt %s --pass-pipeline='builtin.module(func.func(kc-merge-kernels))' 2>&1 | FileCheck %s

// Calls are all over the module.
// CHECK: error: {{.*}}kc-merge-kernels{{.*}}builtin.module
func.func @nothing() {
  return
}
