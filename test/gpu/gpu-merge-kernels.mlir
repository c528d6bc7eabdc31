// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-gpu-merge-kernels)' | FileCheck %s

// The first two kernels are equal but for their names. A module of a schedule stays as it is.
// CHECK: gpu.module @kernels {
// CHECK: gpu.func @main_0(%{{.*}}: memref<4xf32>) kernel
// CHECK: gpu.func @main_1(%{{.*}}: memref<4xf32>) kernel
// CHECK-NOT: gpu.func
// CHECK: func.func @main
// CHECK: gpu.launch_func @kernels::@main_0
// CHECK: gpu.launch_func @kernels::@main_0
// CHECK: gpu.launch_func @kernels::@main_1
// CHECK: gpu.launch_func @scheduled::@k
// CHECK: func.func @second
// CHECK: gpu.launch_func @kernels::@main_1
// CHECK-NOT: gpu.module @main_kernel
// CHECK: gpu.module @scheduled
// CHECK: llvm.func @k
module attributes {gpu.container_module} {
  func.func @main(%x: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @main_kernel::@main_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    gpu.launch_func @main_kernel_0::@same blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    gpu.launch_func @main_kernel_1::@main_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    gpu.launch_func @scheduled::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  func.func @second(%x: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @second_kernel::@second_kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    return
  }
  gpu.module @main_kernel {
    gpu.func @main_kernel(%x: memref<4xf32>) kernel {
      %v = arith.constant 1.0 : f32
      %t = gpu.thread_id x
      memref.store %v, %x[%t] : memref<4xf32>
      gpu.return
    }
  }
  gpu.module @main_kernel_0 {
    gpu.func @same(%x: memref<4xf32>) kernel {
      %v = arith.constant 1.0 : f32
      %t = gpu.thread_id x
      memref.store %v, %x[%t] : memref<4xf32>
      gpu.return
    }
  }
  gpu.module @main_kernel_1 {
    gpu.func @main_kernel(%x: memref<4xf32>) kernel {
      %v = arith.constant 2.0 : f32
      %t = gpu.thread_id x
      memref.store %v, %x[%t] : memref<4xf32>
      gpu.return
    }
  }
  gpu.module @second_kernel {
    gpu.func @second_kernel(%x: memref<4xf32>) kernel {
      %v = arith.constant 2.0 : f32
      %t = gpu.thread_id x
      memref.store %v, %x[%t] : memref<4xf32>
      gpu.return
    }
  }
  gpu.module @scheduled {
    llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
}
