// Whether a sum of two integers overflows.
func.func @main(%a0: tensor<96xi32>, %a1: tensor<96xi32>) -> tensor<96xi1> {
  %v1 = stablehlo.convert %a0 : (tensor<96xi32>) -> tensor<96xi64>
  %v2 = stablehlo.convert %a1 : (tensor<96xi32>) -> tensor<96xi64>
  %v3 = stablehlo.add %v1, %v2 : tensor<96xi64>
  %v4 = stablehlo.add %a0, %a1 : tensor<96xi32>
  %v5 = stablehlo.convert %v4 : (tensor<96xi32>) -> tensor<96xi64>
  %v6 = stablehlo.compare NE, %v3, %v5 : (tensor<96xi64>, tensor<96xi64>) -> tensor<96xi1>
  return %v6 : tensor<96xi1>
}

// ----- add-overflow-test
// reject numeric: integer overflow
// why: negative y
// witness: {"set": {"0": [[3, 5]], "1": [[3, -1]]}}
  %v1 = stablehlo.add %a0, %a1 : tensor<96xi32>
  %v2 = stablehlo.compare LT, %v1, %a0 : (tensor<96xi32>, tensor<96xi32>) -> tensor<96xi1>
  return %v2 : tensor<96xi1>

// ----- ok-add-overflow
// accept: integer identity
// why: sign of the sum differs from both
  %v1 = stablehlo.add %a0, %a1 : tensor<96xi32>
  %v2 = stablehlo.xor %v1, %a0 : tensor<96xi32>
  %v3 = stablehlo.add %a0, %a1 : tensor<96xi32>
  %v4 = stablehlo.xor %v3, %a1 : tensor<96xi32>
  %v5 = stablehlo.and %v2, %v4 : tensor<96xi32>
  %v6 = stablehlo.constant dense<0> : tensor<96xi32>
  %v7 = stablehlo.compare LT, %v5, %v6 : (tensor<96xi32>, tensor<96xi32>) -> tensor<96xi1>
  return %v7 : tensor<96xi1>
