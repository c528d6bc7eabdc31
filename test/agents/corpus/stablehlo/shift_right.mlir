// Logical shift by any amount.
func.func @main(%a0: tensor<96xi32>, %a1: tensor<96xi32>) -> tensor<96xi32> {
  %v1 = stablehlo.shift_right_logical %a0, %a1 : tensor<96xi32>
  return %v1 : tensor<96xi32>
}

// ----- shr-neg-amount
// reject numeric: shift amount
// why: negative amounts are huge unsigned ones: 0
// witness: {"set": {"0": [[3, 5]], "1": [[3, -1]]}}
  %v1 = stablehlo.constant dense<32> : tensor<96xi32>
  %v2 = stablehlo.compare LT, %a1, %v1 : (tensor<96xi32>, tensor<96xi32>) -> tensor<96xi1>
  %v3 = stablehlo.constant dense<0> : tensor<96xi32>
  %v4 = stablehlo.maximum %a1, %v3 : tensor<96xi32>
  %v5 = stablehlo.shift_right_logical %a0, %v4 : tensor<96xi32>
  %v6 = stablehlo.constant dense<0> : tensor<96xi32>
  %v7 = stablehlo.select %v2, %v5, %v6 : tensor<96xi1>, tensor<96xi32>
  return %v7 : tensor<96xi32>

// ----- ok-shr
// accept: shift amount
// why: amounts out of range give 0
  %v1 = stablehlo.constant dense<0> : tensor<96xi32>
  %v2 = stablehlo.compare GE, %a1, %v1 : (tensor<96xi32>, tensor<96xi32>) -> tensor<96xi1>
  %v3 = stablehlo.constant dense<32> : tensor<96xi32>
  %v4 = stablehlo.compare LT, %a1, %v3 : (tensor<96xi32>, tensor<96xi32>) -> tensor<96xi1>
  %v5 = stablehlo.and %v2, %v4 : tensor<96xi1>
  %v6 = stablehlo.constant dense<31> : tensor<96xi32>
  %v7 = stablehlo.and %a1, %v6 : tensor<96xi32>
  %v8 = stablehlo.shift_right_logical %a0, %v7 : tensor<96xi32>
  %v9 = stablehlo.constant dense<0> : tensor<96xi32>
  %v10 = stablehlo.select %v5, %v8, %v9 : tensor<96xi1>, tensor<96xi32>
  return %v10 : tensor<96xi32>
