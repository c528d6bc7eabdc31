// Columns times columns.
func.func @main(%a0: tensor<6x6xi32>) -> tensor<6x6xi32> {
  %v1 = stablehlo.transpose %a0, dims = [1, 0] : (tensor<6x6xi32>) -> tensor<6x6xi32>
  %v2 = stablehlo.dot_general %v1, %a0, contracting_dims = [1] x [0] : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi32>
  return %v2 : tensor<6x6xi32>
}

// ----- sym-shortcut
// reject numeric: guard too weak
// why: looks at the first row and column only
// witness: {"values": {"0": [[0, 0, 0, 0, 0, 0], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]]}}
  %v1 = stablehlo.slice %a0 [0:1, 0:6] : (tensor<6x6xi32>) -> tensor<1x6xi32>
  %v2 = stablehlo.reshape %v1 : (tensor<1x6xi32>) -> tensor<6xi32>
  %v3 = stablehlo.slice %a0 [0:6, 0:1] : (tensor<6x6xi32>) -> tensor<6x1xi32>
  %v4 = stablehlo.reshape %v3 : (tensor<6x1xi32>) -> tensor<6xi32>
  %v5 = stablehlo.compare EQ, %v2, %v4 : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
  %v6 = stablehlo.constant dense<true> : tensor<i1>
  %v7 = stablehlo.reduce(%v5 init: %v6) applies stablehlo.and across dimensions = [0] : (tensor<6xi1>, tensor<i1>) -> tensor<i1>
  %v11 = "stablehlo.if"(%v7) ({
    %v8 = stablehlo.dot_general %a0, %a0, contracting_dims = [1] x [0] : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi32>
    stablehlo.return %v8 : tensor<6x6xi32>
  }, {
    %v9 = stablehlo.transpose %a0, dims = [1, 0] : (tensor<6x6xi32>) -> tensor<6x6xi32>
    %v10 = stablehlo.dot_general %v9, %a0, contracting_dims = [1] x [0] : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi32>
    stablehlo.return %v10 : tensor<6x6xi32>
  }) : (tensor<i1>) -> (tensor<6x6xi32>)
  return %v11 : tensor<6x6xi32>
