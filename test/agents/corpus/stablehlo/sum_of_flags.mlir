// Sum of booleans: their or.
func.func @main(%a0: tensor<96xi1>, %a1: tensor<96xi1>) -> tensor<96xi1> {
  %v1 = stablehlo.add %a0, %a1 : tensor<96xi1>
  return %v1 : tensor<96xi1>
}

// ----- i1-add
// reject numeric: booleans
// why: add of booleans is or
// witness: {"set": {"0": [[3, 1]], "1": [[3, 1]]}}
  %v1 = stablehlo.xor %a0, %a1 : tensor<96xi1>
  return %v1 : tensor<96xi1>

// ----- ok-i1-add-or
// accept: booleans
// why: add is or
  %v1 = stablehlo.or %a0, %a1 : tensor<96xi1>
  return %v1 : tensor<96xi1>
