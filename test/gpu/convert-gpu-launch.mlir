// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-gpu-launch,canonicalize,cse)' | FileCheck %s

// The table is in the order of the device modules; sizes are the largest that a launch asks for.
// CHECK: module attributes {kc.kernels = [
// CHECK-SAME: {module = "kernels", name = "first", shared = 0 : i64, threads = 256 : i64}
// CHECK-SAME: {module = "kernels", name = "second", shared = 0 : i64, threads = 64 : i64}
// CHECK-SAME: {module = "scheduled", name = "k", shared = 4096 : i64, threads = 384 : i64}
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: memref<?xf32>, %[[N:.*]]: index, %[[B:.*]]: i1, %[[MAP:.*]]: !llvm.ptr, %[[Z:.*]]: complex<f64>)
// The arrays are at the entry, as large as the largest launch needs: 5 fields of a memref, an index, an i1.
// CHECK: %[[SLOTS:.*]] = llvm.alloca %c7_i32 x i64
// CHECK: %[[POINTERS:.*]] = llvm.alloca %c7_i32 x !llvm.ptr
// CHECK: scf.for
// CHECK: llvm.store %{{.*}}, %[[SLOTS]] : !llvm.ptr, !llvm.ptr
// CHECK: llvm.store %[[SLOTS]], %[[POINTERS]] : !llvm.ptr, !llvm.ptr
// CHECK: %[[SLOT5:.*]] = llvm.getelementptr %[[SLOTS]][5]
// CHECK: llvm.store %{{.*}}, %[[SLOT5]] : i64, !llvm.ptr
// CHECK: %[[BYTE:.*]] = arith.extui %[[B]] : i1 to i8
// CHECK: %[[SLOT6:.*]] = llvm.getelementptr %[[SLOTS]][6]
// CHECK: llvm.store %[[BYTE]], %[[SLOT6]] : i8, !llvm.ptr
// CHECK: llvm.call @kc_gpu_launch(%c0_i64, %{{.*}}, %c1_i64, %c1_i64, %c256_i64, %c1_i64, %c1_i64, %c0_i64, %[[POINTERS]])
// A complex number is one parameter of two slots.
// CHECK: %[[RE:.*]] = complex.re %[[Z]]
// CHECK: %[[IM:.*]] = complex.im %[[Z]]
// CHECK: %[[SLOT1:.*]] = llvm.getelementptr %[[SLOTS]][1]
// CHECK: llvm.store %[[RE]], %[[SLOT1]] : f64, !llvm.ptr
// CHECK: %[[BEHIND:.*]] = llvm.getelementptr %[[SLOT1]][1] : (!llvm.ptr) -> !llvm.ptr, f64
// CHECK: llvm.store %[[IM]], %[[BEHIND]] : f64, !llvm.ptr
// CHECK: %[[POINTER1:.*]] = llvm.getelementptr %[[POINTERS]][1]
// CHECK: llvm.store %[[SLOT1]], %[[POINTER1]] : !llvm.ptr, !llvm.ptr
// CHECK: llvm.call @kc_gpu_launch(%c1_i64,
// A tensor map is passed by its own address, without a slot.
// CHECK: llvm.store %[[MAP]], %[[POINTERS]] : !llvm.ptr, !llvm.ptr
// CHECK: llvm.call @kc_gpu_launch(%c2_i64, %c1_i64, %c1_i64, %c1_i64, %c384_i64, %c1_i64, %c1_i64, %c4096_i64, %[[POINTERS]])
// CHECK: llvm.func @kc_gpu_launch(i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr)
module attributes {gpu.container_module} {
  func.func @main(%x: memref<?xf32>, %n: index, %b: i1, %map: !llvm.ptr, %z: complex<f64>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %c384 = arith.constant 384 : index
    %shared = arith.constant 4096 : i32
    scf.for %i = %c0 to %n step %c1 {
      gpu.launch_func @kernels::@first blocks in (%n, %c1, %c1) threads in (%c256, %c1, %c1) args(%x : memref<?xf32>, %i : index, %b : i1)
    }
    gpu.launch_func @kernels::@second blocks in (%n, %c1, %c1) threads in (%c64, %c1, %c1) args(%n : index, %z : complex<f64>)
    gpu.launch_func @scheduled::@k blocks in (%c1, %c1, %c1) threads in (%c384, %c1, %c1) dynamic_shared_memory_size %shared args(%map : !llvm.ptr, %n : index)
    return
  }
  gpu.module @kernels {
    gpu.func @first(%x: memref<?xf32>, %n: index, %b: i1) kernel {
      gpu.return
    }
    gpu.func @second(%n: index, %z: complex<f64>) kernel {
      gpu.return
    }
  }
  gpu.module @scheduled {
    llvm.func @helper() {
      llvm.return
    }
    llvm.func @k(%map: !llvm.ptr {llvm.byval = !llvm.array<16 x i64>, llvm.align = 64 : i64}, %n: i64) attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
}
