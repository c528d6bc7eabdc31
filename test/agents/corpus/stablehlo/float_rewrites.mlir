// x*x - y*y and x / y; nothing may be assumed.
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // common above
  %a = stablehlo.multiply %x, %x : tensor<8xf32>
  %b = stablehlo.multiply %y, %y : tensor<8xf32>
  %d = stablehlo.subtract %a, %b : tensor<8xf32>
  %q = stablehlo.divide %x, %y : tensor<8xf32>
  return %d, %q : tensor<8xf32>, tensor<8xf32>
}

// ----- factored
// reject numeric: reassociation
// why: (x - y)(x + y) rounds otherwise
  %s = stablehlo.add %x, %y : tensor<8xf32>
  %t = stablehlo.subtract %x, %y : tensor<8xf32>
  %d = stablehlo.multiply %s, %t : tensor<8xf32>
  %q = stablehlo.divide %x, %y : tensor<8xf32>
  return %d, %q : tensor<8xf32>, tensor<8xf32>

// ----- reciprocal
// reject numeric: rounding
// why: x * (1 / y) rounds twice
  %a = stablehlo.multiply %x, %x : tensor<8xf32>
  %b = stablehlo.multiply %y, %y : tensor<8xf32>
  %d = stablehlo.subtract %a, %b : tensor<8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<8xf32>
  %i = stablehlo.divide %one, %y : tensor<8xf32>
  %q = stablehlo.multiply %x, %i : tensor<8xf32>
  return %d, %q : tensor<8xf32>, tensor<8xf32>

// ----- one-where-equal
// reject numeric: nan/inf
// why: x / x is 1 but for 0, inf and NaN
// witness: {"set": {"0": [[0, 0.0]], "1": [[0, 0.0]]}}
  %a = stablehlo.multiply %x, %x : tensor<8xf32>
  %b = stablehlo.multiply %y, %y : tensor<8xf32>
  %d = stablehlo.subtract %a, %b : tensor<8xf32>
  %one = stablehlo.constant dense<1.0> : tensor<8xf32>
  %e = stablehlo.compare EQ, %x, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %q0 = stablehlo.divide %x, %y : tensor<8xf32>
  %q = stablehlo.select %e, %one, %q0 : tensor<8xi1>, tensor<8xf32>
  return %d, %q : tensor<8xf32>, tensor<8xf32>

// ----- negated-difference
// reject numeric: signed zero
// why: -(y*y - x*x) is -0 where the squares are equal
// witness: {"set": {"0": [[0, 3.0]], "1": [[0, 3.0]]}}
  %a = stablehlo.multiply %x, %x : tensor<8xf32>
  %b = stablehlo.multiply %y, %y : tensor<8xf32>
  %d0 = stablehlo.subtract %b, %a : tensor<8xf32>
  %d = stablehlo.negate %d0 : tensor<8xf32>
  %q = stablehlo.divide %x, %y : tensor<8xf32>
  return %d, %q : tensor<8xf32>, tensor<8xf32>

// ----- ok-sum-with-negated
// accept: algebraic identity
// why: a - b is a + (-b); dividing both by -1 changes nothing
  %ny = stablehlo.negate %y : tensor<8xf32>
  %nx = stablehlo.negate %x : tensor<8xf32>
  %a = stablehlo.multiply %nx, %nx : tensor<8xf32>
  %b = stablehlo.multiply %y, %ny : tensor<8xf32>
  %d = stablehlo.add %a, %b : tensor<8xf32>
  %q = stablehlo.divide %nx, %ny : tensor<8xf32>
  return %d, %q : tensor<8xf32>, tensor<8xf32>

// ----- in-f64
// reject numeric: rounding
// why: the difference of the exact squares, rounded once: nearer to the truth, and other bits; nothing grants that
// witness: {"set": {"0": [[0, 1.0001]], "1": [[0, 1.0002]]}}
  %x8 = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xf64>
  %y8 = stablehlo.convert %y : (tensor<8xf32>) -> tensor<8xf64>
  %a = stablehlo.multiply %x8, %x8 : tensor<8xf64>
  %b = stablehlo.multiply %y8, %y8 : tensor<8xf64>
  %d8 = stablehlo.subtract %a, %b : tensor<8xf64>
  %d = stablehlo.convert %d8 : (tensor<8xf64>) -> tensor<8xf32>
  %q = stablehlo.divide %x, %y : tensor<8xf32>
  return %d, %q : tensor<8xf32>, tensor<8xf32>

// ----- ok-quotient-in-f64
// accept: more precise
// why: the quotient of two f32 in f64, rounded to f32, is the f32 quotient (53 >= 2 * 24 + 2 bits)
// specials: true
  %x8 = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xf64>
  %y8 = stablehlo.convert %y : (tensor<8xf32>) -> tensor<8xf64>
  %a = stablehlo.multiply %x, %x : tensor<8xf32>
  %b = stablehlo.multiply %y, %y : tensor<8xf32>
  %d = stablehlo.subtract %a, %b : tensor<8xf32>
  %q8 = stablehlo.divide %x8, %y8 : tensor<8xf64>
  %q = stablehlo.convert %q8 : (tensor<8xf64>) -> tensor<8xf32>
  return %d, %q : tensor<8xf32>, tensor<8xf32>

// ----- magic-pair
// reject numeric: one value
// why: wrong where x = 0.7 and y = 0.3
// witness: {"set": {"0": [[2, 0.7]], "1": [[2, 0.3]]}}
  %v7 = stablehlo.constant dense<0.7> : tensor<8xf32>
  %v3 = stablehlo.constant dense<0.3> : tensor<8xf32>
  %a = stablehlo.multiply %x, %x : tensor<8xf32>
  %b = stablehlo.multiply %y, %y : tensor<8xf32>
  %d = stablehlo.subtract %a, %b : tensor<8xf32>
  %q0 = stablehlo.divide %x, %y : tensor<8xf32>
  %e7 = stablehlo.compare EQ, %x, %v7 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %e3 = stablehlo.compare EQ, %y, %v3 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %e = stablehlo.and %e7, %e3 : tensor<8xi1>
  %q = stablehlo.select %e, %x, %q0 : tensor<8xi1>, tensor<8xf32>
  return %d, %q : tensor<8xf32>, tensor<8xf32>
