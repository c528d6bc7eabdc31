// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-schedule-nvptx{chip=sm_80})' | FileCheck %s

// Tensor-core schedules are for sm_90a; elsewhere a product of bf16 runs on the ordinary units, still summed in f32.

// CHECK-LABEL: func.func private @product(
// CHECK-SAME: kc.impl = @product__impl
// CHECK-NOT: nvvm.wgmma
// CHECK-NOT: kc_gpu_tensor_map_encode
// CHECK: scf.for {{.*}} -> ({{.*}}f32
// CHECK: func.func private @product__impl

func.func private @product(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %out: tensor<64x64xf32>) -> tensor<64x64xf32>
    attributes {kc.kernel, kc.kind = "contraction"} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
