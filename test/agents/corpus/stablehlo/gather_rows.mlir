// Rows of a table by indices, which are clamped.
func.func @main(%a0: tensor<12x5xf32>, %a1: tensor<7xi32>) -> tensor<7x5xf32> {
  %v1 = stablehlo.reshape %a1 : (tensor<7xi32>) -> tensor<7x1xi32>
  %v2 = "stablehlo.gather"(%a0, %v1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>, indices_are_sorted = false}> : (tensor<12x5xf32>, tensor<7x1xi32>) -> tensor<7x5xf32>
  return %v2 : tensor<7x5xf32>
}

// ----- ok-gather-clamped
// accept: gather
// why: the op clamps
  %v1 = stablehlo.constant dense<0> : tensor<i32>
  %v2 = stablehlo.constant dense<11> : tensor<i32>
  %v3 = stablehlo.clamp %v1, %a1, %v2 : (tensor<i32>, tensor<7xi32>, tensor<i32>) -> tensor<7xi32>
  %v4 = stablehlo.reshape %v3 : (tensor<7xi32>) -> tensor<7x1xi32>
  %v5 = "stablehlo.gather"(%a0, %v4) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>, indices_are_sorted = false}> : (tensor<12x5xf32>, tensor<7x1xi32>) -> tensor<7x5xf32>
  return %v5 : tensor<7x5xf32>

// ----- gather-mod
// reject numeric: out-of-range index
// why: index modulo rows
// witness: {"values": {"1": [12, 1, 2, 3, 4, 5, 6]}}
  %v1 = stablehlo.constant dense<12> : tensor<7xi32>
  %v2 = stablehlo.remainder %a1, %v1 : tensor<7xi32>
  %v3 = stablehlo.reshape %v2 : (tensor<7xi32>) -> tensor<7x1xi32>
  %v4 = "stablehlo.gather"(%a0, %v3) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>, indices_are_sorted = false}> : (tensor<12x5xf32>, tensor<7x1xi32>) -> tensor<7x5xf32>
  return %v4 : tensor<7x5xf32>

// ----- gather-fill-zero
// reject numeric: out-of-range index
// why: zero rows for indices out of range
// witness: {"values": {"1": [12, 1, 2, 3, 4, 5, 6]}}
  %v1 = stablehlo.constant dense<0> : tensor<7xi32>
  %v2 = stablehlo.compare GE, %a1, %v1 : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi1>
  %v3 = stablehlo.constant dense<12> : tensor<7xi32>
  %v4 = stablehlo.compare LT, %a1, %v3 : (tensor<7xi32>, tensor<7xi32>) -> tensor<7xi1>
  %v5 = stablehlo.and %v2, %v4 : tensor<7xi1>
  %v6 = stablehlo.broadcast_in_dim %v5, dims = [0] : (tensor<7xi1>) -> tensor<7x5xi1>
  %v7 = stablehlo.reshape %a1 : (tensor<7xi32>) -> tensor<7x1xi32>
  %v8 = "stablehlo.gather"(%a0, %v7) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>, indices_are_sorted = false}> : (tensor<12x5xf32>, tensor<7x1xi32>) -> tensor<7x5xf32>
  %v9 = stablehlo.reshape %a1 : (tensor<7xi32>) -> tensor<7x1xi32>
  %v10 = "stablehlo.gather"(%a0, %v9) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>, indices_are_sorted = false}> : (tensor<12x5xf32>, tensor<7x1xi32>) -> tensor<7x5xf32>
  %v11 = stablehlo.constant dense<0.0> : tensor<7x5xf32>
  %v12 = stablehlo.select %v6, %v8, %v11 : tensor<7x5xi1>, tensor<7x5xf32>
  return %v12 : tensor<7x5xf32>

// ----- gather-i8
// reject numeric: index width
// why: 300 becomes 44, 128 becomes -128: clamped to the other end
// witness: {"values": {"1": [128, 1, 2, 3, 4, 5, 6]}}
  %v1 = stablehlo.convert %a1 : (tensor<7xi32>) -> tensor<7xi8>
  %v2 = stablehlo.reshape %v1 : (tensor<7xi8>) -> tensor<7x1xi8>
  %v3 = "stablehlo.gather"(%a0, %v2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>, indices_are_sorted = false}> : (tensor<12x5xf32>, tensor<7x1xi8>) -> tensor<7x5xf32>
  return %v3 : tensor<7x5xf32>

// ----- gather-sorted-flag
// reject assumption: false assumption
// why: indices_are_sorted: nothing grants it
// unchecked: the interpreter does not look at the flag
  %v1 = stablehlo.reshape %a1 : (tensor<7xi32>) -> tensor<7x1xi32>
  %v2 = "stablehlo.gather"(%a0, %v1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5>, indices_are_sorted = true}> : (tensor<12x5xf32>, tensor<7x1xi32>) -> tensor<7x5xf32>
  return %v2 : tensor<7x5xf32>
