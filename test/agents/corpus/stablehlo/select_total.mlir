// x where x >= y, else y + 1: ordinary comparison, false for NaN.
func.func @main(%x: tensor<10xf32>, %y: tensor<10xf32>) -> tensor<10xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<10xf32>
  %s = stablehlo.add %y, %one : tensor<10xf32>
  // common above
  %c = stablehlo.compare GE, %x, %y, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
  %r = stablehlo.select %c, %x, %s : tensor<10xi1>, tensor<10xf32>
  return %r : tensor<10xf32>
}

// ----- total-order
// reject numeric: signed zero
// why: in the total order -0 is less than +0, and NaN greater than all
// unchecked: the interpreter takes every comparison of floats for the ordinary one
// witness: {"set": {"0": [[0, -0.0]], "1": [[0, 0.0]]}}
  %c = stablehlo.compare GE, %x, %y, TOTALORDER : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
  %r = stablehlo.select %c, %x, %s : tensor<10xi1>, tensor<10xf32>
  return %r : tensor<10xf32>

// ----- not-less
// reject numeric: nan/inf
// why: "not less" is true for NaN
// witness: {"set": {"0": [[4, "nan"]]}}
  %c = stablehlo.compare LT, %x, %y, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
  %r = stablehlo.select %c, %s, %x : tensor<10xi1>, tensor<10xf32>
  return %r : tensor<10xf32>

// ----- ok-less-equal-turned
// accept: comparison
// why: y <= x is x >= y for NaN too
  %c = stablehlo.compare LE, %y, %x, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
  %n = stablehlo.not %c : tensor<10xi1>
  %r = stablehlo.select %n, %s, %x : tensor<10xi1>, tensor<10xf32>
  return %r : tensor<10xf32>

// ----- ok-difference-not-negative
// accept: comparison
// why: x - y >= 0 is x >= y but for equal infinities, and there y + 1 is x
  %z = stablehlo.constant dense<0.0> : tensor<10xf32>
  %d = stablehlo.subtract %x, %y : tensor<10xf32>
  %c = stablehlo.compare GE, %d, %z, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
  %r = stablehlo.select %c, %x, %s : tensor<10xi1>, tensor<10xf32>
  return %r : tensor<10xf32>

// ----- strictly-greater
// reject numeric: tie-break
// why: differs where x = y
// witness: {"fill": "equal"}
  %c = stablehlo.compare GT, %x, %y, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
  %r = stablehlo.select %c, %x, %s : tensor<10xi1>, tensor<10xf32>
  return %r : tensor<10xf32>

// ----- mask-arithmetic
// reject numeric: nan/inf
// why: c * x + (1 - c) * (y + 1): 0 * inf is NaN
// witness: {"set": {"0": [[4, 1.0]], "1": [[4, "-inf"]]}}
  %c = stablehlo.compare GE, %x, %y, FLOAT : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
  %f = stablehlo.convert %c : (tensor<10xi1>) -> tensor<10xf32>
  %g = stablehlo.subtract %one, %f : tensor<10xf32>
  %p = stablehlo.multiply %f, %x : tensor<10xf32>
  %q = stablehlo.multiply %g, %s : tensor<10xf32>
  %r = stablehlo.add %p, %q : tensor<10xf32>
  return %r : tensor<10xf32>
