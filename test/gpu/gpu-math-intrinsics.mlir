// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-gpu-math-intrinsics,canonicalize,cse)' --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @named
// CHECK-SAME: (%[[X:.*]]: f32, %[[D:.*]]: f64, %[[H:.*]]: bf16, %[[I:.*]]: i32, %[[N:.*]]: index, %[[V:.*]]: vector<4xf32>)
// CHECK-DAG: llvm.call_intrinsic "llvm.sqrt.f32"(%[[X]]) : (f32) -> f32
// CHECK-DAG: llvm.call_intrinsic "llvm.fabs.f64"(%[[D]]) : (f64) -> f64
// CHECK-DAG: %[[WIDE:.*]] = arith.extf %[[H]] : bf16 to f32
// CHECK-DAG: %[[MAX:.*]] = llvm.call_intrinsic "llvm.maxnum.f32"(%[[WIDE]], %[[WIDE]])
// CHECK-DAG: arith.truncf %[[MAX]] : f32 to bf16
// CHECK-DAG: llvm.call_intrinsic "llvm.ctlz.i32"(%[[I]], %false)
// CHECK-DAG: %[[WORD:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK-DAG: llvm.call_intrinsic "llvm.ctpop.i64"(%[[WORD]])
// CHECK-DAG: llvm.call_intrinsic "llvm.fma.v4f32"(%[[V]], %[[V]], %[[V]])
func.func @named(%x: f32, %d: f64, %h: bf16, %i: i32, %n: index, %v: vector<4xf32>)
    -> (f32, f64, bf16, i32, index, vector<4xf32>) {
  %0 = math.sqrt %x : f32
  %1 = math.absf %d : f64
  %2 = arith.maxnumf %h, %h : bf16
  %3 = math.ctlz %i : i32
  %4 = math.ctpop %n : index
  %5 = math.fma %v, %v, %v : vector<4xf32>
  return %0, %1, %2, %3, %4, %5 : f32, f64, bf16, i32, index, vector<4xf32>
}

// -----

// Tests of values, without a library.
// CHECK-LABEL: func.func @tests
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
// CHECK: %[[ABS:.*]] = llvm.call_intrinsic "llvm.fabs.f32"(%[[X]])
// CHECK: %[[INF:.*]] = arith.cmpf oeq, %[[ABS]], %{{.*}} : f32
// CHECK: %[[FINITE:.*]] = arith.cmpf olt, %{{.*}}, %{{.*}} : f32
// CHECK: return %[[NAN]], %[[INF]], %[[FINITE]]
func.func @tests(%x: f32) -> (i1, i1, i1) {
  %0 = math.isnan %x : f32
  %1 = math.isinf %x : f32
  %2 = math.isfinite %x : f32
  return %0, %1, %2 : i1, i1, i1
}

// -----

// The remainder is formed bit by bit: as many steps as the exponents differ by.
// CHECK-LABEL: func.func @remainder
// CHECK-DAG: arith.bitcast %{{.*}} : f32 to i32
// CHECK: arith.remui
// CHECK: scf.for
// CHECK: arith.bitcast %{{.*}} : i32 to f32
// CHECK-NOT: arith.remf
func.func @remainder(%x: f32, %y: f32) -> f32 {
  %0 = arith.remf %x, %y : f32
  return %0 : f32
}
