// RUN: kc lower %s --target=nvptx --to=gpu-host-values | FileCheck %s --check-prefix=VALUES
// RUN: kc lower %s --target=nvptx --to=gpu-schedule | FileCheck %s --check-prefix=SCHEDULE
// RUN: kc lower %s --target=nvptx --to=gpu-bufferize | FileCheck %s --check-prefix=BUFFERS
// RUN: kc lower %s --target=nvptx --to=gpu-map | FileCheck %s --check-prefix=MAP
// RUN: kc lower %s --target=nvptx --to=gpu-outline | FileCheck %s --check-prefix=OUTLINE
// RUN: kc lower %s --target=nvptx --to=gpu-device | FileCheck %s --check-prefix=DEVICE
// RUN: kc lower %s --target=nvptx --to=gpu-host | FileCheck %s --check-prefix=HOST

// A loop of two kernels per turn: a map that a schedule fits, and a gather that none does.

// The counter becomes a scalar, the loop counts, the table a parameter.
// VALUES-LABEL: func.func public @main
// VALUES-SAME: %{{.*}}: tensor<4xi32> {kc.param = 0 : i64}
// VALUES: scf.for
// VALUES-NOT: scf.while

// The kernel gets an implementation beside its linalg body.
// SCHEDULE-DAG: gpu.module @main_k0_device
// SCHEDULE-DAG: kc.impl = @main_k0__impl

// No tensors; results are buffers of their own.
// BUFFERS-LABEL: func.func public @main
// BUFFERS-NOT: tensor<
// BUFFERS: memref.alloc

// The schedule's kernel is launched, the rest is mapped.
// MAP-LABEL: func.func public @main
// MAP: scf.for
// MAP-DAG: gpu.launch_func
// MAP-DAG: gpu.launch blocks
// MAP: llvm.func @kc_gpu_memcpy_

// OUTLINE: gpu.module @kernels
// OUTLINE: gpu.func @main_0
// OUTLINE: func.func public @main
// OUTLINE-NOT: gpu.launch blocks

// DEVICE: gpu.module @kernels
// DEVICE: llvm.func @main_0({{.*}} attributes {{.*}}nvvm.kernel
// DEVICE: nvvm.read.ptx.sreg.tid.x
// DEVICE-NOT: gpu.func

// HOST: kc.kernels = [
// HOST: llvm.func @kc_entry_main(%{{.*}}: !llvm.ptr)
// HOST: llvm.call @kc_gpu_launch
func.func public @main(%x: tensor<512xf32>, %at: tensor<512x1xi32>) -> tensor<512xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %table = stablehlo.constant dense<[3, 1, 4, 2]> : tensor<4xi32>
  %n = stablehlo.constant dense<4> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c0, %a = %x) : tensor<i32>, tensor<512xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %c1 : tensor<i32>
    %t = stablehlo.dynamic_slice %table, %i, sizes = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<1xi32>
    %f = stablehlo.convert %t : (tensor<1xi32>) -> tensor<1xf32>
    %s = stablehlo.broadcast_in_dim %f, dims = [0] : (tensor<1xf32>) -> tensor<512xf32>
    %b = stablehlo.multiply %a, %s : tensor<512xf32>
    %c = "stablehlo.gather"(%b, %at) {
      dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1>
    } : (tensor<512xf32>, tensor<512x1xi32>) -> tensor<512xf32>
    stablehlo.return %j, %c : tensor<i32>, tensor<512xf32>
  }
  return %r#1 : tensor<512xf32>
}
