// RUN: kc-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(kc-propagate-reshapes,canonicalize))' | FileCheck %s

// A collapse sinks below the elementwise op that reads it; linalg.index counts as before.

// CHECK-LABEL: func.func @sink
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK: %[[R:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel"]
// CHECK-SAME: ins(%[[X]] : tensor<2x3x4xf32>)
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[M:.*]] = arith.muli %[[I]], %c3
// CHECK: arith.addi %[[M]], %[[J]]
// CHECK: tensor.collapse_shape %[[R]] {{\[\[}}0, 1], [2]{{\]}}
func.func @sink(%x: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  %c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
  %e = tensor.empty() : tensor<6x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<6x4xf32>) outs(%e : tensor<6x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  } -> tensor<6x4xf32>
  return %r : tensor<6x4xf32>
}

// -----

// A batched product between a collapse and an expand gets one batch loop per axis; the dynamic extent is kept.

// CHECK-LABEL: func.func @batched
// CHECK-SAME: (%[[A:.*]]: tensor<?x3x4x5xf32>, %[[B:.*]]: tensor<?x3x5x6xf32>)
// CHECK-NOT: collapse_shape
// CHECK: %[[R:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
// CHECK-SAME: ins(%[[A]], %[[B]] : tensor<?x3x4x5xf32>, tensor<?x3x5x6xf32>)
// CHECK-SAME: outs(%{{.*}} : tensor<?x3x4x6xf32>)
// CHECK: return %[[R]]
func.func @batched(%a: tensor<?x3x4x5xf32>, %b: tensor<?x3x5x6xf32>) -> tensor<?x3x4x6xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %d = tensor.dim %a, %c0 : tensor<?x3x4x5xf32>
  %n = arith.muli %d, %c3 : index
  %ca = tensor.collapse_shape %a [[0, 1], [2], [3]] : tensor<?x3x4x5xf32> into tensor<?x4x5xf32>
  %cb = tensor.collapse_shape %b [[0, 1], [2], [3]] : tensor<?x3x5x6xf32> into tensor<?x5x6xf32>
  %e = tensor.empty(%n) : tensor<?x4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4x6xf32>) -> tensor<?x4x6xf32>
  %m = linalg.batch_matmul ins(%ca, %cb : tensor<?x4x5xf32>, tensor<?x5x6xf32>) outs(%f : tensor<?x4x6xf32>) -> tensor<?x4x6xf32>
  %r = tensor.expand_shape %m [[0, 1], [2], [3]] output_shape [%d, 3, 4, 6] : tensor<?x4x6xf32> into tensor<?x3x4x6xf32>
  return %r : tensor<?x3x4x6xf32>
}

// -----

// A collapsed loop that is summed over stays: the sum has one loop.

// CHECK-LABEL: func.func @summed
// CHECK: tensor.collapse_shape
// CHECK: iterator_types = ["parallel", "reduction"]
func.func @summed(%x: tensor<2x3x4xf32>, %i: tensor<2xf32>) -> tensor<2xf32> {
  %c = tensor.collapse_shape %x [[0], [1, 2]] : tensor<2x3x4xf32> into tensor<2x12xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<2x12xf32>) outs(%i : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}

// -----

// One of several joined parts, then split into heads: the whole is split into heads, then cut.

// CHECK-LABEL: func.func @heads
// CHECK: %[[E:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]{{\]}} output_shape [5, 6, 4] : tensor<5x24xf32> into tensor<5x6x4xf32>
// CHECK: tensor.extract_slice %[[E]][0, 2, 0] [5, 2, 4] [1, 1, 1]
func.func @heads(%x: tensor<5x24xf32>) -> tensor<5x2x4xf32> {
  %s = tensor.extract_slice %x[0, 8] [5, 8] [1, 1] : tensor<5x24xf32> to tensor<5x8xf32>
  %r = tensor.expand_shape %s [[0], [1, 2]] output_shape [5, 2, 4] : tensor<5x8xf32> into tensor<5x2x4xf32>
  return %r : tensor<5x2x4xf32>
}
