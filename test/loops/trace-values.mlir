// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-trace-values)' --split-input-file | FileCheck %s

// Every number is told of, with the number of its node; a load is made of its index, a store of all that it is given.
// CHECK: module attributes {kc.nodes =
// CHECK-SAME: \22op\22: \22memref.load\22
// CHECK-SAME: \22op\22: \22arith.addf\22{{.*}}\22sources\22: [0]
// CHECK-SAME: \22op\22: \22memref.store\22{{.*}}\22sources\22: [1]
// CHECK-LABEL: func.func @straight
// CHECK: %[[V:.*]] = memref.load {{.*}} {kc.node = 0 : i64}
// CHECK: %[[B:.*]] = arith.bitcast %[[V]] : f32 to i32
// CHECK: %[[W:.*]] = arith.extui %[[B]] : i32 to i64
// CHECK: call @kc_shadow_value(%{{.*}}, %[[W]])
// CHECK: arith.addf {{.*}} {kc.node = 1 : i64}
// CHECK: %[[C:.*]] = call @kc_shadow_choose
// CHECK: %[[T:.*]] = arith.trunci %[[C]] : i64 to i32
// CHECK: %[[S:.*]] = arith.bitcast %[[T]] : i32 to f32
// CHECK: memref.store %[[S]], {{.*}} {kc.node = 2 : i64}
func.func @straight(%m: memref<?xf32>, %i: index) {
  %v = memref.load %m[%i] : memref<?xf32>
  %s = arith.addf %v, %v : f32
  memref.store %s, %m[%i] : memref<?xf32>
  return
}

// -----

// What goes round in a loop is made of what it starts with and what is handed on; the loop tells how it counts.
// CHECK: module attributes {kc.nodes =
// CHECK-SAME: \22op\22: \22arith.mulf\22{{.*}}\22sources\22: [0], \22control\22: [3]
// CHECK-SAME: \22returned\22: {{\[\[}}0, 1, 2, 4]]
// CHECK-LABEL: func.func @main
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args
// CHECK: arith.index_cast %[[I]] : index to i64
// CHECK: func.call @kc_shadow_value
// CHECK: arith.mulf
// CHECK: func.call @kc_shadow_choose
func.func @main(%n: index, %x: f32) -> f32 {
  %start = arith.negf %x : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> (f32) {
    %p = arith.mulf %a, %x : f32
    scf.yield %p : f32
  }
  return %r : f32
}

// -----

// Lanes one after the other; the LLVM dialect in its own words.
// CHECK-LABEL: func.func @lanes
// CHECK: arith.addf {{.*}} : vector<2xf32>
// CHECK: vector.extract {{.*}}[0]
// CHECK: call @kc_shadow_choose
// CHECK: vector.insert {{.*}}[0]
// CHECK: vector.extract {{.*}}[1]
// CHECK: call @kc_shadow_choose
// CHECK: vector.insert {{.*}}[1]
func.func @lanes(%v: vector<2xf32>) -> vector<2xf32> {
  %s = arith.addf %v, %v : vector<2xf32>
  return %s : vector<2xf32>
}

// -----

// CHECK-LABEL: llvm.func @machine
// CHECK: llvm.load
// CHECK: llvm.bitcast {{.*}} : f32 to i32
// CHECK: llvm.zext
// CHECK: llvm.call @kc_shadow_value
llvm.func @machine(%p: !llvm.ptr) -> f32 {
  %v = llvm.load %p : !llvm.ptr -> f32
  llvm.return %v : f32
}
