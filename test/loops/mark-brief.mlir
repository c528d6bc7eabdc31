// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-mark-brief{limit=100})' --split-input-file | FileCheck %s
// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-mark-brief{limit=0})' --split-input-file | FileCheck %s --check-prefix=NONE
// NONE-NOT: kc.brief

// Work is counted through loops and calls: 20 runs of 3 ops are brief, of 6 they are not.
// CHECK-LABEL: func.func @main
// CHECK-SAME: attributes {kc.brief}
func.func @main(%x: memref<20xf32>, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c20 = arith.constant 20 : index
  scf.for %i = %c0 to %c20 step %c1 {
    func.call @short(%x, %i) : (memref<20xf32>, index) -> ()
    func.call @long(%x, %i) : (memref<20xf32>, index) -> ()
  }
  call @unknown(%x, %c20) : (memref<20xf32>, index) -> ()
  call @forever(%p) : (i1) -> ()
  call @straight(%x) : (memref<20xf32>) -> ()
  call @impl(%x) : (memref<20xf32>) -> ()
  return
}
// CHECK-LABEL: func.func private @short
// CHECK-SAME: attributes {kc.brief}
func.func private @short(%x: memref<20xf32>, %i: index) {
  %0 = memref.load %x[%i] : memref<20xf32>
  memref.store %0, %x[%i] : memref<20xf32>
  return
}
// CHECK-LABEL: func.func private @long
// CHECK-NOT: kc.brief
func.func private @long(%x: memref<20xf32>, %i: index) {
  %0 = memref.load %x[%i] : memref<20xf32>
  %1 = arith.addf %0, %0 : f32
  %2 = arith.addf %1, %0 : f32
  %3 = arith.addf %2, %0 : f32
  memref.store %3, %x[%i] : memref<20xf32>
  return
}
// A loop whose trips nothing tells.
// CHECK-LABEL: func.func private @unknown
// CHECK-NOT: kc.brief
func.func private @unknown(%x: memref<20xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<20xf32>
  }
  return
}
// CHECK-LABEL: func.func private @forever
// CHECK-NOT: kc.brief
func.func private @forever(%p: i1) {
  scf.while : () -> () {
    scf.condition(%p)
  } do {
    scf.yield
  }
  return
}
// Without loops a function is brief whatever its length.
// CHECK-LABEL: func.func private @straight
// CHECK-SAME: attributes {kc.brief}
func.func private @straight(%x: memref<20xf32>) {
  %c0 = arith.constant 0 : index
  %0 = memref.load %x[%c0] : memref<20xf32>
  return
}
// CHECK-LABEL: func.func private @impl
// CHECK-NOT: kc.brief
func.func private @impl(%x: memref<20xf32>) attributes {kc.impl} {
  return
}

// -----

// Functions that call each other: nothing is known.
// CHECK-LABEL: func.func @ping
// CHECK-NOT: kc.brief
func.func @ping() {
  call @pong() : () -> ()
  return
}
func.func private @pong() {
  call @ping() : () -> ()
  return
}
