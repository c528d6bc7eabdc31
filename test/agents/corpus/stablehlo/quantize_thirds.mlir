// x / 3, rounded to 8 bits.
func.func @main(%a0: tensor<96xf32>) -> tensor<96xi8> {
  %v1 = stablehlo.constant dense<3.0> : tensor<96xf32>
  %v2 = stablehlo.divide %a0, %v1 : tensor<96xf32>
  %v3 = stablehlo.round_nearest_even %v2 : tensor<96xf32>
  %v4 = stablehlo.constant dense<-128.0> : tensor<f32>
  %v5 = stablehlo.constant dense<127.0> : tensor<f32>
  %v6 = stablehlo.clamp %v4, %v3, %v5 : (tensor<f32>, tensor<96xf32>, tensor<f32>) -> tensor<96xf32>
  %v7 = stablehlo.convert %v6 : (tensor<96xf32>) -> tensor<96xi8>
  return %v7 : tensor<96xi8>
}

// ----- quant-recip-0
// reject numeric: rounding
// why: x times a rounded reciprocal falls on the other side of a half
// witness: {"set": {"0": [[3, 28.499998]]}}
  %v1 = stablehlo.constant dense<0.3333333432674408> : tensor<96xf32>
  %v2 = stablehlo.multiply %a0, %v1 : tensor<96xf32>
  %v3 = stablehlo.round_nearest_even %v2 : tensor<96xf32>
  %v4 = stablehlo.constant dense<-128.0> : tensor<f32>
  %v5 = stablehlo.constant dense<127.0> : tensor<f32>
  %v6 = stablehlo.clamp %v4, %v3, %v5 : (tensor<f32>, tensor<96xf32>, tensor<f32>) -> tensor<96xf32>
  %v7 = stablehlo.convert %v6 : (tensor<96xf32>) -> tensor<96xi8>
  return %v7 : tensor<96xi8>
