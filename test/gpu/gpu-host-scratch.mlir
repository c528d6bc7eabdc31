// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-gpu-host-scratch)' | FileCheck %s

// What dealloc_helper is called with is host memory, even in a loop; other buffers are the device's.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[FLAGS:.*]] = memref.alloca() : memref<2xi1>
// CHECK-NEXT: %[[ADDRESSES:.*]] = memref.alloca() : memref<2xindex>
// CHECK: %[[X:.*]] = memref.alloc() : memref<8xf32>
// CHECK: scf.for
// CHECK-NOT: memref.alloc
// CHECK: %[[A:.*]] = memref.cast %[[ADDRESSES]]
// CHECK: %[[F:.*]] = memref.cast %[[FLAGS]]
// CHECK: func.call @dealloc_helper(%[[A]], %[[F]])
// CHECK-NOT: memref.dealloc
// CHECK: }
// CHECK: memref.dealloc %[[X]]
func.func private @dealloc_helper(%a: memref<?xindex>, %f: memref<?xi1>) {
  return
}
func.func @main(%c0: index, %n: index, %c1: index) {
  %x = memref.alloc() : memref<8xf32>
  scf.for %i = %c0 to %n step %c1 {
    %addresses = memref.alloc() : memref<2xindex>
    %flags = memref.alloc() : memref<2xi1>
    %a = memref.cast %addresses : memref<2xindex> to memref<?xindex>
    %f = memref.cast %flags : memref<2xi1> to memref<?xi1>
    func.call @dealloc_helper(%a, %f) : (memref<?xindex>, memref<?xi1>) -> ()
    memref.dealloc %addresses : memref<2xindex>
    memref.dealloc %flags : memref<2xi1>
  }
  memref.dealloc %x : memref<8xf32>
  return
}
