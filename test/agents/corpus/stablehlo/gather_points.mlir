// Elements of a matrix by pairs of indices.
func.func @main(%a0: tensor<9x6xf32>, %a1: tensor<5x2xi32>) -> tensor<5xf32> {
  %v1 = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>, indices_are_sorted = false}> : (tensor<9x6xf32>, tensor<5x2xi32>) -> tensor<5xf32>
  return %v1 : tensor<5xf32>
}

// ----- gather-2d-linear
// reject numeric: out-of-range index
// why: the column runs over into the next row
// witness: {"values": {"1": [[1, 7], [3, 4], [0, 5], [8, 1], [2, 2]]}}
  %v1 = stablehlo.reshape %a0 : (tensor<9x6xf32>) -> tensor<54xf32>
  %v2 = stablehlo.slice %a1 [0:5, 0:1] : (tensor<5x2xi32>) -> tensor<5x1xi32>
  %v3 = stablehlo.constant dense<6> : tensor<5x1xi32>
  %v4 = stablehlo.multiply %v2, %v3 : tensor<5x1xi32>
  %v5 = stablehlo.slice %a1 [0:5, 1:2] : (tensor<5x2xi32>) -> tensor<5x1xi32>
  %v6 = stablehlo.add %v4, %v5 : tensor<5x1xi32>
  %v7 = stablehlo.reshape %v6 : (tensor<5x1xi32>) -> tensor<5xi32>
  %v8 = stablehlo.reshape %v7 : (tensor<5xi32>) -> tensor<5x1xi32>
  %v9 = "stablehlo.gather"(%v1, %v8) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = false}> : (tensor<54xf32>, tensor<5x1xi32>) -> tensor<5xf32>
  return %v9 : tensor<5xf32>

// ----- ok-gather-2d-linear
// accept: gather
// why: clamped before
  %v1 = stablehlo.reshape %a0 : (tensor<9x6xf32>) -> tensor<54xf32>
  %v2 = stablehlo.slice %a1 [0:5, 0:1] : (tensor<5x2xi32>) -> tensor<5x1xi32>
  %v3 = stablehlo.constant dense<0> : tensor<i32>
  %v4 = stablehlo.constant dense<8> : tensor<i32>
  %v5 = stablehlo.clamp %v3, %v2, %v4 : (tensor<i32>, tensor<5x1xi32>, tensor<i32>) -> tensor<5x1xi32>
  %v6 = stablehlo.constant dense<6> : tensor<5x1xi32>
  %v7 = stablehlo.multiply %v5, %v6 : tensor<5x1xi32>
  %v8 = stablehlo.slice %a1 [0:5, 1:2] : (tensor<5x2xi32>) -> tensor<5x1xi32>
  %v9 = stablehlo.constant dense<0> : tensor<i32>
  %v10 = stablehlo.constant dense<5> : tensor<i32>
  %v11 = stablehlo.clamp %v9, %v8, %v10 : (tensor<i32>, tensor<5x1xi32>, tensor<i32>) -> tensor<5x1xi32>
  %v12 = stablehlo.add %v7, %v11 : tensor<5x1xi32>
  %v13 = stablehlo.reshape %v12 : (tensor<5x1xi32>) -> tensor<5xi32>
  %v14 = stablehlo.reshape %v13 : (tensor<5xi32>) -> tensor<5x1xi32>
  %v15 = "stablehlo.gather"(%v1, %v14) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = false}> : (tensor<54xf32>, tensor<5x1xi32>) -> tensor<5xf32>
  return %v15 : tensor<5xf32>
