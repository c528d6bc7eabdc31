// Mean of two integers, rounded down.
func.func @main(%a0: tensor<96xi32>, %a1: tensor<96xi32>) -> tensor<96xi32> {
  %v1 = stablehlo.convert %a0 : (tensor<96xi32>) -> tensor<96xi64>
  %v2 = stablehlo.convert %a1 : (tensor<96xi32>) -> tensor<96xi64>
  %v3 = stablehlo.add %v1, %v2 : tensor<96xi64>
  %v4 = stablehlo.constant dense<1> : tensor<96xi64>
  %v5 = stablehlo.shift_right_arithmetic %v3, %v4 : tensor<96xi64>
  %v6 = stablehlo.convert %v5 : (tensor<96xi64>) -> tensor<96xi32>
  return %v6 : tensor<96xi32>
}

// ----- mean-overflow
// reject numeric: integer overflow
// why: sum wraps
// witness: {"set": {"0": [[3, 2147483647]], "1": [[3, 2147483647]]}}
  %v1 = stablehlo.add %a0, %a1 : tensor<96xi32>
  %v2 = stablehlo.constant dense<1> : tensor<96xi32>
  %v3 = stablehlo.shift_right_arithmetic %v1, %v2 : tensor<96xi32>
  return %v3 : tensor<96xi32>

// ----- ok-mean-bits
// accept: integer identity
// why: floor of the mean by bits
  %v1 = stablehlo.and %a0, %a1 : tensor<96xi32>
  %v2 = stablehlo.xor %a0, %a1 : tensor<96xi32>
  %v3 = stablehlo.constant dense<1> : tensor<96xi32>
  %v4 = stablehlo.shift_right_arithmetic %v2, %v3 : tensor<96xi32>
  %v5 = stablehlo.add %v1, %v4 : tensor<96xi32>
  return %v5 : tensor<96xi32>

// ----- mean-diff
// reject numeric: integer overflow
// why: y - x wraps
// witness: {"set": {"0": [[3, -2147483648]], "1": [[3, 2147483647]]}}
  %v1 = stablehlo.subtract %a1, %a0 : tensor<96xi32>
  %v2 = stablehlo.constant dense<1> : tensor<96xi32>
  %v3 = stablehlo.shift_right_arithmetic %v1, %v2 : tensor<96xi32>
  %v4 = stablehlo.add %a0, %v3 : tensor<96xi32>
  return %v4 : tensor<96xi32>
