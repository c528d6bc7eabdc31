// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-legalize-half-casts)' | FileCheck %s

// An f64 becomes the f32 that rounds to the half type as it does itself: towards zero, the last bit set unless exact.
// CHECK-LABEL: func.func @from_f64
// CHECK-SAME: (%[[X:.*]]: f64)
func.func @from_f64(%x: f64) -> bf16 {
  // CHECK: %[[NEAR:.*]] = arith.truncf %[[X]] : f64 to f32
  // CHECK: %[[BACK:.*]] = arith.extf %[[NEAR]] : f32 to f64
  // CHECK: arith.cmpf ogt
  // CHECK: arith.ori
  // CHECK: arith.cmpf ueq, %[[BACK]], %[[X]]
  // CHECK: %[[ODD:.*]] = arith.select
  // CHECK: %[[R:.*]] = arith.truncf %[[ODD]] : f32 to bf16
  // CHECK: return %[[R]]
  %0 = arith.truncf %x : f64 to bf16
  return %0 : bf16
}

// f32 holds integers of 16 bits, f64 those of 32.
// CHECK-LABEL: func.func @from_integers
// CHECK-SAME: (%[[A:.*]]: i16, %[[B:.*]]: i32)
func.func @from_integers(%a: i16, %b: i32) -> (f16, f16) {
  // CHECK: %[[A32:.*]] = arith.sitofp %[[A]] : i16 to f32
  // CHECK: arith.truncf %[[A32]] : f32 to f16
  // CHECK: %[[B64:.*]] = arith.uitofp %[[B]] : i32 to f64
  // CHECK: arith.truncf %[[B64]] : f64 to f32
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  %0 = arith.sitofp %a : i16 to f16
  %1 = arith.uitofp %b : i32 to f16
  return %0, %1 : f16, f16
}

// In the body of an op as well.
// CHECK-LABEL: func.func @body
func.func @body(%x: tensor<4xi64>, %e: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK: linalg.generic
  // CHECK: arith.sitofp %{{.*}} : i64 to f64
  // CHECK: arith.truncf %{{.*}} : f32 to bf16
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                       iterator_types = ["parallel"]} ins(%x : tensor<4xi64>) outs(%e : tensor<4xbf16>) {
  ^bb0(%v: i64, %o: bf16):
    %1 = arith.sitofp %v : i64 to bf16
    linalg.yield %1 : bf16
  } -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// What is exact, and what comes from f32, stays.
// CHECK-LABEL: func.func @keep
// CHECK-NEXT: arith.sitofp %{{.*}} : i8 to bf16
// CHECK-NEXT: arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT: arith.sitofp %{{.*}} : i64 to f32
// CHECK-NEXT: return
func.func @keep(%a: i8, %b: f32, %c: i64) -> (bf16, f16, f32) {
  %0 = arith.sitofp %a : i8 to bf16
  %1 = arith.truncf %b : f32 to f16
  %2 = arith.sitofp %c : i64 to f32
  return %0, %1, %2 : bf16, f16, f32
}
