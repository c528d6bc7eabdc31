// RUN: kc-opt %s --verify-level=linalg | FileCheck %s
// RUN: not kc-opt %s --verify-level=llvm 2>&1 | FileCheck %s --check-prefix=LLVM

// What a schedule builds beside a kernel is checked as code of the gpu level, while the kernel itself stands at linalg.
// CHECK: func.func private @k__impl
// LLVM: error: {{.*}}is illegal at level 'llvm'
func.func private @k(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> attributes {kc.kernel, kc.impl = @k__impl} {
  %c = linalg.copy ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}
func.func private @k__impl(%x: memref<4xf32>, %out: memref<4xf32>) attributes {kc.impl} {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<4xf32>
  memref.store %v, %out[%c0] : memref<4xf32>
  return
}
gpu.module @k_device {
  llvm.func @k_kernel() attributes {gpu.kernel, nvvm.kernel} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    llvm.return
  }
}
