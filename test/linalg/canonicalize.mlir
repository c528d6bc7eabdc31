// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-canonicalize)' | FileCheck %s
// RUN: kc-opt %s --pass-pipeline='builtin.module(func.func(kc-canonicalize))' | FileCheck %s
// RUN: kc-opt %s --pass-pipeline='builtin.module(canonicalize)' | FileCheck %s --check-prefix=UPSTREAM

// Both roundings stay, those of vectors too; a conversion that is exact is upstream's to simplify.
// CHECK-LABEL: func.func @twice
// CHECK-SAME: (%[[X:.*]]: i64, %[[Y:.*]]: i32, %[[Z:.*]]: vector<4xi32>)
// UPSTREAM-LABEL: func.func @twice
func.func @twice(%x: i64, %y: i32, %z: vector<4xi32>) -> (f32, bf16, vector<4xbf16>) {
  // CHECK: %[[A:.*]] = arith.sitofp %[[X]] : i64 to f64
  // CHECK: %[[B:.*]] = arith.truncf %[[A]] : f64 to f32
  // CHECK: %[[C:.*]] = arith.uitofp %[[Y]] : i32 to f32
  // CHECK: %[[D:.*]] = arith.truncf %[[C]] : f32 to bf16
  // CHECK: %[[E:.*]] = arith.sitofp %[[Z]] : vector<4xi32> to vector<4xf32>
  // CHECK: %[[F:.*]] = arith.truncf %[[E]] : vector<4xf32> to vector<4xbf16>
  // CHECK: return %[[B]], %[[D]], %[[F]]
  // UPSTREAM-NOT: arith.truncf
  %0 = arith.sitofp %x : i64 to f64
  %1 = arith.truncf %0 : f64 to f32
  %2 = arith.uitofp %y : i32 to f32
  %3 = arith.truncf %2 : f32 to bf16
  %4 = arith.sitofp %z : vector<4xi32> to vector<4xf32>
  %5 = arith.truncf %4 : vector<4xf32> to vector<4xbf16>
  return %1, %3, %5 : f32, bf16, vector<4xbf16>
}

// The other patterns and the folds are there.
// CHECK-LABEL: func.func @others
// CHECK-SAME: (%[[X:.*]]: f32, %[[N:.*]]: i32)
// CHECK-NEXT: return %[[X]], %[[N]]
func.func @others(%x: f32, %n: i32) -> (f32, i32) {
  %zero = arith.constant 0 : i32
  %0 = arith.extf %x : f32 to f64
  %1 = arith.truncf %0 : f64 to f32
  %2 = arith.addi %n, %zero : i32
  return %1, %2 : f32, i32
}
