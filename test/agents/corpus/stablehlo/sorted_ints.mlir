// Integers in order.
func.func @main(%a0: tensor<16xi32>) -> tensor<16xi32> {
  %v4 = "stablehlo.sort"(%a0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%v1: tensor<i32>, %v2: tensor<i32>):
    %v3 = stablehlo.compare LT, %v1, %v2 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %v3 : tensor<i1>
  }) : (tensor<16xi32>) -> (tensor<16xi32>)
  return %v4 : tensor<16xi32>
}

// ----- ok-sorted-shortcut
// accept: guarded fast path
// why: sorted already: as it is
  %v1 = stablehlo.slice %a0 [0:15] : (tensor<16xi32>) -> tensor<15xi32>
  %v2 = stablehlo.slice %a0 [1:16] : (tensor<16xi32>) -> tensor<15xi32>
  %v3 = stablehlo.compare LE, %v1, %v2 : (tensor<15xi32>, tensor<15xi32>) -> tensor<15xi1>
  %v4 = stablehlo.constant dense<true> : tensor<i1>
  %v5 = stablehlo.reduce(%v3 init: %v4) applies stablehlo.and across dimensions = [0] : (tensor<15xi1>, tensor<i1>) -> tensor<i1>
  %v12 = "stablehlo.if"(%v5) ({
    %v6 = stablehlo.constant dense<0> : tensor<16xi32>
    %v7 = stablehlo.add %a0, %v6 : tensor<16xi32>
    stablehlo.return %v7 : tensor<16xi32>
  }, {
    %v11 = "stablehlo.sort"(%a0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%v8: tensor<i32>, %v9: tensor<i32>):
    %v10 = stablehlo.compare LT, %v8, %v9 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %v10 : tensor<i1>
  }) : (tensor<16xi32>) -> (tensor<16xi32>)
    stablehlo.return %v11 : tensor<16xi32>
  }) : (tensor<i1>) -> (tensor<16xi32>)
  return %v12 : tensor<16xi32>

// ----- sorted-shortcut-ends
// reject numeric: guard too weak
// why: the last is not looked at
// witness: {"values": {"0": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, -1]}}
  %v1 = stablehlo.slice %a0 [0:14] : (tensor<16xi32>) -> tensor<14xi32>
  %v2 = stablehlo.slice %a0 [1:15] : (tensor<16xi32>) -> tensor<14xi32>
  %v3 = stablehlo.compare LE, %v1, %v2 : (tensor<14xi32>, tensor<14xi32>) -> tensor<14xi1>
  %v4 = stablehlo.constant dense<true> : tensor<i1>
  %v5 = stablehlo.reduce(%v3 init: %v4) applies stablehlo.and across dimensions = [0] : (tensor<14xi1>, tensor<i1>) -> tensor<i1>
  %v12 = "stablehlo.if"(%v5) ({
    %v6 = stablehlo.constant dense<0> : tensor<16xi32>
    %v7 = stablehlo.add %a0, %v6 : tensor<16xi32>
    stablehlo.return %v7 : tensor<16xi32>
  }, {
    %v11 = "stablehlo.sort"(%a0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%v8: tensor<i32>, %v9: tensor<i32>):
    %v10 = stablehlo.compare LT, %v8, %v9 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %v10 : tensor<i1>
  }) : (tensor<16xi32>) -> (tensor<16xi32>)
    stablehlo.return %v11 : tensor<16xi32>
  }) : (tensor<i1>) -> (tensor<16xi32>)
  return %v12 : tensor<16xi32>
