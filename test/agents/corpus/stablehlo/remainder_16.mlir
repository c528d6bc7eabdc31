// Remainder by 16, with the sign of x.
func.func @main(%a0: tensor<96xi32>) -> tensor<96xi32> {
  %v1 = stablehlo.constant dense<16> : tensor<96xi32>
  %v2 = stablehlo.remainder %a0, %v1 : tensor<96xi32>
  return %v2 : tensor<96xi32>
}

// ----- rem-pow2-signed
// reject numeric: negative integers
// why: shift rounds down
// witness: {"set": {"0": [[3, -5]]}}
  %v1 = stablehlo.constant dense<4> : tensor<96xi32>
  %v2 = stablehlo.shift_right_arithmetic %a0, %v1 : tensor<96xi32>
  %v3 = stablehlo.constant dense<4> : tensor<96xi32>
  %v4 = stablehlo.shift_left %v2, %v3 : tensor<96xi32>
  %v5 = stablehlo.subtract %a0, %v4 : tensor<96xi32>
  return %v5 : tensor<96xi32>

// ----- ok-rem-pow2-fix
// accept: strength reduction
// why: bias of negative numbers by 15
  %v1 = stablehlo.constant dense<31> : tensor<96xi32>
  %v2 = stablehlo.shift_right_arithmetic %a0, %v1 : tensor<96xi32>
  %v3 = stablehlo.constant dense<28> : tensor<96xi32>
  %v4 = stablehlo.shift_right_logical %v2, %v3 : tensor<96xi32>
  %v5 = stablehlo.add %a0, %v4 : tensor<96xi32>
  %v6 = stablehlo.constant dense<15> : tensor<96xi32>
  %v7 = stablehlo.and %v5, %v6 : tensor<96xi32>
  %v8 = stablehlo.subtract %v7, %v4 : tensor<96xi32>
  return %v8 : tensor<96xi32>
