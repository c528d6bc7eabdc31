// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-gpu-launch)' --split-input-file --verify-diagnostics

module attributes {gpu.container_module} {
  func.func @asynchronous() {
    %c1 = arith.constant 1 : index
    %t = gpu.wait async
    // expected-error @+1 {{asynchronous launches are not converted: kc runs one stream, in order}}
    %u = gpu.launch_func async [%t] @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  gpu.module @m {
    gpu.func @k() kernel {
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  func.func @unranked(%x: memref<*xf32>) {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{a kernel argument of type memref<*xf32> cannot be passed}}
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<*xf32>)
    return
  }
  gpu.module @m {
    gpu.func @k(%x: memref<*xf32>) kernel {
      gpu.return
    }
  }
}
