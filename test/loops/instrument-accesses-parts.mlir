// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-instrument-accesses{partial=true},func.func(convert-linalg-to-loops),kc-instrument-accesses)' | FileCheck %s

// In parts: linalg is left for the second run, which leaves alone what the first has done.
// CHECK-LABEL: func.func @parts
// CHECK: call @kc_shadow_access
// CHECK-NEXT: memref.load {{.*}} {kc.watched}
// CHECK: scf.for
// CHECK: call @kc_shadow_access
// CHECK-NEXT: memref.store
func.func @parts(%m: memref<4xf32>, %i: index) -> f32 {
  %v = memref.load %m[%i] : memref<4xf32>
  linalg.fill ins(%v : f32) outs(%m : memref<4xf32>)
  return %v : f32
}
