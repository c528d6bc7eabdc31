// RUN: kc-opt %s --split-input-file --pass-pipeline='builtin.module(kc-schedule-nvptx)' | FileCheck %s
// RUN: kc-opt %s --split-input-file --pass-pipeline='builtin.module(kc-schedule-nvptx,kc-expand-launches)' | FileCheck %s --check-prefix=LAUNCH

// An elementwise kernel: a flat grid, eight bf16 (16 bytes) a thread; the bias is found by dividing the element's number.

// CHECK-LABEL: func.func private @map(
// CHECK-SAME: kc.impl = @map__impl
// CHECK: gpu.module @map_device
// CHECK: llvm.func @map_kernel(%{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr<1> {llvm.noalias}) attributes {gpu.kernel
// CHECK: arith.divui
// CHECK: llvm.load {{.*}} invariant {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: llvm.intr.maximum
// CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK: func.func private @map__impl(%{{.*}}: memref<64x256xbf16>, %{{.*}}: memref<256xbf16>, %{{.*}}: memref<64x256xbf16>)
// CHECK-SAME: kc.impl
// CHECK: call @map__launch
// CHECK: func.func private @map__launch({{.*}}) attributes {kc.launch = @map_device::@map_kernel}

// LAUNCH-LABEL: func.func private @map__impl
// LAUNCH: gpu.launch_func @map_device::@map_kernel

func.func private @map(%x: tensor<64x256xbf16>, %b: tensor<256xbf16>, %out: tensor<64x256xbf16>) -> tensor<64x256xbf16>
    attributes {kc.kernel, kc.kind = "map"} {
  %zero = arith.constant 0.0 : bf16
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<64x256xbf16>, tensor<256xbf16>) outs(%out : tensor<64x256xbf16>) {
  ^bb0(%a: bf16, %c: bf16, %o: bf16):
    %s = arith.addf %a, %c : bf16
    %m = arith.maximumf %s, %zero : bf16
    linalg.yield %m : bf16
  } -> tensor<64x256xbf16>
  return %r : tensor<64x256xbf16>
}

// -----

// A reduction along rows of run-time number: shuffles, one slot of shared memory a warp, no launch for no rows.

// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: kc.impl = @rows__impl
// CHECK: llvm.func @rows_kernel(%{{.*}}: !llvm.ptr<1> {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr<1> {llvm.noalias}, %{{.*}}: i64)
// CHECK-COUNT-5: nvvm.shfl.sync bfly
// CHECK: nvvm.barrier
// CHECK: func.func private @rows__impl(%{{.*}}: memref<?x1024xf32>, %{{.*}}: memref<?xf32>)
// CHECK: memref.dim
// CHECK: scf.if
// CHECK: call @rows__launch

func.func private @rows(%x: tensor<?x1024xf32>, %out: tensor<?xf32>) -> tensor<?xf32>
    attributes {kc.kernel, kc.kind = "rows"} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<?x1024xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  return %r : tensor<?xf32>
}

// -----

// f32 does not go to the tensor cores: no rounding that nobody asked for.

// CHECK-LABEL: func.func private @product_f32(
// CHECK-NOT: nvvm.wgmma
// CHECK: nvvm.barrier
// CHECK: func.func private @product_f32__impl

func.func private @product_f32(%a: tensor<100x60xf32>, %b: tensor<60x90xf32>, %out: tensor<100x90xf32>) -> tensor<100x90xf32>
    attributes {kc.kernel, kc.kind = "contraction"} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<100x90xf32>) -> tensor<100x90xf32>
  %r = linalg.matmul ins(%a, %b : tensor<100x60xf32>, tensor<60x90xf32>) outs(%f : tensor<100x90xf32>) -> tensor<100x90xf32>
  return %r : tensor<100x90xf32>
}

// -----

// bf16 with f32 accumulation: a persistent kernel with three tensor maps, 128x256 tiles, wgmma, bulk stores.

// CHECK-LABEL: func.func private @product_bf16(
// CHECK: llvm.func @product_bf16_kernel(%{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
// CHECK: nvvm.setmaxregister decrease 24
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: nvvm.setmaxregister increase 240
// CHECK-COUNT-4: nvvm.wgmma.mma_async
// CHECK: nvvm.stmatrix
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK: func.func private @product_bf16__impl
// CHECK-COUNT-3: call @kc_gpu_tensor_map_encode
// CHECK: call @product_bf16__launch
// CHECK: func.func private @kc_gpu_tensor_map_encode

func.func private @product_bf16(%a: tensor<4096x512xbf16>, %b: tensor<512x4096xbf16>, %out: tensor<4096x4096xbf16>)
    -> tensor<4096x4096xbf16> attributes {kc.kernel, kc.kind = "contraction"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %p = linalg.matmul ins(%a, %b : tensor<4096x512xbf16>, tensor<512x4096xbf16>) outs(%f : tensor<4096x4096xf32>)
      -> tensor<4096x4096xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4096x4096xf32>) outs(%out : tensor<4096x4096xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4096x4096xbf16>
  return %r : tensor<4096x4096xbf16>
}

// -----

// A whole-tensor sum: pieces side by side, then the fold of the pieces, through a temporary.

// CHECK-LABEL: func.func private @sum(
// CHECK: gpu.module @sum_pieces_device
// CHECK: gpu.module @sum_fold_device
// CHECK: func.func private @sum__impl
// CHECK: memref.alloc() : memref<512xf32>
// CHECK: call @sum_pieces__impl
// CHECK: call @sum_fold__impl

func.func private @sum(%x: tensor<4194304xf32>, %out: tensor<f32>) -> tensor<f32>
    attributes {kc.kernel, kc.kind = "rows"} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<f32>) -> tensor<f32>
  %r = linalg.reduce {arith.addf} ins(%x : tensor<4194304xf32>) outs(%f : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}
