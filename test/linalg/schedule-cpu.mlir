// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-schedule-cpu)' --split-input-file | FileCheck %s
// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-schedule-cpu{parallel=false vector-bytes=64})' --split-input-file | FileCheck %s --check-prefix=WIDE

// An elementwise kernel: a flat loop of vectors, a masked rest, and the kernel names its implementation.
// CHECK-LABEL: func.func private @relu(
// CHECK-SAME: kc.impl = @relu__impl
// CHECK: func.func private @relu__chunk(%[[X:.*]]: memref<?x16xf32>, %[[Y:.*]]: memref<?x16xf32>, %{{.*}}: index, %{{.*}}: index) attributes {kc.impl}
// CHECK: memref.collapse_shape %[[X]] {{\[\[}}0, 1]] : memref<?x16xf32> into memref<?xf32>
// CHECK: vector.load {{.*}} : memref<?xf32>, vector<16xf32>
// CHECK: arith.maximumf {{.*}} : vector<16xf32>
// CHECK: vector.store {{.*}} : memref<?xf32>, vector<16xf32>
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
// CHECK: func.func private @relu__impl(%{{.*}}: memref<?x16xf32>, %{{.*}}: memref<?x16xf32>) attributes {kc.impl}
// CHECK: scf.parallel
// CHECK: call @relu__chunk
// WIDE-LABEL: func.func private @relu(
// WIDE: vector.load {{.*}} : memref<?xf32>, vector<32xf32>
// WIDE-NOT: scf.parallel
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @relu(%x: tensor<?x16xf32>, %out: tensor<?x16xf32>) -> tensor<?x16xf32> attributes {kc.kernel, kc.kind = "map"} {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x16xf32>) outs(%out : tensor<?x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %a, %zero : f32
    linalg.yield %b : f32
  } -> tensor<?x16xf32>
  return %0 : tensor<?x16xf32>
}

// -----

// A row sum: partial sums in vectors, folded across at the end of the row. bf16 is loaded as bits and summed in f32.
// CHECK-LABEL: func.func private @sum(
// CHECK-SAME: kc.impl = @sum__impl
// CHECK: func.func private @sum__chunk
// CHECK: builtin.unrealized_conversion_cast %{{.*}} : memref<5x100xbf16> to memref<5x100xi16>
// CHECK: vector.load {{.*}} : memref<5x100xi16>, vector<16xi16>
// CHECK: arith.addf {{.*}} : vector<16xf32>
// CHECK: vector.reduction <add>, {{.*}} fastmath<reassoc> : vector<16xf32> into f32
// CHECK: memref.store {{.*}} : memref<5xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func private @sum(%x: tensor<5x100xbf16>, %out: tensor<5xf32>) -> tensor<5xf32> attributes {kc.kernel, kc.kind = "rows"} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<5xf32>) -> tensor<5xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<5x100xbf16>) outs(%f : tensor<5xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %b = arith.addf %w, %o : f32
    linalg.yield %b : f32
  } -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// A matrix product: the left factor is packed by transposing 8x8 blocks in registers, then 6x16 tiles of fused sums.
// CHECK-LABEL: func.func private @product(
// CHECK-SAME: kc.impl = @product__impl
// CHECK: func.func private @product__rows
// CHECK: vector.shuffle {{.*}} : vector<8xf32>, vector<8xf32>
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-12: math.fma {{.*}} : vector<8xf32>
// CHECK: scf.yield
// CHECK: func.func private @product__product
// CHECK: func.func private @product__threads
// CHECK: scf.parallel
// CHECK: func.func private @product__impl
func.func private @product(%a: tensor<?x300xf32>, %b: tensor<300x40xf32>, %out: tensor<?x40xf32>) -> tensor<?x40xf32> attributes {kc.kernel, kc.kind = "contraction"} {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%out : tensor<?x40xf32>) -> tensor<?x40xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<?x300xf32>, tensor<300x40xf32>) outs(%f : tensor<?x40xf32>) -> tensor<?x40xf32>
  return %0 : tensor<?x40xf32>
}
