// Comparison of unsigned integers.
func.func @main(%a0: tensor<96xui32>, %a1: tensor<96xui32>) -> tensor<96xi1> {
  %v1 = stablehlo.compare LT, %a0, %a1 : (tensor<96xui32>, tensor<96xui32>) -> tensor<96xi1>
  return %v1 : tensor<96xi1>
}

// ----- cmp-unsigned
// reject numeric: unsigned integers
// why: sign
// witness: {"set": {"0": [[3, 4000000000]]}}
  %v1 = stablehlo.bitcast_convert %a0 : (tensor<96xui32>) -> tensor<96xi32>
  %v2 = stablehlo.bitcast_convert %a1 : (tensor<96xui32>) -> tensor<96xi32>
  %v3 = stablehlo.compare LT, %v1, %v2 : (tensor<96xi32>, tensor<96xi32>) -> tensor<96xi1>
  return %v3 : tensor<96xi1>

// ----- ok-cmp-unsigned-flip
// accept: comparison
// why: flip of the top bit
  %v1 = stablehlo.bitcast_convert %a0 : (tensor<96xui32>) -> tensor<96xi32>
  %v2 = stablehlo.constant dense<-2147483648> : tensor<96xi32>
  %v3 = stablehlo.xor %v1, %v2 : tensor<96xi32>
  %v4 = stablehlo.bitcast_convert %a1 : (tensor<96xui32>) -> tensor<96xi32>
  %v5 = stablehlo.constant dense<-2147483648> : tensor<96xi32>
  %v6 = stablehlo.xor %v4, %v5 : tensor<96xi32>
  %v7 = stablehlo.compare LT, %v3, %v6 : (tensor<96xi32>, tensor<96xi32>) -> tensor<96xi1>
  return %v7 : tensor<96xi1>
