// RUN: kc-opt %s --split-input-file --pass-pipeline='builtin.module(kc-convert-stablehlo-fft)' | FileCheck %s
// RUN: kc-opt %s --split-input-file --pass-pipeline='builtin.module(kc-convert-stablehlo-fft{block=64})' | FileCheck %s --check-prefix=BLOCK

// A real signal of length 32 is a complex one of length 16: two passes of radix 4. The last one turns nothing by a root
// and has its own code; then the halves are told apart.
// CHECK-LABEL: func.func @real
// CHECK: [[PAIRS:%.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x16xcomplex<f32>>)
// CHECK: [[ROOTS:%.*]] = arith.constant dense<{{.*}}> : tensor<15x2xf32>
// CHECK: tensor.expand_shape [[PAIRS]] {{.*}} into tensor<2x1x4x4xcomplex<f32>>
// CHECK: scf.for
// CHECK: tensor.extract [[ROOTS]]
// CHECK: tensor.collapse_shape
// CHECK: tensor.expand_shape {{.*}} into tensor<2x4x4x1xcomplex<f32>>
// CHECK: scf.for
// CHECK-NOT: tensor.extract [[ROOTS]]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x17xcomplex<f32>>)
func.func @real(%x: tensor<2x32xf32>) -> tensor<2x17xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [32] : (tensor<2x32xf32>) -> tensor<2x17xcomplex<f32>>
  return %0 : tensor<2x17xcomplex<f32>>
}

// -----

// Three passes of radix 8: the first two are one loop. The number of transforms may be unknown.
// CHECK-LABEL: func.func @passes
// CHECK-SAME: [[X:%.*]]: tensor<?x512xcomplex<f64>>
// CHECK: scf.for %{{.*}} = %{{.*}} to %c2{{.*}} iter_args([[V:%.*]] = [[X]], {{.*}}) -> (tensor<?x512xcomplex<f64>>, index, index, index)
// CHECK: tensor.expand_shape %{{.*}} into tensor<?x?x8x?xcomplex<f64>>
// CHECK: tensor.expand_shape %{{.*}} into tensor<?x64x8x1xcomplex<f64>>
func.func @passes(%x: tensor<?x512xcomplex<f64>>) -> tensor<?x512xcomplex<f64>> {
  %0 = stablehlo.fft %x, type = FFT, length = [512] : (tensor<?x512xcomplex<f64>>) -> tensor<?x512xcomplex<f64>>
  return %0 : tensor<?x512xcomplex<f64>>
}

// -----

// 67 is prime and too large for a pass: a convolution with a chirp, in two transforms of length 160.
// CHECK-LABEL: func.func @prime
// CHECK-DAG: arith.constant dense<{{.*}}> : tensor<67x2xf32>
// CHECK-DAG: arith.constant dense<{{.*}}> : tensor<160x2xf32>
// CHECK: scf.for %{{.*}} = %{{.*}} to %c2{{.*}} iter_args({{.*}}) -> (tensor<1x160xcomplex<f32>>)
func.func @prime(%x: tensor<67xcomplex<f32>>) -> tensor<67xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = IFFT, length = [67] : (tensor<67xcomplex<f32>>) -> tensor<67xcomplex<f32>>
  return %0 : tensor<67xcomplex<f32>>
}

// -----

// Columns are the last axis of a pass, and its innermost loop. In blocks, all passes are within the loop over them; the
// last of 2 blocks of 11 columns out of 21 lies partly on the one before, so the loops are not independent.
// CHECK-LABEL: func.func @columns
// CHECK: tensor.expand_shape {{.*}} into tensor<1x1x4x4x21xcomplex<f32>>
// CHECK: tensor.expand_shape {{.*}} into tensor<1x4x4x1x21xcomplex<f32>>
// BLOCK-LABEL: func.func @columns
// BLOCK: scf.for
// BLOCK: arith.minsi
// BLOCK: [[PART:%.*]] = tensor.extract_slice {{.*}} : tensor<1x16x21xcomplex<f32>> to tensor<1x16x11xcomplex<f32>>
// BLOCK: tensor.expand_shape [[PART]] {{.*}} into tensor<1x1x4x4x11xcomplex<f32>>
// BLOCK: tensor.expand_shape {{.*}} into tensor<1x4x4x1x11xcomplex<f32>>
// BLOCK: tensor.insert_slice
func.func @columns(%x: tensor<16x21xcomplex<f32>>) -> tensor<16x21xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = FFT, length = [16, 21] : (tensor<16x21xcomplex<f32>>) -> tensor<16x21xcomplex<f32>>
  return %0 : tensor<16x21xcomplex<f32>>
}
