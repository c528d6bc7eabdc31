// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-expand-small-floats)' | FileCheck %s

// A widening conversion reads the byte and builds the bits of an f64; f32 holds it exactly.
// CHECK-LABEL: func.func @widen
// CHECK-SAME: (%[[X:.*]]: f8E5M2)
// CHECK: %[[B:.*]] = arith.bitcast %[[X]] : f8E5M2 to i8
// CHECK: arith.extui %[[B]] : i8 to i64
// CHECK: %[[D:.*]] = arith.bitcast %{{.*}} : i64 to f64
// CHECK: %[[R:.*]] = arith.truncf %[[D]] : f64 to f32
// CHECK: return %[[R]]
func.func @widen(%x: f8E5M2) -> f32 {
  %0 = arith.extf %x : f8E5M2 to f32
  return %0 : f32
}

// A narrowing one, on vectors, ends in the byte.
// CHECK-LABEL: func.func @narrow
// CHECK: arith.extf %{{.*}} : vector<4xf32> to vector<4xf64>
// CHECK: %[[B:.*]] = arith.trunci %{{.*}} : vector<4xi64> to vector<4xi8>
// CHECK: arith.bitcast %[[B]] : vector<4xi8> to vector<4xf8E4M3FN>
// CHECK-NOT: arith.truncf
func.func @narrow(%x: vector<4xf32>) -> vector<4xf8E4M3FN> {
  %0 = arith.truncf %x : vector<4xf32> to vector<4xf8E4M3FN>
  return %0 : vector<4xf8E4M3FN>
}

// Constants are bytes: 1.5 is 0x3E.
// CHECK-LABEL: func.func @constant
// CHECK: %[[C:.*]] = arith.constant 62 : i8
// CHECK: arith.bitcast %[[C]] : i8 to f8E5M2
func.func @constant() -> f8E5M2 {
  %0 = arith.constant 1.5 : f8E5M2
  return %0 : f8E5M2
}

// Other conversions are not touched.
// CHECK-LABEL: func.func @other
// CHECK-NEXT: arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT: return
func.func @other(%x: f32) -> bf16 {
  %0 = arith.truncf %x : f32 to bf16
  return %0 : bf16
}
