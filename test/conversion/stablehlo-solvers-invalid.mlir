// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-solvers{block=4})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-convert-stablehlo-solvers' has no option 'block' (it takes no options)
func.func @nothing() {
  return
}
