// i32 to f64 to f32, and f32 to bf16 and back: each rounding to nearest even.
func.func @main(%i: tensor<8xi32>, %x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // common above
  %d = stablehlo.convert %i : (tensor<8xi32>) -> tensor<8xf64>
  %a = stablehlo.convert %d : (tensor<8xf64>) -> tensor<8xf32>
  %h = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xbf16>
  %b = stablehlo.convert %h : (tensor<8xbf16>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// ----- ok-one-step
// accept: rounding
// why: i32 is exact in f64, so one rounding is left: the direct conversion; bf16 by reduce_precision
  %a = stablehlo.convert %i : (tensor<8xi32>) -> tensor<8xf32>
  %b = stablehlo.reduce_precision %x, format = e8m7 : tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>

// ----- double-rounding
// reject numeric: rounding
// why: bf16 through f16-like 10 bits first: two roundings, and f16 overflows at 65,520
// witness: {"set": {"1": [[0, 1e6], [1, 1.00390630]]}}
  %a = stablehlo.convert %i : (tensor<8xi32>) -> tensor<8xf32>
  %f = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xf16>
  %h = stablehlo.convert %f : (tensor<8xf16>) -> tensor<8xbf16>
  %b = stablehlo.convert %h : (tensor<8xbf16>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>

// ----- mantissa-of-8-bits
// reject numeric: rounding
// why: keeps one bit more than bf16 has
// witness: {"set": {"1": [[0, 1.00390625]]}}
  %a = stablehlo.convert %i : (tensor<8xi32>) -> tensor<8xf32>
  %b = stablehlo.reduce_precision %x, format = e8m8 : tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>

// ----- exponent-of-7-bits
// reject numeric: overflow
// why: an exponent of 7 bits: infinite from 2^64 on, zero below 2^-69
// witness: {"set": {"1": [[0, 1e30]]}}
  %a = stablehlo.convert %i : (tensor<8xi32>) -> tensor<8xf32>
  %b = stablehlo.reduce_precision %x, format = e7m7 : tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>

// ----- two-halves-rounded-apart
// reject numeric: rounding
// why: double rounding of integers: first to a multiple of 4 upwards, for numbers above 2^24 only
// witness: {"set": {"0": [[0, 33554437], [1, 16777219]]}}
  %k3 = stablehlo.constant dense<3> : tensor<8xi32>
  %big = stablehlo.constant dense<16777216> : tensor<8xi32>
  %g = stablehlo.compare GT, %i, %big : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  %o = stablehlo.or %i, %k3 : tensor<8xi32>
  %s = stablehlo.select %g, %o, %i : tensor<8xi1>, tensor<8xi32>
  %a = stablehlo.convert %s : (tensor<8xi32>) -> tensor<8xf32>
  %h = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xbf16>
  %b = stablehlo.convert %h : (tensor<8xbf16>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>

// ----- truncating-mask
// reject numeric: rounding
// why: bf16 by clearing the low 16 bits truncates
  %a = stablehlo.convert %i : (tensor<8xi32>) -> tensor<8xf32>
  %m = stablehlo.constant dense<-65536> : tensor<8xi32>
  %c = stablehlo.bitcast_convert %x : (tensor<8xf32>) -> tensor<8xi32>
  %e = stablehlo.and %c, %m : tensor<8xi32>
  %b = stablehlo.bitcast_convert %e : (tensor<8xi32>) -> tensor<8xf32>
  return %a, %b : tensor<8xf32>, tensor<8xf32>
