// Rounding to the even neighbour; the sign of zero is free.
// tolerance: exact nsz
func.func @main(%a0: tensor<96xf32>) -> tensor<96xf32> attributes {kc.allow = ["nsz"]} {
  %v1 = stablehlo.round_nearest_even %a0 : tensor<96xf32>
  return %v1 : tensor<96xf32>
}

// ----- rne-magic
// reject numeric: rounding
// why: only below 2^22
// witness: {"set": {"0": [[3, 1000000064.0], [4, 8388609.0], [5, 16777217.0]]}}
  %v1 = stablehlo.constant dense<12582912.0> : tensor<96xf32>
  %v2 = stablehlo.add %a0, %v1 : tensor<96xf32>
  %v3 = stablehlo.constant dense<12582912.0> : tensor<96xf32>
  %v4 = stablehlo.subtract %v2, %v3 : tensor<96xf32>
  return %v4 : tensor<96xf32>

// ----- ok-rne-magic-guarded
// accept: rounding
// why: magic number where |x| < 2^22
  %v1 = stablehlo.abs %a0 : tensor<96xf32>
  %v2 = stablehlo.constant dense<4194304.0> : tensor<96xf32>
  %v3 = stablehlo.compare LT, %v1, %v2 : (tensor<96xf32>, tensor<96xf32>) -> tensor<96xi1>
  %v4 = stablehlo.constant dense<12582912.0> : tensor<96xf32>
  %v5 = stablehlo.add %a0, %v4 : tensor<96xf32>
  %v6 = stablehlo.constant dense<12582912.0> : tensor<96xf32>
  %v7 = stablehlo.subtract %v5, %v6 : tensor<96xf32>
  %v8 = stablehlo.round_nearest_even %a0 : tensor<96xf32>
  %v9 = stablehlo.select %v3, %v7, %v8 : tensor<96xi1>, tensor<96xf32>
  return %v9 : tensor<96xf32>
