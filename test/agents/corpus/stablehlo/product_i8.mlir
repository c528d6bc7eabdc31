// Product of 8-bit matrices summed up in 32 bits.
func.func @main(%a0: tensor<4x32xi8>, %a1: tensor<32x4xi8>) -> tensor<4x4xi32> {
  %v1 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : (tensor<4x32xi8>, tensor<32x4xi8>) -> tensor<4x4xi32>
  return %v1 : tensor<4x4xi32>
}

// ----- dot-i8-acc
// reject numeric: integer overflow
// why: i8 accumulator
// witness: {"values": {"0": [[100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100], [100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100], [100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100], [100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100]], "1": [[100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100], [100, 100, 100, 100]]}}
  %v1 = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [0] : (tensor<4x32xi8>, tensor<32x4xi8>) -> tensor<4x4xi8>
  %v2 = stablehlo.convert %v1 : (tensor<4x4xi8>) -> tensor<4x4xi32>
  return %v2 : tensor<4x4xi32>

// ----- ok-dot-i8-wide
// accept: integer identity
// why: converted before
  %v1 = stablehlo.convert %a0 : (tensor<4x32xi8>) -> tensor<4x32xi32>
  %v2 = stablehlo.convert %a1 : (tensor<32x4xi8>) -> tensor<32x4xi32>
  %v3 = stablehlo.dot_general %v1, %v2, contracting_dims = [1] x [0] : (tensor<4x32xi32>, tensor<32x4xi32>) -> tensor<4x4xi32>
  return %v3 : tensor<4x4xi32>

// ----- ok-dot-i8-f32
// accept: exact in floats
// why: 32 * 2^14 < 2^24: exact
  %v1 = stablehlo.convert %a0 : (tensor<4x32xi8>) -> tensor<4x32xf32>
  %v2 = stablehlo.convert %a1 : (tensor<32x4xi8>) -> tensor<32x4xf32>
  %v3 = stablehlo.dot_general %v1, %v2, contracting_dims = [1] x [0] : (tensor<4x32xf32>, tensor<32x4xf32>) -> tensor<4x4xf32>
  %v4 = stablehlo.convert %v3 : (tensor<4x4xf32>) -> tensor<4x4xi32>
  return %v4 : tensor<4x4xi32>
