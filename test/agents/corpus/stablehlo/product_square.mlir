// Product of two square matrices.
// tolerance: close 1e-05 1e-06
func.func @main(%a0: tensor<8x8xf32>, %a1: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {kc.allow = ["reassoc"]} {
  %v1 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %v1 : tensor<8x8xf32>
}

// ----- identity-shortcut
// reject numeric: guard too weak
// why: identity times NaN spreads
// witness: {"values": {"0": [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]}, "set": {"1": [[3, "nan"]]}}
  %v1 = stablehlo.iota dim = 0 : tensor<8x8xi32>
  %v2 = stablehlo.iota dim = 1 : tensor<8x8xi32>
  %v3 = stablehlo.compare EQ, %v1, %v2 : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  %v4 = stablehlo.convert %v3 : (tensor<8x8xi1>) -> tensor<8x8xf32>
  %v5 = stablehlo.compare EQ, %a0, %v4 : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xi1>
  %v6 = stablehlo.constant dense<true> : tensor<i1>
  %v7 = stablehlo.reduce(%v5 init: %v6) applies stablehlo.and across dimensions = [0, 1] : (tensor<8x8xi1>, tensor<i1>) -> tensor<i1>
  %v11 = "stablehlo.if"(%v7) ({
    %v8 = stablehlo.constant dense<0.0> : tensor<8x8xf32>
    %v9 = stablehlo.add %a1, %v8 : tensor<8x8xf32>
    stablehlo.return %v9 : tensor<8x8xf32>
  }, {
    %v10 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %v10 : tensor<8x8xf32>
  }) : (tensor<i1>) -> (tensor<8x8xf32>)
  return %v11 : tensor<8x8xf32>
