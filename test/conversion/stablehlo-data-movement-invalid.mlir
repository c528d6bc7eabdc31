// RUN: not kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-data-movement{to=i8})' 2>&1 | FileCheck %s

// CHECK: error: pass 'kc-convert-stablehlo-data-movement' has no option 'to'
func.func @nothing() {
  return
}
