// At most nine rounds of 3 a + 1.
func.func @main(%a0: tensor<i32>, %a1: tensor<8xi32>) -> tensor<8xi32> {
  %v1 = stablehlo.constant dense<0> : tensor<i32>
  %v16:2 = "stablehlo.while"(%v1, %a1) ({
  ^bb0(%v2: tensor<i32>, %v3: tensor<8xi32>):
    %v6 = stablehlo.constant dense<0> : tensor<i32>
    %v7 = stablehlo.constant dense<9> : tensor<i32>
    %v8 = stablehlo.clamp %v6, %a0, %v7 : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %v9 = stablehlo.compare LT, %v2, %v8 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %v9 : tensor<i1>
  }, {
  ^bb0(%v4: tensor<i32>, %v5: tensor<8xi32>):
    %v10 = stablehlo.constant dense<1> : tensor<i32>
    %v11 = stablehlo.add %v4, %v10 : tensor<i32>
    %v12 = stablehlo.constant dense<3> : tensor<8xi32>
    %v13 = stablehlo.multiply %v5, %v12 : tensor<8xi32>
    %v14 = stablehlo.constant dense<1> : tensor<8xi32>
    %v15 = stablehlo.add %v13, %v14 : tensor<8xi32>
    stablehlo.return %v11, %v15 : tensor<i32>, tensor<8xi32>
  }) : (tensor<i32>, tensor<8xi32>) -> (tensor<i32>, tensor<8xi32>)
  return %v16#1 : tensor<8xi32>
}

// ----- while-off
// reject numeric: off by one
// why: starts at 1
// witness: {"values": {"0": 3}}
  %v1 = stablehlo.constant dense<1> : tensor<i32>
  %v16:2 = "stablehlo.while"(%v1, %a1) ({
  ^bb0(%v2: tensor<i32>, %v3: tensor<8xi32>):
    %v6 = stablehlo.constant dense<0> : tensor<i32>
    %v7 = stablehlo.constant dense<9> : tensor<i32>
    %v8 = stablehlo.clamp %v6, %a0, %v7 : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %v9 = stablehlo.compare LT, %v2, %v8 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %v9 : tensor<i1>
  }, {
  ^bb0(%v4: tensor<i32>, %v5: tensor<8xi32>):
    %v10 = stablehlo.constant dense<1> : tensor<i32>
    %v11 = stablehlo.add %v4, %v10 : tensor<i32>
    %v12 = stablehlo.constant dense<3> : tensor<8xi32>
    %v13 = stablehlo.multiply %v5, %v12 : tensor<8xi32>
    %v14 = stablehlo.constant dense<1> : tensor<8xi32>
    %v15 = stablehlo.add %v13, %v14 : tensor<8xi32>
    stablehlo.return %v11, %v15 : tensor<i32>, tensor<8xi32>
  }) : (tensor<i32>, tensor<8xi32>) -> (tensor<i32>, tensor<8xi32>)
  return %v16#1 : tensor<8xi32>

// ----- while-do
// reject numeric: off by one
// why: the first round is always made
// witness: {"values": {"0": 0}}
  %v1 = stablehlo.constant dense<1> : tensor<i32>
  %v2 = stablehlo.constant dense<3> : tensor<8xi32>
  %v3 = stablehlo.multiply %a1, %v2 : tensor<8xi32>
  %v4 = stablehlo.constant dense<1> : tensor<8xi32>
  %v5 = stablehlo.add %v3, %v4 : tensor<8xi32>
  %v20:2 = "stablehlo.while"(%v1, %v5) ({
  ^bb0(%v6: tensor<i32>, %v7: tensor<8xi32>):
    %v10 = stablehlo.constant dense<0> : tensor<i32>
    %v11 = stablehlo.constant dense<9> : tensor<i32>
    %v12 = stablehlo.clamp %v10, %a0, %v11 : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %v13 = stablehlo.compare LT, %v6, %v12 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %v13 : tensor<i1>
  }, {
  ^bb0(%v8: tensor<i32>, %v9: tensor<8xi32>):
    %v14 = stablehlo.constant dense<1> : tensor<i32>
    %v15 = stablehlo.add %v8, %v14 : tensor<i32>
    %v16 = stablehlo.constant dense<3> : tensor<8xi32>
    %v17 = stablehlo.multiply %v9, %v16 : tensor<8xi32>
    %v18 = stablehlo.constant dense<1> : tensor<8xi32>
    %v19 = stablehlo.add %v17, %v18 : tensor<8xi32>
    stablehlo.return %v15, %v19 : tensor<i32>, tensor<8xi32>
  }) : (tensor<i32>, tensor<8xi32>) -> (tensor<i32>, tensor<8xi32>)
  return %v20#1 : tensor<8xi32>

// ----- ok-while-down
// accept: bounded loop
// why: counts down
  %v1 = stablehlo.constant dense<0> : tensor<i32>
  %v2 = stablehlo.constant dense<9> : tensor<i32>
  %v3 = stablehlo.clamp %v1, %a0, %v2 : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
  %v16:2 = "stablehlo.while"(%v3, %a1) ({
  ^bb0(%v4: tensor<i32>, %v5: tensor<8xi32>):
    %v8 = stablehlo.constant dense<0> : tensor<i32>
    %v9 = stablehlo.compare GT, %v4, %v8 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %v9 : tensor<i1>
  }, {
  ^bb0(%v6: tensor<i32>, %v7: tensor<8xi32>):
    %v10 = stablehlo.constant dense<1> : tensor<i32>
    %v11 = stablehlo.subtract %v6, %v10 : tensor<i32>
    %v12 = stablehlo.constant dense<3> : tensor<8xi32>
    %v13 = stablehlo.multiply %v7, %v12 : tensor<8xi32>
    %v14 = stablehlo.constant dense<1> : tensor<8xi32>
    %v15 = stablehlo.add %v13, %v14 : tensor<8xi32>
    stablehlo.return %v11, %v15 : tensor<i32>, tensor<8xi32>
  }) : (tensor<i32>, tensor<8xi32>) -> (tensor<i32>, tensor<8xi32>)
  return %v16#1 : tensor<8xi32>
