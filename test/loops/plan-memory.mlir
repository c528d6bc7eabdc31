// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-plan-memory{report=true})' --split-input-file --verify-diagnostics | FileCheck %s

// Two buffers that never live at once have the same place; a third that lives beside both has its own.
// CHECK-LABEL: func.func @reuse
// CHECK-NEXT: %[[ARENA:.*]] = memref.alloc() {alignment = 64 : i64} : memref<256xi8>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK: %[[A:.*]] = memref.view %[[ARENA]][%[[C128]]][] : memref<256xi8> to memref<16xf32>
// CHECK: %[[C:.*]] = memref.view %[[ARENA]][%[[C0]]][] : memref<256xi8> to memref<32xf32>
// CHECK: %[[B:.*]] = memref.view %[[ARENA]][%[[C128]]][] : memref<256xi8> to memref<30xf32>
// CHECK: memref.dealloc %[[ARENA]]
// CHECK-NEXT: return
// expected-remark @+1 {{@reuse: 3 buffers, 312 bytes in all, at most 248 at a time, in an arena of 256 bytes}}
func.func @reuse(%v: f32) {
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : memref<16xf32>
  %c = memref.alloc() : memref<32xf32>
  memref.store %v, %a[%c0] : memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  %b = memref.alloc() : memref<30xf32>
  memref.store %v, %b[%c0] : memref<30xf32>
  memref.dealloc %b : memref<30xf32>
  memref.dealloc %c : memref<32xf32>
  return
}

// -----

// A buffer of a loop body is allocated once, before the loop, and does not overlap one that lives through the loop.
// CHECK-LABEL: func.func @loop
// CHECK-NEXT: memref.alloc() {alignment = 64 : i64} : memref<128xi8>
// CHECK: scf.for
// CHECK-NOT: memref.alloc
// CHECK: memref.view %{{.*}}[%{{.*}}][] : memref<128xi8> to memref<8xf32>
// CHECK-NOT: memref.dealloc
// CHECK: }
// CHECK: memref.dealloc
// expected-remark @+1 {{@loop: 2 buffers, 64 bytes in all, at most 64 at a time, in an arena of 128 bytes}}
func.func @loop(%v: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %outer = memref.alloc() : memref<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %t = memref.alloc() : memref<8xf32>
    memref.store %v, %t[%c0] : memref<8xf32>
    memref.dealloc %t : memref<8xf32>
  }
  memref.dealloc %outer : memref<8xf32>
  return
}

// -----

// What the function returns, what has a dynamic shape, what threads allocate and what has no bytes stays.
// CHECK-LABEL: func.func @stays
// CHECK-NOT: memref.view
// CHECK: scf.parallel
// CHECK: memref.alloc() : memref<8xf32>
func.func @stays(%n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = memref.alloc() : memref<4xf32>
  %d = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %d : memref<?xf32>
  %z = memref.alloc() : memref<0x4xf32>
  memref.dealloc %z : memref<0x4xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %t = memref.alloc() : memref<8xf32>
    memref.dealloc %t : memref<8xf32>
    scf.reduce
  }
  return %r : memref<4xf32>
}
