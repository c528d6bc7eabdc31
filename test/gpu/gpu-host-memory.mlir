// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-gpu-host-memory,canonicalize,cse)' --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @elements
// CHECK-SAME: (%[[X:.*]]: memref<4x8xf32>, %[[P:.*]]: memref<4xi1, strided<[?], offset: ?>>)
// CHECK: %[[F32:.*]] = memref.alloca() : memref<f32>
// CHECK: %[[I1:.*]] = memref.alloca() : memref<i1>
// The element at [2] of a strided buffer: 1 byte from base + offset + 2 * stride.
// CHECK: %{{.*}}, %[[OFFSET:.*]], %{{.*}}, %[[STRIDE:.*]] = memref.extract_strided_metadata %[[P]]
// CHECK: %[[STEP:.*]] = arith.muli %[[STRIDE]], %c2
// CHECK: %[[AT:.*]] = arith.addi %[[OFFSET]], %[[STEP]]
// CHECK: %[[BASE:.*]] = memref.extract_aligned_pointer_as_index %[[P]]
// CHECK: arith.addi %[[BASE]], %[[AT]]
// CHECK: llvm.call @kc_gpu_memcpy_d2h(%{{.*}}, %{{.*}}, %c1_i64)
// CHECK: %[[RESULT:.*]] = memref.load %[[I1]][]
// [1, 2] of 4 x 8 floats: 40 bytes in.
// CHECK: %[[XBASE:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: arith.addi %[[XBASE]], %c40
// CHECK: memref.store %{{.*}}, %[[F32]][]
// CHECK: llvm.call @kc_gpu_memcpy_h2d(%{{.*}}, %{{.*}}, %c4_i64)
// CHECK: return %[[RESULT]]
// CHECK: llvm.func @kc_gpu_memcpy_d2h(!llvm.ptr, !llvm.ptr, i64)
func.func @elements(%x: memref<4x8xf32>, %p: memref<4xi1, strided<[?], offset: ?>>) -> i1 {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %v = arith.constant 3.0 : f32
  %r = memref.load %p[%c2] : memref<4xi1, strided<[?], offset: ?>>
  memref.store %v, %x[%c1, %c2] : memref<4x8xf32>
  return %r : i1
}

// -----

// Stack slots are the host's; loads inside a kernel are the kernel's.
// CHECK-LABEL: func.func @left_alone
// CHECK-NOT: llvm.call
func.func @left_alone(%x: memref<4xf32>) -> f32 {
  %c1 = arith.constant 1 : index
  %v = arith.constant 3.0 : f32
  %slot = memref.alloca() : memref<4xf32>
  memref.store %v, %slot[%c1] : memref<4xf32>
  %r = memref.load %slot[%c1] : memref<4xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%nx = %c1, %ny = %c1, %nz = %c1) {
    memref.store %v, %x[%tx] : memref<4xf32>
    gpu.terminator
  }
  return %r : f32
}

// -----

// A copy is one call: bytes counted at run time, each end at its offset. A global goes to the device first.
// CHECK-LABEL: func.func @copies
// CHECK-SAME: (%[[A:.*]]: memref<?x3xbf16, strided<[3, 1], offset: ?>>, %[[B:.*]]: memref<?x3xbf16>, %[[T:.*]]: memref<2xf32>)
// CHECK: %[[G:.*]] = memref.get_global @table
// CHECK: %[[D:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2xf32>
// CHECK: llvm.call @kc_gpu_memcpy_h2d(%{{.*}}, %{{.*}}, %c8_i64)
// CHECK: %[[ROWS:.*]] = memref.dim %[[B]], %c0
// CHECK: %[[BYTES:.*]] = arith.muli %[[ROWS]], %c6
// CHECK: %[[SIZE:.*]] = arith.index_cast %[[BYTES]] : index to i64
// CHECK: llvm.call @kc_gpu_memcpy_d2d(%{{.*}}, %{{.*}}, %[[SIZE]])
// CHECK: llvm.call @kc_gpu_memcpy_d2d(%{{.*}}, %{{.*}}, %c8_i64)
memref.global "private" constant @table : memref<2xf32> = dense<[1.0, 2.0]>
func.func @copies(%a: memref<?x3xbf16, strided<[3, 1], offset: ?>>, %b: memref<?x3xbf16>, %t: memref<2xf32>) {
  %g = memref.get_global @table : memref<2xf32>
  memref.copy %a, %b : memref<?x3xbf16, strided<[3, 1], offset: ?>> to memref<?x3xbf16>
  memref.copy %g, %t : memref<2xf32> to memref<2xf32>
  return
}
