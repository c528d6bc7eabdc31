// Five elements from a start that is clamped.
func.func @main(%a0: tensor<20xf32>, %a1: tensor<i32>) -> tensor<5xf32> {
  %v1 = stablehlo.dynamic_slice %a0, %a1, sizes = [5] : (tensor<20xf32>, tensor<i32>) -> tensor<5xf32>
  return %v1 : tensor<5xf32>
}

// ----- dsl-mod
// reject numeric: out-of-range index
// why: wraps round
// witness: {"values": {"1": 17}}
  %v1 = stablehlo.concatenate %a0, %a0, dim = 0 : (tensor<20xf32>, tensor<20xf32>) -> tensor<40xf32>
  %v2 = stablehlo.dynamic_slice %v1, %a1, sizes = [5] : (tensor<40xf32>, tensor<i32>) -> tensor<5xf32>
  return %v2 : tensor<5xf32>

// ----- dsl-hi-off
// reject numeric: out-of-range index
// why: clamped to 16 in place of 15
// witness: {"values": {"1": 17}}
  %v1 = stablehlo.iota dim = 0 : tensor<5xi32>
  %v2 = stablehlo.constant dense<0> : tensor<i32>
  %v3 = stablehlo.constant dense<16> : tensor<i32>
  %v4 = stablehlo.clamp %v2, %a1, %v3 : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %v5 = stablehlo.broadcast_in_dim %v4, dims = [] : (tensor<i32>) -> tensor<5xi32>
  %v6 = stablehlo.add %v1, %v5 : tensor<5xi32>
  %v7 = stablehlo.reshape %v6 : (tensor<5xi32>) -> tensor<5x1xi32>
  %v8 = "stablehlo.gather"(%a0, %v7) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = false}> : (tensor<20xf32>, tensor<5x1xi32>) -> tensor<5xf32>
  return %v8 : tensor<5xf32>

// ----- ok-dsl-gather
// accept: gather
// why: clamped to 15
  %v1 = stablehlo.iota dim = 0 : tensor<5xi32>
  %v2 = stablehlo.constant dense<0> : tensor<i32>
  %v3 = stablehlo.constant dense<15> : tensor<i32>
  %v4 = stablehlo.clamp %v2, %a1, %v3 : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %v5 = stablehlo.broadcast_in_dim %v4, dims = [] : (tensor<i32>) -> tensor<5xi32>
  %v6 = stablehlo.add %v1, %v5 : tensor<5xi32>
  %v7 = stablehlo.reshape %v6 : (tensor<5xi32>) -> tensor<5x1xi32>
  %v8 = "stablehlo.gather"(%a0, %v7) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>, indices_are_sorted = false}> : (tensor<20xf32>, tensor<5x1xi32>) -> tensor<5xf32>
  return %v8 : tensor<5xf32>

// ----- dsl-python-neg
// reject numeric: negative integers
// why: negative from the end
// witness: {"values": {"1": -7}}
  %v1 = stablehlo.constant dense<0> : tensor<i32>
  %v2 = stablehlo.compare LT, %a1, %v1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %v3 = stablehlo.constant dense<20> : tensor<i32>
  %v4 = stablehlo.add %a1, %v3 : tensor<i32>
  %v5 = stablehlo.select %v2, %v4, %a1 : tensor<i1>, tensor<i32>
  %v6 = stablehlo.dynamic_slice %a0, %v5, sizes = [5] : (tensor<20xf32>, tensor<i32>) -> tensor<5xf32>
  return %v6 : tensor<5xf32>

// ----- ok-dsl-i64
// accept: index width
// why: wider index
  %v1 = stablehlo.convert %a1 : (tensor<i32>) -> tensor<i64>
  %v2 = stablehlo.dynamic_slice %a0, %v1, sizes = [5] : (tensor<20xf32>, tensor<i64>) -> tensor<5xf32>
  return %v2 : tensor<5xf32>
