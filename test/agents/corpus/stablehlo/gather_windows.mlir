// Three elements from each of four starts, moved back as a whole where they would stick out.
func.func @main(%a0: tensor<20xf32>, %a1: tensor<4xi32>) -> tensor<4x3xf32> {
  %v1 = stablehlo.reshape %a1 : (tensor<4xi32>) -> tensor<4x1xi32>
  %v2 = "stablehlo.gather"(%a0, %v1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 3>, indices_are_sorted = false}> : (tensor<20xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
  return %v2 : tensor<4x3xf32>
}

// ----- gather-window
// reject numeric: out-of-range index
// why: windows slide back as a whole
// witness: {"values": {"1": [19, 1, 2, 3]}}
  %v1 = stablehlo.constant dense<0> : tensor<4xi32>
  %v2 = stablehlo.add %a1, %v1 : tensor<4xi32>
  %v3 = stablehlo.reshape %v2 : (tensor<4xi32>) -> tensor<4x1xi32>
  %v4 = "stablehlo.gather"(%a0, %v3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = false}> : (tensor<20xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %v5 = stablehlo.reshape %v4 : (tensor<4xf32>) -> tensor<4x1xf32>
  %v6 = stablehlo.constant dense<1> : tensor<4xi32>
  %v7 = stablehlo.add %a1, %v6 : tensor<4xi32>
  %v8 = stablehlo.reshape %v7 : (tensor<4xi32>) -> tensor<4x1xi32>
  %v9 = "stablehlo.gather"(%a0, %v8) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = false}> : (tensor<20xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %v10 = stablehlo.reshape %v9 : (tensor<4xf32>) -> tensor<4x1xf32>
  %v11 = stablehlo.constant dense<2> : tensor<4xi32>
  %v12 = stablehlo.add %a1, %v11 : tensor<4xi32>
  %v13 = stablehlo.reshape %v12 : (tensor<4xi32>) -> tensor<4x1xi32>
  %v14 = "stablehlo.gather"(%a0, %v13) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = false}> : (tensor<20xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %v15 = stablehlo.reshape %v14 : (tensor<4xf32>) -> tensor<4x1xf32>
  %v16 = stablehlo.concatenate %v5, %v10, %v15, dim = 1 : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  return %v16 : tensor<4x3xf32>

// ----- ok-gather-window
// accept: gather
// why: start clamped to 17
  %v1 = stablehlo.constant dense<0> : tensor<i32>
  %v2 = stablehlo.constant dense<17> : tensor<i32>
  %v3 = stablehlo.clamp %v1, %a1, %v2 : (tensor<i32>, tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %v4 = stablehlo.constant dense<0> : tensor<4xi32>
  %v5 = stablehlo.add %v3, %v4 : tensor<4xi32>
  %v6 = stablehlo.reshape %v5 : (tensor<4xi32>) -> tensor<4x1xi32>
  %v7 = "stablehlo.gather"(%a0, %v6) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = false}> : (tensor<20xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %v8 = stablehlo.reshape %v7 : (tensor<4xf32>) -> tensor<4x1xf32>
  %v9 = stablehlo.constant dense<0> : tensor<i32>
  %v10 = stablehlo.constant dense<17> : tensor<i32>
  %v11 = stablehlo.clamp %v9, %a1, %v10 : (tensor<i32>, tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %v12 = stablehlo.constant dense<1> : tensor<4xi32>
  %v13 = stablehlo.add %v11, %v12 : tensor<4xi32>
  %v14 = stablehlo.reshape %v13 : (tensor<4xi32>) -> tensor<4x1xi32>
  %v15 = "stablehlo.gather"(%a0, %v14) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = false}> : (tensor<20xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %v16 = stablehlo.reshape %v15 : (tensor<4xf32>) -> tensor<4x1xf32>
  %v17 = stablehlo.constant dense<0> : tensor<i32>
  %v18 = stablehlo.constant dense<17> : tensor<i32>
  %v19 = stablehlo.clamp %v17, %a1, %v18 : (tensor<i32>, tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %v20 = stablehlo.constant dense<2> : tensor<4xi32>
  %v21 = stablehlo.add %v19, %v20 : tensor<4xi32>
  %v22 = stablehlo.reshape %v21 : (tensor<4xi32>) -> tensor<4x1xi32>
  %v23 = "stablehlo.gather"(%a0, %v22) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = false}> : (tensor<20xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %v24 = stablehlo.reshape %v23 : (tensor<4xf32>) -> tensor<4x1xf32>
  %v25 = stablehlo.concatenate %v8, %v16, %v24, dim = 1 : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  return %v25 : tensor<4x3xf32>
