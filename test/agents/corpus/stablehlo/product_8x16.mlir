// Product of two matrices.
// tolerance: close 1e-05 1e-06
func.func @main(%a0: tensor<8x16xf32>, %a1: tensor<16x4xf32>) -> tensor<8x4xf32> attributes {kc.allow = ["reassoc"]} {
  %v1 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %v1 : tensor<8x4xf32>
}

// ----- sparse-shortcut
// reject numeric: guard too weak
// why: zero times NaN or inf
// witness: {"fill": "zeros", "set": {"1": [[3, "inf"]]}}
  %v1 = stablehlo.constant dense<0.0> : tensor<8x16xf32>
  %v2 = stablehlo.compare EQ, %a0, %v1 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xi1>
  %v3 = stablehlo.constant dense<true> : tensor<i1>
  %v4 = stablehlo.reduce(%v2 init: %v3) applies stablehlo.and across dimensions = [0, 1] : (tensor<8x16xi1>, tensor<i1>) -> tensor<i1>
  %v8 = "stablehlo.if"(%v4) ({
    %v5 = stablehlo.slice %a0 [0:8, 0:4] : (tensor<8x16xf32>) -> tensor<8x4xf32>
    %v6 = stablehlo.constant dense<0.0> : tensor<8x4xf32>
    stablehlo.return %v6 : tensor<8x4xf32>
  }, {
    %v7 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    stablehlo.return %v7 : tensor<8x4xf32>
  }) : (tensor<i1>) -> (tensor<8x4xf32>)
  return %v8 : tensor<8x4xf32>
