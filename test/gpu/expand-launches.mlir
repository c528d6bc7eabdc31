// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-expand-launches)' | FileCheck %s

// CHECK-NOT: @k__launch
// CHECK: func.func private @k__impl(%[[P:.*]]: !llvm.ptr)
// CHECK: %[[N:.*]] = arith.constant 7 : index
// CHECK: %[[T:.*]] = arith.constant 128 : index
// CHECK: %[[S:.*]] = arith.constant 64 : i32
// CHECK: gpu.launch_func @k_device::@k_kernel blocks in (%[[N]], %{{.*}}, %{{.*}}) threads in (%[[T]], %{{.*}}, %{{.*}}) dynamic_shared_memory_size %[[S]] args(%[[P]] : !llvm.ptr)
// CHECK-NOT: call

module attributes {gpu.container_module} {
  gpu.module @k_device {
    llvm.func @k_kernel(%p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  func.func private @k__launch(index, index, index, index, index, index, i32, !llvm.ptr)
      attributes {kc.launch = @k_device::@k_kernel}
  func.func private @k__impl(%p: !llvm.ptr) attributes {kc.impl} {
    %n = arith.constant 7 : index
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    %bytes = arith.constant 64 : i32
    call @k__launch(%n, %one, %one, %threads, %one, %one, %bytes, %p)
        : (index, index, index, index, index, index, i32, !llvm.ptr) -> ()
    return
  }
}
