// x^7 of 32-bit integers, wrapping, and the number of set bits.
func.func @main(%x: tensor<11xi32>) -> (tensor<11xi32>, tensor<11xi32>) {
  %k7 = stablehlo.constant dense<7> : tensor<11xi32>
  %one = stablehlo.constant dense<1> : tensor<11xi32>
  // common above
  %p = stablehlo.power %x, %k7 : tensor<11xi32>
  %c = stablehlo.popcnt %x : tensor<11xi32>
  return %p, %c : tensor<11xi32>, tensor<11xi32>
}

// ----- ok-by-squaring
// accept: integer identity
// why: x, x^2, x^4 multiplied; wrapping products agree in any order; bits counted by masks
  %x2 = stablehlo.multiply %x, %x : tensor<11xi32>
  %x4 = stablehlo.multiply %x2, %x2 : tensor<11xi32>
  %x3 = stablehlo.multiply %x2, %x : tensor<11xi32>
  %p = stablehlo.multiply %x3, %x4 : tensor<11xi32>
  %m1 = stablehlo.constant dense<1431655765> : tensor<11xi32>
  %m2 = stablehlo.constant dense<858993459> : tensor<11xi32>
  %m4 = stablehlo.constant dense<252645135> : tensor<11xi32>
  %mm = stablehlo.constant dense<16843009> : tensor<11xi32>
  %s1 = stablehlo.constant dense<1> : tensor<11xi32>
  %s2 = stablehlo.constant dense<2> : tensor<11xi32>
  %s4 = stablehlo.constant dense<4> : tensor<11xi32>
  %s24 = stablehlo.constant dense<24> : tensor<11xi32>
  %a0 = stablehlo.shift_right_logical %x, %s1 : tensor<11xi32>
  %a1 = stablehlo.and %a0, %m1 : tensor<11xi32>
  %a = stablehlo.subtract %x, %a1 : tensor<11xi32>
  %b0 = stablehlo.shift_right_logical %a, %s2 : tensor<11xi32>
  %b1 = stablehlo.and %b0, %m2 : tensor<11xi32>
  %b2 = stablehlo.and %a, %m2 : tensor<11xi32>
  %b = stablehlo.add %b1, %b2 : tensor<11xi32>
  %d0 = stablehlo.shift_right_logical %b, %s4 : tensor<11xi32>
  %d1 = stablehlo.add %b, %d0 : tensor<11xi32>
  %d = stablehlo.and %d1, %m4 : tensor<11xi32>
  %e = stablehlo.multiply %d, %mm : tensor<11xi32>
  %c = stablehlo.shift_right_logical %e, %s24 : tensor<11xi32>
  return %p, %c : tensor<11xi32>, tensor<11xi32>

// ----- through-f32
// reject numeric: precision
// why: 24 bits of mantissa
// witness: {"set": {"0": [[0, 13]]}}
  %f = stablehlo.convert %x : (tensor<11xi32>) -> tensor<11xf32>
  %f2 = stablehlo.multiply %f, %f : tensor<11xf32>
  %f4 = stablehlo.multiply %f2, %f2 : tensor<11xf32>
  %f6 = stablehlo.multiply %f4, %f2 : tensor<11xf32>
  %f7 = stablehlo.multiply %f6, %f : tensor<11xf32>
  %p = stablehlo.convert %f7 : (tensor<11xf32>) -> tensor<11xi32>
  %c = stablehlo.popcnt %x : tensor<11xi32>
  return %p, %c : tensor<11xi32>, tensor<11xi32>

// ----- bits-of-magnitude
// reject numeric: negative integers
// why: counts the bits of |x|
// witness: {"set": {"0": [[0, -1]]}}
  %p = stablehlo.power %x, %k7 : tensor<11xi32>
  %a = stablehlo.abs %x : tensor<11xi32>
  %c = stablehlo.popcnt %a : tensor<11xi32>
  return %p, %c : tensor<11xi32>, tensor<11xi32>

// ----- low-16-bits-counted
// reject numeric: integer overflow
// why: the bits above 16 are not counted: right for small non-negative numbers
// witness: {"set": {"0": [[0, 65536]]}}
  %m = stablehlo.constant dense<65535> : tensor<11xi32>
  %p = stablehlo.power %x, %k7 : tensor<11xi32>
  %z = stablehlo.constant dense<0> : tensor<11xi32>
  %neg = stablehlo.compare LT, %x, %z : (tensor<11xi32>, tensor<11xi32>) -> tensor<11xi1>
  %a = stablehlo.and %x, %m : tensor<11xi32>
  %y = stablehlo.select %neg, %x, %a : tensor<11xi1>, tensor<11xi32>
  %c = stablehlo.popcnt %y : tensor<11xi32>
  return %p, %c : tensor<11xi32>, tensor<11xi32>

// ----- kernighan-loop
// reject resource: endless loop
// why: clears the lowest set bit until none is left, but not the sign bit when it stands alone
// witness: {"set": {"0": [[0, -2147483648]]}}
  %p = stablehlo.power %x, %k7 : tensor<11xi32>
  %z = stablehlo.constant dense<0> : tensor<11xi32>
  %w:2 = stablehlo.while(%y = %x, %n = %z) : tensor<11xi32>, tensor<11xi32>
  cond {
    %f = stablehlo.constant dense<false> : tensor<i1>
    %ne = stablehlo.compare NE, %y, %z : (tensor<11xi32>, tensor<11xi32>) -> tensor<11xi1>
    %any = stablehlo.reduce(%ne init: %f) applies stablehlo.or across dimensions = [0] : (tensor<11xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %any : tensor<i1>
  } do {
    %ne = stablehlo.compare NE, %y, %z : (tensor<11xi32>, tensor<11xi32>) -> tensor<11xi1>
    %m = stablehlo.subtract %y, %one : tensor<11xi32>
    %q = stablehlo.and %y, %m : tensor<11xi32>
    %min = stablehlo.constant dense<-2147483648> : tensor<11xi32>
    %stuck = stablehlo.compare EQ, %y, %min : (tensor<11xi32>, tensor<11xi32>) -> tensor<11xi1>
    %q1 = stablehlo.select %stuck, %y, %q : tensor<11xi1>, tensor<11xi32>
    %i = stablehlo.convert %ne : (tensor<11xi1>) -> tensor<11xi32>
    %n1 = stablehlo.add %n, %i : tensor<11xi32>
    stablehlo.return %q1, %n1 : tensor<11xi32>, tensor<11xi32>
  }
  return %p, %w#1 : tensor<11xi32>, tensor<11xi32>

// ----- ok-kernighan-loop
// accept: bounded loop
// why: clears the lowest set bit until none is left: at most 32 times
  %x2 = stablehlo.multiply %x, %x : tensor<11xi32>
  %x6 = stablehlo.power %x2, %k7 : tensor<11xi32>
  %p = stablehlo.power %x, %k7 : tensor<11xi32>
  %z = stablehlo.constant dense<0> : tensor<11xi32>
  %w:2 = stablehlo.while(%y = %x, %n = %z) : tensor<11xi32>, tensor<11xi32>
  cond {
    %f = stablehlo.constant dense<false> : tensor<i1>
    %ne = stablehlo.compare NE, %y, %z : (tensor<11xi32>, tensor<11xi32>) -> tensor<11xi1>
    %any = stablehlo.reduce(%ne init: %f) applies stablehlo.or across dimensions = [0] : (tensor<11xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %any : tensor<i1>
  } do {
    %ne = stablehlo.compare NE, %y, %z : (tensor<11xi32>, tensor<11xi32>) -> tensor<11xi1>
    %m = stablehlo.subtract %y, %one : tensor<11xi32>
    %q = stablehlo.and %y, %m : tensor<11xi32>
    %i = stablehlo.convert %ne : (tensor<11xi1>) -> tensor<11xi32>
    %n1 = stablehlo.add %n, %i : tensor<11xi32>
    stablehlo.return %q, %n1 : tensor<11xi32>, tensor<11xi32>
  }
  return %p, %w#1 : tensor<11xi32>, tensor<11xi32>
