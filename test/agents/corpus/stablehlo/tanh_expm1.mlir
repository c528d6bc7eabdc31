// expm1(x) and tanh(x); approximations are allowed.
// tolerance: ref64 1e-5 1e-30 32
func.func @main(%x: tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>) attributes {kc.allow = ["approx", "contract"]} {
  %one = stablehlo.constant dense<1.0> : tensor<10xf32>
  %two = stablehlo.constant dense<2.0> : tensor<10xf32>
  // common above
  %r = stablehlo.exponential_minus_one %x : tensor<10xf32>
  %t = stablehlo.tanh %x : tensor<10xf32>
  return %r, %t : tensor<10xf32>, tensor<10xf32>
}

// ----- exp-minus-one
// reject numeric: cancellation
// why: exp(1e-9) - 1 is 0
// assumes: approx
// witness: {"set": {"0": [[0, 1e-9]]}}
  %e = stablehlo.exponential %x : tensor<10xf32>
  %r = stablehlo.subtract %e, %one : tensor<10xf32>
  %t = stablehlo.tanh %x : tensor<10xf32>
  return %r, %t : tensor<10xf32>, tensor<10xf32>

// ----- tanh-by-exp
// reject numeric: overflow
// why: (exp(2x) - 1) / (exp(2x) + 1) is inf / inf from 45 on
// assumes: approx
// witness: {"set": {"0": [[0, 60.0]]}}
  %r = stablehlo.exponential_minus_one %x : tensor<10xf32>
  %x2 = stablehlo.add %x, %x : tensor<10xf32>
  %e = stablehlo.exponential_minus_one %x2 : tensor<10xf32>
  %d = stablehlo.add %e, %two : tensor<10xf32>
  %t = stablehlo.divide %e, %d : tensor<10xf32>
  return %r, %t : tensor<10xf32>, tensor<10xf32>

// ----- ok-tanh-by-negative-exp
// accept: approximation
// why: -expm1(-2|x|) / (2 + expm1(-2|x|)) with the sign put back: no overflow, and small arguments keep their digits
// assumes: approx
  %r = stablehlo.exponential_minus_one %x : tensor<10xf32>
  %m2 = stablehlo.constant dense<-2.0> : tensor<10xf32>
  %a = stablehlo.abs %x : tensor<10xf32>
  %y = stablehlo.multiply %a, %m2 : tensor<10xf32>
  %e = stablehlo.exponential_minus_one %y : tensor<10xf32>
  %n = stablehlo.negate %e : tensor<10xf32>
  %d = stablehlo.add %e, %two : tensor<10xf32>
  %q = stablehlo.divide %n, %d : tensor<10xf32>
  %s = stablehlo.sign %x : tensor<10xf32>
  %u = stablehlo.multiply %q, %s : tensor<10xf32>
  %z = stablehlo.constant dense<0.0> : tensor<10xf32>
  %is0 = stablehlo.compare EQ, %x, %z : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
  %t = stablehlo.select %is0, %x, %u : tensor<10xi1>, tensor<10xf32>
  return %r, %t : tensor<10xf32>, tensor<10xf32>

// ----- clipped-tanh
// reject numeric: nan/inf
// why: clamps to [-9, 9] first; a maximum that drops NaN through a comparison makes it -1
// assumes: approx
// witness: {"set": {"0": [[0, "nan"]]}}
  %r = stablehlo.exponential_minus_one %x : tensor<10xf32>
  %lo = stablehlo.constant dense<-9.0> : tensor<10xf32>
  %g = stablehlo.compare GT, %x, %lo : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xi1>
  %c = stablehlo.select %g, %x, %lo : tensor<10xi1>, tensor<10xf32>
  %t = stablehlo.tanh %c : tensor<10xf32>
  return %r, %t : tensor<10xf32>, tensor<10xf32>

// ----- rational-tanh
// reject numeric: approximation
// why: x (27 + x^2) / (27 + 9 x^2), good near zero only
// assumes: approx
  %r = stablehlo.exponential_minus_one %x : tensor<10xf32>
  %k = stablehlo.constant dense<27.0> : tensor<10xf32>
  %n9 = stablehlo.constant dense<9.0> : tensor<10xf32>
  %q = stablehlo.multiply %x, %x : tensor<10xf32>
  %a = stablehlo.add %q, %k : tensor<10xf32>
  %b = stablehlo.multiply %x, %a : tensor<10xf32>
  %c = stablehlo.multiply %q, %n9 : tensor<10xf32>
  %d = stablehlo.add %c, %k : tensor<10xf32>
  %t = stablehlo.divide %b, %d : tensor<10xf32>
  return %r, %t : tensor<10xf32>, tensor<10xf32>

// ----- results-exchanged
// reject numeric: argument order
// why: the two results change places
  %r = stablehlo.exponential_minus_one %x : tensor<10xf32>
  %t = stablehlo.tanh %x : tensor<10xf32>
  return %t, %r : tensor<10xf32>, tensor<10xf32>
