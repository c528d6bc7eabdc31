// log(1 + exp(x)) in a form that neither overflows nor cancels; approximations are allowed.
// tolerance: ref64 1e-5 1e-30 16
func.func @main(%x: tensor<12xf32>) -> tensor<12xf32> attributes {kc.allow = ["approx", "reassoc"]} {
  %z = stablehlo.constant dense<0.0> : tensor<12xf32>
  %one = stablehlo.constant dense<1.0> : tensor<12xf32>
  // common above
  %a = stablehlo.abs %x : tensor<12xf32>
  %n = stablehlo.negate %a : tensor<12xf32>
  %e = stablehlo.exponential %n : tensor<12xf32>
  %l = stablehlo.log_plus_one %e : tensor<12xf32>
  %m = stablehlo.maximum %x, %z : tensor<12xf32>
  %r = stablehlo.add %m, %l : tensor<12xf32>
  return %r : tensor<12xf32>
}

// ----- exp-of-x
// reject numeric: overflow
// why: exp(x) overflows from 89 on
// assumes: approx
// witness: {"set": {"0": [[4, 100.0]]}}
  %e = stablehlo.exponential %x : tensor<12xf32>
  %r = stablehlo.log_plus_one %e : tensor<12xf32>
  return %r : tensor<12xf32>

// ----- log-of-sum
// reject numeric: cancellation
// why: 1 + exp(-20) is 1: the result is 0 instead of 2e-9
// assumes: approx
// witness: {"set": {"0": [[4, -20.0]]}}
  %a = stablehlo.abs %x : tensor<12xf32>
  %n = stablehlo.negate %a : tensor<12xf32>
  %e = stablehlo.exponential %n : tensor<12xf32>
  %s = stablehlo.add %e, %one : tensor<12xf32>
  %l = stablehlo.log %s : tensor<12xf32>
  %m = stablehlo.maximum %x, %z : tensor<12xf32>
  %r = stablehlo.add %m, %l : tensor<12xf32>
  return %r : tensor<12xf32>

// ----- cut-off-at-20
// reject numeric: approximation
// why: x itself above 20 is right; but 0 below -20 is no approximation of 2e-9
// assumes: approx
// witness: {"set": {"0": [[4, -20.5]]}}
  %hi = stablehlo.constant dense<20.0> : tensor<12xf32>
  %lo = stablehlo.constant dense<-20.0> : tensor<12xf32>
  %c = stablehlo.clamp %lo, %x, %hi : tensor<12xf32>
  %e = stablehlo.exponential %c : tensor<12xf32>
  %l = stablehlo.log_plus_one %e : tensor<12xf32>
  %big = stablehlo.compare GT, %x, %hi : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xi1>
  %small = stablehlo.compare LT, %x, %lo : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xi1>
  %s = stablehlo.select %big, %x, %l : tensor<12xi1>, tensor<12xf32>
  %r = stablehlo.select %small, %z, %s : tensor<12xi1>, tensor<12xf32>
  return %r : tensor<12xf32>

// ----- ok-select-on-sign
// accept: approximation
// why: for positive x: x + log1p(exp(-x)); for the others log1p(exp(x)); NaN takes the second road and stays NaN
// assumes: approx
  %n = stablehlo.negate %x : tensor<12xf32>
  %pos = stablehlo.compare GT, %x, %z : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xi1>
  %m = stablehlo.select %pos, %n, %x : tensor<12xi1>, tensor<12xf32>
  %e = stablehlo.exponential %m : tensor<12xf32>
  %l = stablehlo.log_plus_one %e : tensor<12xf32>
  %p = stablehlo.select %pos, %x, %z : tensor<12xi1>, tensor<12xf32>
  %r = stablehlo.add %l, %p : tensor<12xf32>
  return %r : tensor<12xf32>

// ----- not-claimed
// reject assumption: false assumption
// why: asks for nnan, which is not granted
// assumes: approx; nnan
  %a = stablehlo.abs %x : tensor<12xf32>
  %n = stablehlo.negate %a : tensor<12xf32>
  %e = stablehlo.exponential %n : tensor<12xf32>
  %l = stablehlo.log_plus_one %e : tensor<12xf32>
  %m = stablehlo.maximum %x, %z : tensor<12xf32>
  %r = stablehlo.add %m, %l : tensor<12xf32>
  return %r : tensor<12xf32>

// ----- minus-log-logistic
// reject numeric: overflow
// why: -log(logistic(-x)): the logistic is 0 beyond 104 and its log infinite
// assumes: approx
// witness: {"set": {"0": [[4, 200.0]]}}
  %n = stablehlo.negate %x : tensor<12xf32>
  %s = stablehlo.logistic %n : tensor<12xf32>
  %l = stablehlo.log %s : tensor<12xf32>
  %r = stablehlo.negate %l : tensor<12xf32>
  return %r : tensor<12xf32>
