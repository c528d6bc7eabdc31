// One of three branches; the last also for numbers out of range.
func.func @main(%a0: tensor<i32>, %a1: tensor<8xf32>) -> tensor<8xf32> {
  %v6 = "stablehlo.case"(%a0) ({
    %v1 = stablehlo.constant dense<1.0> : tensor<8xf32>
    %v2 = stablehlo.add %a1, %v1 : tensor<8xf32>
    stablehlo.return %v2 : tensor<8xf32>
  }, {
    %v3 = stablehlo.constant dense<2.0> : tensor<8xf32>
    %v4 = stablehlo.multiply %a1, %v3 : tensor<8xf32>
    stablehlo.return %v4 : tensor<8xf32>
  }, {
    %v5 = stablehlo.negate %a1 : tensor<8xf32>
    stablehlo.return %v5 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %v6 : tensor<8xf32>
}

// ----- case-oob
// reject numeric: out-of-range index
// why: an index out of range takes the last branch, negative ones too
// witness: {"values": {"0": -1}}
  %v1 = stablehlo.constant dense<0> : tensor<i32>
  %v2 = stablehlo.constant dense<2> : tensor<i32>
  %v3 = stablehlo.clamp %v1, %a0, %v2 : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %v9 = "stablehlo.case"(%v3) ({
    %v4 = stablehlo.constant dense<1.0> : tensor<8xf32>
    %v5 = stablehlo.add %a1, %v4 : tensor<8xf32>
    stablehlo.return %v5 : tensor<8xf32>
  }, {
    %v6 = stablehlo.constant dense<2.0> : tensor<8xf32>
    %v7 = stablehlo.multiply %a1, %v6 : tensor<8xf32>
    stablehlo.return %v7 : tensor<8xf32>
  }, {
    %v8 = stablehlo.negate %a1 : tensor<8xf32>
    stablehlo.return %v8 : tensor<8xf32>
  }) : (tensor<i32>) -> tensor<8xf32>
  return %v9 : tensor<8xf32>

// ----- ok-case-oob
// accept: select form
// why: chain of selects; anything else is the last
  %v1 = stablehlo.constant dense<0> : tensor<i32>
  %v2 = stablehlo.compare EQ, %a0, %v1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %v3 = stablehlo.broadcast_in_dim %v2, dims = [] : (tensor<i1>) -> tensor<8xi1>
  %v4 = stablehlo.constant dense<1.0> : tensor<8xf32>
  %v5 = stablehlo.add %a1, %v4 : tensor<8xf32>
  %v6 = stablehlo.constant dense<1> : tensor<i32>
  %v7 = stablehlo.compare EQ, %a0, %v6 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %v8 = stablehlo.broadcast_in_dim %v7, dims = [] : (tensor<i1>) -> tensor<8xi1>
  %v9 = stablehlo.constant dense<2.0> : tensor<8xf32>
  %v10 = stablehlo.multiply %a1, %v9 : tensor<8xf32>
  %v11 = stablehlo.negate %a1 : tensor<8xf32>
  %v12 = stablehlo.select %v8, %v10, %v11 : tensor<8xi1>, tensor<8xf32>
  %v13 = stablehlo.select %v3, %v5, %v12 : tensor<8xi1>, tensor<8xf32>
  return %v13 : tensor<8xf32>
