// RUN: not kc-opt %s --pass-pipeline='builtin.module(func.func(kc-gpu-host-scratch))' 2>&1 | FileCheck %s

// It needs the whole module: the allocations are in callers.
// CHECK: error: {{.*}}kc-gpu-host-scratch{{.*}}builtin.module
func.func @nothing() {
  return
}
