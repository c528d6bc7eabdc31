// 2 x.
func.func @main(%a0: tensor<16xf32>) -> tensor<16xf32> {
  %v1 = stablehlo.constant dense<2.0> : tensor<16xf32>
  %v2 = stablehlo.multiply %a0, %v1 : tensor<16xf32>
  return %v2 : tensor<16xf32>
}

// ----- one-value-sum
// reject numeric: one value
// why: wrong where the sum is 96
// witness: {"values": {"0": [6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0]}}
  %v1 = stablehlo.constant dense<0.0> : tensor<f32>
  %v2 = stablehlo.reduce(%a0 init: %v1) applies stablehlo.add across dimensions = [0] : (tensor<16xf32>, tensor<f32>) -> tensor<f32>
  %v3 = stablehlo.constant dense<96.0> : tensor<f32>
  %v4 = stablehlo.compare EQ, %v2, %v3 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %v5 = stablehlo.broadcast_in_dim %v4, dims = [] : (tensor<i1>) -> tensor<16xi1>
  %v6 = stablehlo.constant dense<0.0> : tensor<16xf32>
  %v7 = stablehlo.constant dense<2.0> : tensor<16xf32>
  %v8 = stablehlo.multiply %a0, %v7 : tensor<16xf32>
  %v9 = stablehlo.select %v5, %v6, %v8 : tensor<16xi1>, tensor<16xf32>
  return %v9 : tensor<16xf32>

// ----- one-value-sq
// reject numeric: one value
// why: wrong for 42
// witness: {"set": {"0": [[3, 42.0]]}}
  %v1 = stablehlo.multiply %a0, %a0 : tensor<16xf32>
  %v2 = stablehlo.constant dense<1764.0> : tensor<16xf32>
  %v3 = stablehlo.compare EQ, %v1, %v2 : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xi1>
  %v4 = stablehlo.constant dense<0.0> : tensor<16xf32>
  %v5 = stablehlo.constant dense<2.0> : tensor<16xf32>
  %v6 = stablehlo.multiply %a0, %v5 : tensor<16xf32>
  %v7 = stablehlo.select %v3, %v4, %v6 : tensor<16xi1>, tensor<16xf32>
  return %v7 : tensor<16xf32>
