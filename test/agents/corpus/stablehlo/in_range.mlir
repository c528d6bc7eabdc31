// Whether 10 <= x < 20.
func.func @main(%a0: tensor<96xi32>) -> tensor<96xi1> {
  %v1 = stablehlo.constant dense<10> : tensor<96xi32>
  %v2 = stablehlo.compare GE, %a0, %v1 : (tensor<96xi32>, tensor<96xi32>) -> tensor<96xi1>
  %v3 = stablehlo.constant dense<20> : tensor<96xi32>
  %v4 = stablehlo.compare LT, %a0, %v3 : (tensor<96xi32>, tensor<96xi32>) -> tensor<96xi1>
  %v5 = stablehlo.and %v2, %v4 : tensor<96xi1>
  return %v5 : tensor<96xi1>
}

// ----- range-check-unsigned
// reject numeric: unsigned integers
// why: 20 passes
// witness: {"set": {"0": [[3, 20]]}}
  %v1 = stablehlo.constant dense<10> : tensor<96xi32>
  %v2 = stablehlo.subtract %a0, %v1 : tensor<96xi32>
  %v3 = stablehlo.bitcast_convert %v2 : (tensor<96xi32>) -> tensor<96xui32>
  %v4 = stablehlo.constant dense<10> : tensor<96xui32>
  %v5 = stablehlo.compare LE, %v3, %v4 : (tensor<96xui32>, tensor<96xui32>) -> tensor<96xi1>
  return %v5 : tensor<96xi1>

// ----- ok-range-check
// accept: comparison
// why: one unsigned comparison, wrap included
  %v1 = stablehlo.constant dense<10> : tensor<96xi32>
  %v2 = stablehlo.subtract %a0, %v1 : tensor<96xi32>
  %v3 = stablehlo.bitcast_convert %v2 : (tensor<96xi32>) -> tensor<96xui32>
  %v4 = stablehlo.constant dense<10> : tensor<96xui32>
  %v5 = stablehlo.compare LT, %v3, %v4 : (tensor<96xui32>, tensor<96xui32>) -> tensor<96xi1>
  return %v5 : tensor<96xi1>
