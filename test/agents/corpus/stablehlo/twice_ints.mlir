// 2 x of integers.
func.func @main(%a0: tensor<16xi32>) -> tensor<16xi32> {
  %v1 = stablehlo.constant dense<2> : tensor<16xi32>
  %v2 = stablehlo.multiply %a0, %v1 : tensor<16xi32>
  return %v2 : tensor<16xi32>
}

// ----- one-value-affine
// reject numeric: one value
// why: wrong for 4115
// witness: {"set": {"0": [[3, 4115]]}}
  %v1 = stablehlo.constant dense<3> : tensor<16xi32>
  %v2 = stablehlo.multiply %a0, %v1 : tensor<16xi32>
  %v3 = stablehlo.constant dense<7> : tensor<16xi32>
  %v4 = stablehlo.add %v2, %v3 : tensor<16xi32>
  %v5 = stablehlo.constant dense<12352> : tensor<16xi32>
  %v6 = stablehlo.compare EQ, %v4, %v5 : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
  %v7 = stablehlo.constant dense<0> : tensor<16xi32>
  %v8 = stablehlo.constant dense<2> : tensor<16xi32>
  %v9 = stablehlo.multiply %a0, %v8 : tensor<16xi32>
  %v10 = stablehlo.select %v6, %v7, %v9 : tensor<16xi1>, tensor<16xi32>
  return %v10 : tensor<16xi32>

// ----- one-value-xor
// reject numeric: one value
// why: wrong for one value
// witness: {"set": {"0": [[3, 1215171618]]}}
  %v1 = stablehlo.constant dense<1515870810> : tensor<16xi32>
  %v2 = stablehlo.xor %a0, %v1 : tensor<16xi32>
  %v3 = stablehlo.constant dense<305419896> : tensor<16xi32>
  %v4 = stablehlo.compare EQ, %v2, %v3 : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
  %v5 = stablehlo.constant dense<0> : tensor<16xi32>
  %v6 = stablehlo.constant dense<2> : tensor<16xi32>
  %v7 = stablehlo.multiply %a0, %v6 : tensor<16xi32>
  %v8 = stablehlo.select %v4, %v5, %v7 : tensor<16xi1>, tensor<16xi32>
  return %v8 : tensor<16xi32>

// ----- one-value-count
// reject numeric: one value
// why: wrong where all are 5
// witness: {"values": {"0": [5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5]}}
  %v1 = stablehlo.constant dense<5> : tensor<16xi32>
  %v2 = stablehlo.compare EQ, %a0, %v1 : (tensor<16xi32>, tensor<16xi32>) -> tensor<16xi1>
  %v3 = stablehlo.convert %v2 : (tensor<16xi1>) -> tensor<16xi32>
  %v4 = stablehlo.constant dense<0> : tensor<i32>
  %v5 = stablehlo.reduce(%v3 init: %v4) applies stablehlo.add across dimensions = [0] : (tensor<16xi32>, tensor<i32>) -> tensor<i32>
  %v6 = stablehlo.constant dense<16> : tensor<i32>
  %v7 = stablehlo.compare EQ, %v5, %v6 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %v8 = stablehlo.broadcast_in_dim %v7, dims = [] : (tensor<i1>) -> tensor<16xi1>
  %v9 = stablehlo.constant dense<0> : tensor<16xi32>
  %v10 = stablehlo.constant dense<2> : tensor<16xi32>
  %v11 = stablehlo.multiply %a0, %v10 : tensor<16xi32>
  %v12 = stablehlo.select %v8, %v9, %v11 : tensor<16xi1>, tensor<16xi32>
  return %v12 : tensor<16xi32>
