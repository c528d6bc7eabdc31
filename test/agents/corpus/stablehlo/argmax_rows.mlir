// Place of the largest element of each row, the first NaN before all, the first of equals.
func.func @main(%a0: tensor<8x16xf32>) -> tensor<8xi32> {
  %v1 = stablehlo.iota dim = 1 : tensor<8x16xi32>
  %v2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v3 = stablehlo.constant dense<0> : tensor<i32>
  %v17:2 = "stablehlo.reduce"(%a0, %v1, %v2, %v3) <{dimensions = array<i64: 1>}> ({
  ^bb0(%v4: tensor<f32>, %v5: tensor<i32>, %v6: tensor<f32>, %v7: tensor<i32>):
    %v8 = stablehlo.compare GT, %v4, %v6 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v9 = stablehlo.compare NE, %v4, %v4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v10 = stablehlo.or %v8, %v9 : tensor<i1>
    %v11 = stablehlo.compare EQ, %v4, %v6 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v12 = stablehlo.compare LT, %v5, %v7 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %v13 = stablehlo.and %v11, %v12 : tensor<i1>
    %v14 = stablehlo.or %v10, %v13 : tensor<i1>
    %v15 = stablehlo.select %v10, %v4, %v6 : tensor<i1>, tensor<f32>
    %v16 = stablehlo.select %v14, %v5, %v7 : tensor<i1>, tensor<i32>
    stablehlo.return %v15, %v16 : tensor<f32>, tensor<i32>
  }) : (tensor<8x16xf32>, tensor<8x16xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
  return %v17#1 : tensor<8xi32>
}

// ----- argmax-init
// reject numeric: reduction init
// why: rows of -inf give -1
// witness: {"set": {"0": [[0, -Infinity], [1, -Infinity], [2, -Infinity], [3, -Infinity], [4, -Infinity], [5, -Infinity], [6, -Infinity], [7, -Infinity], [8, -Infinity], [9, -Infinity], [10, -Infinity], [11, -Infinity], [12, -Infinity], [13, -Infinity], [14, -Infinity], [15, -Infinity]]}}
  %v1 = stablehlo.iota dim = 1 : tensor<8x16xi32>
  %v2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v3 = stablehlo.constant dense<-1> : tensor<i32>
  %v17:2 = "stablehlo.reduce"(%a0, %v1, %v2, %v3) <{dimensions = array<i64: 1>}> ({
  ^bb0(%v4: tensor<f32>, %v5: tensor<i32>, %v6: tensor<f32>, %v7: tensor<i32>):
    %v8 = stablehlo.compare GT, %v4, %v6 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v9 = stablehlo.compare NE, %v4, %v4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v10 = stablehlo.or %v8, %v9 : tensor<i1>
    %v11 = stablehlo.select %v10, %v4, %v6 : tensor<i1>, tensor<f32>
    %v12 = stablehlo.compare EQ, %v4, %v6 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v13 = stablehlo.compare LT, %v5, %v7 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %v14 = stablehlo.and %v12, %v13 : tensor<i1>
    %v15 = stablehlo.or %v10, %v14 : tensor<i1>
    %v16 = stablehlo.select %v15, %v5, %v7 : tensor<i1>, tensor<i32>
    stablehlo.return %v11, %v16 : tensor<f32>, tensor<i32>
  }) : (tensor<8x16xf32>, tensor<8x16xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
  return %v17#1 : tensor<8xi32>

// ----- argmax-by-eq
// reject numeric: nan/inf
// why: NaN rows: no element equals: 16
// witness: {"set": {"0": [[3, NaN]]}}
  %v1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v2 = stablehlo.reduce(%a0 init: %v1) applies stablehlo.maximum across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v3 = stablehlo.broadcast_in_dim %v2, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v4 = stablehlo.compare EQ, %a0, %v3 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
  %v5 = stablehlo.iota dim = 1 : tensor<8x16xi32>
  %v6 = stablehlo.iota dim = 1 : tensor<8x16xi32>
  %v7 = stablehlo.constant dense<16> : tensor<8x16xi32>
  %v8 = stablehlo.select %v4, %v5, %v7 : tensor<8x16xi1>, tensor<8x16xi32>
  %v9 = stablehlo.constant dense<16> : tensor<i32>
  %v10 = stablehlo.reduce(%v8 init: %v9) applies stablehlo.minimum across dimensions = [1] : (tensor<8x16xi32>, tensor<i32>) -> tensor<8xi32>
  return %v10 : tensor<8xi32>

// ----- ok-argmax-by-eq
// accept: tie-break
// why: first place equal to the maximum, or NaN
  %v1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v2 = stablehlo.reduce(%a0 init: %v1) applies stablehlo.maximum across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v3 = stablehlo.broadcast_in_dim %v2, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v4 = stablehlo.compare EQ, %a0, %v3 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
  %v5 = stablehlo.compare NE, %a0, %a0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
  %v6 = stablehlo.or %v4, %v5 : tensor<8x16xi1>
  %v7 = stablehlo.iota dim = 1 : tensor<8x16xi32>
  %v8 = stablehlo.iota dim = 1 : tensor<8x16xi32>
  %v9 = stablehlo.constant dense<16> : tensor<8x16xi32>
  %v10 = stablehlo.select %v6, %v7, %v9 : tensor<8x16xi1>, tensor<8x16xi32>
  %v11 = stablehlo.constant dense<16> : tensor<i32>
  %v12 = stablehlo.reduce(%v10 init: %v11) applies stablehlo.minimum across dimensions = [1] : (tensor<8x16xi32>, tensor<i32>) -> tensor<8xi32>
  return %v12 : tensor<8xi32>

// ----- argmax-sort
// reject numeric: tie-break
// why: NaN breaks the order
// witness: {"set": {"0": [[3, NaN]]}}
  %v1 = stablehlo.negate %a0 : tensor<8x16xf32>
  %v2 = stablehlo.iota dim = 1 : tensor<8x16xi32>
  %v8:2 = "stablehlo.sort"(%v1, %v2) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%v3: tensor<f32>, %v4: tensor<f32>, %v5: tensor<i32>, %v6: tensor<i32>):
    %v7 = stablehlo.compare LT, %v3, %v4 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %v7 : tensor<i1>
  }) : (tensor<8x16xf32>, tensor<8x16xi32>) -> (tensor<8x16xf32>, tensor<8x16xi32>)
  %v9 = stablehlo.slice %v8#1 [0:8, 0:1] : (tensor<8x16xi32>) -> tensor<8x1xi32>
  %v10 = stablehlo.reshape %v9 : (tensor<8x1xi32>) -> tensor<8xi32>
  return %v10 : tensor<8xi32>
