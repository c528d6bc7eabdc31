// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-fold-float-constants)' | FileCheck %s

// Rounded to nearest even in one step, for every narrower type; infinities and NaN stay what they are.
// CHECK-LABEL: func.func @narrow
func.func @narrow() -> (f32, bf16, f16, f32, f32) {
  // CHECK-DAG: %[[A:.*]] = arith.constant 9.99999974E-6 : f32
  // CHECK-DAG: %[[B:.*]] = arith.constant 1.015630e+00 : bf16
  // CHECK-DAG: %[[C:.*]] = arith.constant 0x7C00 : f16
  // CHECK-DAG: %[[D:.*]] = arith.constant 0xFF800000 : f32
  // CHECK-DAG: %[[E:.*]] = arith.constant 0x7FC00000 : f32
  // CHECK: return %[[A]], %[[B]], %[[C]], %[[D]], %[[E]]
  %eps = arith.constant 1.0e-05 : f64
  %tie = arith.constant 1.01171875 : f32
  %big = arith.constant 1.0e+05 : f32
  %inf = arith.constant 0xFFF0000000000000 : f64
  %nan = arith.constant 0x7FF8000000000000 : f64
  %0 = arith.truncf %eps : f64 to f32
  %1 = arith.truncf %tie : f32 to bf16
  %2 = arith.truncf %big : f32 to f16
  %3 = arith.truncf %inf : f64 to f32
  %4 = arith.truncf %nan : f64 to f32
  return %0, %1, %2, %3, %4 : f32, bf16, f16, f32, f32
}

// A value that is not constant is left alone, and so is a rounding mode.
// CHECK-LABEL: func.func @keep
// CHECK: arith.truncf %{{.*}} : f64 to f32
func.func @keep(%x: f64) -> f32 {
  %0 = arith.truncf %x : f64 to f32
  return %0 : f32
}
