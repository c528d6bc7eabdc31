// RUN: not kc-opt %s --pass-pipeline='builtin.module(func.func(kc-mark-entry-points))' 2>&1 | FileCheck %s

// The pass works on modules.
// CHECK: error: {{.*}}kc-mark-entry-points{{.*}}builtin.module
func.func @nothing() {
  return
}
