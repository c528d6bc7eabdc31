// |a - b| of unsigned bytes, and whether a <= b.
func.func @main(%a: tensor<9xui8>, %b: tensor<9xui8>) -> (tensor<9xui8>, tensor<9xi1>) {
  // common above
  %m = stablehlo.maximum %a, %b : tensor<9xui8>
  %n = stablehlo.minimum %a, %b : tensor<9xui8>
  %d = stablehlo.subtract %m, %n : tensor<9xui8>
  %c = stablehlo.compare LE, %a, %b : (tensor<9xui8>, tensor<9xui8>) -> tensor<9xi1>
  return %d, %c : tensor<9xui8>, tensor<9xi1>
}

// ----- ok-saturating-differences
// accept: integer identity
// why: one of two saturating differences is 0, the other the distance
  %z = stablehlo.constant dense<0> : tensor<9xui8>
  %c = stablehlo.compare GE, %b, %a : (tensor<9xui8>, tensor<9xui8>) -> tensor<9xi1>
  %p = stablehlo.subtract %a, %b : tensor<9xui8>
  %q = stablehlo.subtract %b, %a : tensor<9xui8>
  %d = stablehlo.select %c, %q, %p : tensor<9xi1>, tensor<9xui8>
  return %d, %c : tensor<9xui8>, tensor<9xi1>

// ----- as-signed-bytes
// reject numeric: unsigned integers
// why: the absolute value of the signed 8-bit difference
// witness: {"set": {"0": [[0, 200]], "1": [[0, 10]]}}
  %p = stablehlo.subtract %a, %b : tensor<9xui8>
  %s = stablehlo.convert %p : (tensor<9xui8>) -> tensor<9xi8>
  %t = stablehlo.abs %s : tensor<9xi8>
  %d = stablehlo.convert %t : (tensor<9xi8>) -> tensor<9xui8>
  %c = stablehlo.compare LE, %a, %b : (tensor<9xui8>, tensor<9xui8>) -> tensor<9xi1>
  return %d, %c : tensor<9xui8>, tensor<9xi1>

// ----- compare-by-difference
// reject numeric: unsigned integers
// why: b - a is never negative as an unsigned number
// witness: {"set": {"0": [[0, 3]], "1": [[0, 2]]}}
  %m = stablehlo.maximum %a, %b : tensor<9xui8>
  %n = stablehlo.minimum %a, %b : tensor<9xui8>
  %d = stablehlo.subtract %m, %n : tensor<9xui8>
  %z = stablehlo.constant dense<0> : tensor<9xui8>
  %e = stablehlo.subtract %b, %a : tensor<9xui8>
  %c = stablehlo.compare GE, %e, %z : (tensor<9xui8>, tensor<9xui8>) -> tensor<9xi1>
  return %d, %c : tensor<9xui8>, tensor<9xi1>

// ----- compare-signed
// reject numeric: unsigned integers
// why: compares the bytes as signed numbers: wrong from 128 on
// witness: {"set": {"0": [[0, 200]], "1": [[0, 100]]}}
  %m = stablehlo.maximum %a, %b : tensor<9xui8>
  %n = stablehlo.minimum %a, %b : tensor<9xui8>
  %d = stablehlo.subtract %m, %n : tensor<9xui8>
  %sa = stablehlo.convert %a : (tensor<9xui8>) -> tensor<9xi8>
  %sb = stablehlo.convert %b : (tensor<9xui8>) -> tensor<9xi8>
  %c = stablehlo.compare LE, %sa, %sb : (tensor<9xi8>, tensor<9xi8>) -> tensor<9xi1>
  return %d, %c : tensor<9xui8>, tensor<9xi1>

// ----- ok-in-16-bits
// accept: integer identity
// why: the signed difference in 16 bits
  %sa = stablehlo.convert %a : (tensor<9xui8>) -> tensor<9xi16>
  %sb = stablehlo.convert %b : (tensor<9xui8>) -> tensor<9xi16>
  %p = stablehlo.subtract %sa, %sb : tensor<9xi16>
  %t = stablehlo.abs %p : tensor<9xi16>
  %d = stablehlo.convert %t : (tensor<9xi16>) -> tensor<9xui8>
  %z = stablehlo.constant dense<0> : tensor<9xi16>
  %c = stablehlo.compare LE, %p, %z : (tensor<9xi16>, tensor<9xi16>) -> tensor<9xi1>
  return %d, %c : tensor<9xui8>, tensor<9xi1>
