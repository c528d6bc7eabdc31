// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-simplify-deallocs)' | FileCheck %s

// Plain allocations are freed directly; what is owned only sometimes stays with its condition.
// CHECK-LABEL: func.func @plain
// CHECK: %[[A:.*]] = memref.alloc() : memref<4xf32>
// CHECK: %[[B:.*]] = memref.alloc() : memref<8xf32>
// CHECK: %[[C:.*]] = memref.alloc() : memref<8xf32>
// CHECK: memref.dealloc %[[A]]
// CHECK-NOT: memref.dealloc %[[B]]
// CHECK: bufferization.dealloc (%[[B]] : memref<8xf32>) if (%{{.*}}) retain (%[[C]] : memref<8xf32>)
func.func @plain(%owned: i1) -> memref<8xf32> {
  %true = arith.constant true
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<8xf32>
  %c = memref.alloc() : memref<8xf32>
  %r = bufferization.dealloc (%a, %b : memref<4xf32>, memref<8xf32>) if (%true, %owned) retain (%c : memref<8xf32>)
  return %c : memref<8xf32>
}

// A buffer that is kept and asked about, and one that something unknown may alias, are left alone.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: memref.dealloc
// CHECK: bufferization.dealloc (%{{.*}} : memref<8xf32>) if (%{{.*}}) retain (%{{.*}} : memref<8xf32>)
// CHECK-NOT: memref.dealloc
// CHECK: bufferization.dealloc (%{{.*}}, %{{.*}} : memref<8xf32>, memref<8xf32>)
// CHECK-NOT: memref.dealloc
func.func @kept(%p: i1, %x: memref<8xf32>) -> (memref<8xf32>, i1) {
  %true = arith.constant true
  %a = memref.alloc() : memref<8xf32>
  %r = bufferization.dealloc (%a : memref<8xf32>) if (%true) retain (%a : memref<8xf32>)
  %b = memref.alloc() : memref<8xf32>
  %s = arith.select %p, %b, %x : memref<8xf32>
  bufferization.dealloc (%b, %s : memref<8xf32>, memref<8xf32>) if (%true, %p)
  return %a, %r : memref<8xf32>, i1
}

// What is retained is not freed, and where nobody asks who owns it then, no op has to say so: a view of it neither.
// CHECK-LABEL: func.func @retained
// CHECK-NOT: bufferization.dealloc
// CHECK: memref.dealloc %{{.*}} : memref<4xf32>
// CHECK-NOT: dealloc
// CHECK: return
func.func @retained() -> (memref<8xf32>, memref<2xf32>) {
  %true = arith.constant true
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<4xf32>
  %c = memref.alloc() : memref<4x2xf32>
  %d = memref.collapse_shape %c [[0, 1]] : memref<4x2xf32> into memref<8xf32>
  %e = memref.alloc() : memref<2xf32>
  %r:2 = bufferization.dealloc (%a, %b, %c : memref<8xf32>, memref<4xf32>, memref<4x2xf32>) if (%true, %true, %true) retain (%a, %d : memref<8xf32>, memref<8xf32>)
  bufferization.dealloc (%e : memref<2xf32>) if (%true) retain (%e : memref<2xf32>)
  return %a, %e : memref<8xf32>, memref<2xf32>
}
