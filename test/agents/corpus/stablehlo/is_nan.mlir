// Whether a number is none.
func.func @main(%a0: tensor<96xf32>) -> tensor<96xi1> {
  %v1 = stablehlo.compare NE, %a0, %a0 : (tensor<96xf32>, tensor<96xf32>) -> tensor<96xi1>
  return %v1 : tensor<96xi1>
}

// ----- isnan-bits
// reject numeric: nan/inf
// why: inf counts as NaN
// witness: {"set": {"0": [[3, Infinity]]}}
  %v1 = stablehlo.bitcast_convert %a0 : (tensor<96xf32>) -> tensor<96xui32>
  %v2 = stablehlo.constant dense<2147483647> : tensor<96xui32>
  %v3 = stablehlo.and %v1, %v2 : tensor<96xui32>
  %v4 = stablehlo.constant dense<2139095040> : tensor<96xui32>
  %v5 = stablehlo.compare GE, %v3, %v4 : (tensor<96xui32>, tensor<96xui32>) -> tensor<96xi1>
  return %v5 : tensor<96xi1>

// ----- ok-isnan-bits
// accept: comparison
// why: bits above infinity's
  %v1 = stablehlo.bitcast_convert %a0 : (tensor<96xf32>) -> tensor<96xui32>
  %v2 = stablehlo.constant dense<2147483647> : tensor<96xui32>
  %v3 = stablehlo.and %v1, %v2 : tensor<96xui32>
  %v4 = stablehlo.constant dense<2139095040> : tensor<96xui32>
  %v5 = stablehlo.compare GT, %v3, %v4 : (tensor<96xui32>, tensor<96xui32>) -> tensor<96xi1>
  return %v5 : tensor<96xi1>
