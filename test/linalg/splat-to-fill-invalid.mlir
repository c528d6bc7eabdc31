// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-splat-to-fill)' 2>&1 | FileCheck %s

// CHECK: error: {{.*}}kc-splat-to-fill{{.*}}func.func
func.func @nothing() {
  return
}
