// Rounding halves away from zero; the sign of zero is free.
// tolerance: exact nsz
func.func @main(%a0: tensor<96xf32>) -> tensor<96xf32> attributes {kc.allow = ["nsz"]} {
  %v1 = stablehlo.round_nearest_afz %a0 : tensor<96xf32>
  return %v1 : tensor<96xf32>
}

// ----- afz-as-floor-half
// reject numeric: rounding
// why: 0.49999997 + 0.5 = 1
// witness: {"set": {"0": [[3, 0.49999997]]}}
  %v1 = stablehlo.sign %a0 : tensor<96xf32>
  %v2 = stablehlo.abs %a0 : tensor<96xf32>
  %v3 = stablehlo.constant dense<0.5> : tensor<96xf32>
  %v4 = stablehlo.add %v2, %v3 : tensor<96xf32>
  %v5 = stablehlo.floor %v4 : tensor<96xf32>
  %v6 = stablehlo.multiply %v1, %v5 : tensor<96xf32>
  return %v6 : tensor<96xf32>

// ----- ok-afz-as-floor-diff
// accept: rounding
// why: fraction exact: compare with one half
  %v1 = stablehlo.abs %a0 : tensor<96xf32>
  %v2 = stablehlo.floor %v1 : tensor<96xf32>
  %v3 = stablehlo.subtract %v1, %v2 : tensor<96xf32>
  %v4 = stablehlo.constant dense<0.5> : tensor<96xf32>
  %v5 = stablehlo.compare GE, %v3, %v4 : (tensor<96xf32>, tensor<96xf32>) -> tensor<96xi1>
  %v6 = stablehlo.constant dense<1.0> : tensor<96xf32>
  %v7 = stablehlo.add %v2, %v6 : tensor<96xf32>
  %v8 = stablehlo.select %v5, %v7, %v2 : tensor<96xi1>, tensor<96xf32>
  %v9 = stablehlo.constant dense<0.0> : tensor<96xf32>
  %v10 = stablehlo.compare GE, %a0, %v9 : (tensor<96xf32>, tensor<96xf32>) -> tensor<96xi1>
  %v11 = stablehlo.constant dense<1.0> : tensor<96xf32>
  %v12 = stablehlo.constant dense<-1.0> : tensor<96xf32>
  %v13 = stablehlo.select %v10, %v11, %v12 : tensor<96xi1>, tensor<96xf32>
  %v14 = stablehlo.multiply %v8, %v13 : tensor<96xf32>
  return %v14 : tensor<96xf32>
