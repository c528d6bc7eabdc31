// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-plan-memory{alignment=48})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-plan-memory': alignment must be a power of two
func.func @nothing() {
  return
}
