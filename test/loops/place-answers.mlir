// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-place-answers)' --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK:         call @k(%arg0, %arg1)
func.func @main(%x: memref<4xf32>, %o: memref<4xf32>) {
  call @k(%x, %o) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}
// CHECK-NOT:   linalg.exp
// CHECK:       func.func private @k(%{{.*}}: memref<4xf32>, %{{.*}}: memref<4xf32>) attributes {kc.kernel}
// CHECK-NEXT:    memref.copy
func.func private @k(%x: memref<4xf32>, %o: memref<4xf32>) attributes {kc.kernel, kc.answer =
    "func.func @main(%x: memref<4xf32>, %o: memref<4xf32>) { memref.copy %x, %o : memref<4xf32> to memref<4xf32> return }"} {
  linalg.exp ins(%x : memref<4xf32>) outs(%o : memref<4xf32>)
  return
}

// -----

// Code that launches is left alone by what follows; names do not meet those of the program.

// CHECK:       module attributes {gpu.container_module}
// CHECK:       gpu.module @device
// CHECK:       gpu.module @k__device
// CHECK:       func.func private @k({{.*}}) attributes {kc.impl, no_inline}
// CHECK:         gpu.launch_func @k__device::@kernel
gpu.module @device {}
func.func private @k(%x: memref<4xf32>, %o: memref<4xf32>) attributes {kc.kernel, kc.answer =
    "module attributes {gpu.container_module} { gpu.module @device { gpu.func @kernel(%x: memref<4xf32>) kernel { gpu.return } } func.func @main(%x: memref<4xf32>, %o: memref<4xf32>) { %c1 = arith.constant 1 : index gpu.launch_func @device::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<4xf32>) return } }"} {
  return
}
