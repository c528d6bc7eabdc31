// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-gpu-merge-kernels)' --verify-diagnostics

// expected-error @+1 {{the module has a symbol @kernels already: choose another name with kc-gpu-merge-kernels{into=NAME}}}
module attributes {gpu.container_module} {
  func.func @kernels(%x: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>)
    return
  }
  gpu.module @m {
    gpu.func @k(%x: memref<4xf32>) kernel {
      gpu.return
    }
  }
}
