// Whether two numbers differ.
func.func @main(%a0: tensor<96xf32>, %a1: tensor<96xf32>) -> tensor<96xi1> {
  %v1 = stablehlo.compare NE, %a0, %a1 : (tensor<96xf32>, tensor<96xf32>) -> tensor<96xi1>
  return %v1 : tensor<96xi1>
}

// ----- ne-as-lt-gt
// reject numeric: nan/inf
// why: NaN
// witness: {"set": {"0": [[3, NaN]]}}
  %v1 = stablehlo.compare LT, %a0, %a1 : (tensor<96xf32>, tensor<96xf32>) -> tensor<96xi1>
  %v2 = stablehlo.compare GT, %a0, %a1 : (tensor<96xf32>, tensor<96xf32>) -> tensor<96xi1>
  %v3 = stablehlo.or %v1, %v2 : tensor<96xi1>
  return %v3 : tensor<96xi1>

// ----- ok-ne-not-eq
// accept: comparison
// why: NE is the negation of EQ for NaN too
  %v1 = stablehlo.compare EQ, %a0, %a1 : (tensor<96xf32>, tensor<96xf32>) -> tensor<96xi1>
  %v2 = stablehlo.not %v1 : tensor<96xi1>
  return %v2 : tensor<96xi1>
