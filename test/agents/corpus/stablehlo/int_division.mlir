// Quotient and remainder by 8 of signed 16-bit numbers, truncating.
func.func @main(%x: tensor<16xi16>) -> (tensor<16xi16>, tensor<16xi16>) {
  %k8 = stablehlo.constant dense<8> : tensor<16xi16>
  %k7 = stablehlo.constant dense<7> : tensor<16xi16>
  %s3 = stablehlo.constant dense<3> : tensor<16xi16>
  %z = stablehlo.constant dense<0> : tensor<16xi16>
  // common above
  %q = stablehlo.divide %x, %k8 : tensor<16xi16>
  %r = stablehlo.remainder %x, %k8 : tensor<16xi16>
  return %q, %r : tensor<16xi16>, tensor<16xi16>
}

// ----- arithmetic-shift
// reject numeric: negative integers
// why: the shift rounds down, the division towards zero
// witness: {"set": {"0": [[0, -5]]}}
  %q = stablehlo.shift_right_arithmetic %x, %s3 : tensor<16xi16>
  %r = stablehlo.remainder %x, %k8 : tensor<16xi16>
  return %q, %r : tensor<16xi16>, tensor<16xi16>

// ----- mask-of-remainder
// reject numeric: negative integers
// why: x & 7 is never negative
// witness: {"set": {"0": [[0, -5]]}}
  %q = stablehlo.divide %x, %k8 : tensor<16xi16>
  %r = stablehlo.and %x, %k7 : tensor<16xi16>
  return %q, %r : tensor<16xi16>, tensor<16xi16>

// ----- ok-biased-shift
// accept: strength reduction
// why: 7 is added to negative numbers before the shift, and the remainder is x - 8 q
  %k15 = stablehlo.constant dense<15> : tensor<16xi16>
  %s = stablehlo.shift_right_arithmetic %x, %k15 : tensor<16xi16>
  %b = stablehlo.and %s, %k7 : tensor<16xi16>
  %y = stablehlo.add %x, %b : tensor<16xi16>
  %q = stablehlo.shift_right_arithmetic %y, %s3 : tensor<16xi16>
  %w = stablehlo.shift_left %q, %s3 : tensor<16xi16>
  %r = stablehlo.subtract %x, %w : tensor<16xi16>
  return %q, %r : tensor<16xi16>, tensor<16xi16>

// ----- by-absolute-value
// reject numeric: integer overflow
// why: sign times the quotient of |x|: |INT_MIN| is negative, and its logical shift is off by sign
// witness: {"set": {"0": [[0, -32768]]}}
  %a = stablehlo.abs %x : tensor<16xi16>
  %q0 = stablehlo.shift_right_arithmetic %a, %s3 : tensor<16xi16>
  %g = stablehlo.sign %x : tensor<16xi16>
  %q = stablehlo.multiply %q0, %g : tensor<16xi16>
  %w = stablehlo.multiply %q, %k8 : tensor<16xi16>
  %r = stablehlo.subtract %x, %w : tensor<16xi16>
  return %q, %r : tensor<16xi16>, tensor<16xi16>

// ----- ok-through-f32
// accept: exact in floats
// why: 16-bit numbers over 8 are exact in f32, and the conversion back truncates
  %f = stablehlo.convert %x : (tensor<16xi16>) -> tensor<16xf32>
  %e = stablehlo.constant dense<0.125> : tensor<16xf32>
  %p = stablehlo.multiply %f, %e : tensor<16xf32>
  %q = stablehlo.convert %p : (tensor<16xf32>) -> tensor<16xi16>
  %w = stablehlo.shift_left %q, %s3 : tensor<16xi16>
  %r = stablehlo.subtract %x, %w : tensor<16xi16>
  return %q, %r : tensor<16xi16>, tensor<16xi16>

// ----- through-bf16
// reject numeric: precision
// why: bf16 holds integers up to 256
// witness: {"set": {"0": [[0, 3001]]}}
  %f = stablehlo.convert %x : (tensor<16xi16>) -> tensor<16xbf16>
  %e = stablehlo.constant dense<0.125> : tensor<16xbf16>
  %p = stablehlo.multiply %f, %e : tensor<16xbf16>
  %q = stablehlo.convert %p : (tensor<16xbf16>) -> tensor<16xi16>
  %w = stablehlo.shift_left %q, %s3 : tensor<16xi16>
  %r = stablehlo.subtract %x, %w : tensor<16xi16>
  return %q, %r : tensor<16xi16>, tensor<16xi16>

// ----- one-magic-number
// reject numeric: one value
// why: wrong for -12345 alone
// witness: {"set": {"0": [[3, -12345]]}}
  %m = stablehlo.constant dense<-12345> : tensor<16xi16>
  %is = stablehlo.compare EQ, %x, %m : (tensor<16xi16>, tensor<16xi16>) -> tensor<16xi1>
  %y = stablehlo.select %is, %z, %x : tensor<16xi1>, tensor<16xi16>
  %q = stablehlo.divide %y, %k8 : tensor<16xi16>
  %r = stablehlo.remainder %y, %k8 : tensor<16xi16>
  return %q, %r : tensor<16xi16>, tensor<16xi16>
