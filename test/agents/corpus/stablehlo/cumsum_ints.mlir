// Running sums of rows of integers.
func.func @main(%a0: tensor<3x13xi32>) -> tensor<3x13xi32> {
  %v1 = stablehlo.constant dense<0> : tensor<i32>
  %v5 = "stablehlo.reduce_window"(%a0, %v1) <{window_dimensions = array<i64: 1, 13>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [12, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%v2: tensor<i32>, %v3: tensor<i32>):
    %v4 = stablehlo.add %v2, %v3 : tensor<i32>
    stablehlo.return %v4 : tensor<i32>
  }) : (tensor<3x13xi32>, tensor<i32>) -> tensor<3x13xi32>
  return %v5 : tensor<3x13xi32>
}

// ----- ok-cumsum-steps
// accept: scan
// why: log steps, wrapping integers
  %v1 = stablehlo.constant dense<0> : tensor<i32>
  %v2 = stablehlo.pad %a0, %v1, low = [0, 1], high = [0, -1], interior = [0, 0] : (tensor<3x13xi32>, tensor<i32>) -> tensor<3x13xi32>
  %v3 = stablehlo.add %a0, %v2 : tensor<3x13xi32>
  %v4 = stablehlo.constant dense<0> : tensor<i32>
  %v5 = stablehlo.pad %v3, %v4, low = [0, 2], high = [0, -2], interior = [0, 0] : (tensor<3x13xi32>, tensor<i32>) -> tensor<3x13xi32>
  %v6 = stablehlo.add %v3, %v5 : tensor<3x13xi32>
  %v7 = stablehlo.constant dense<0> : tensor<i32>
  %v8 = stablehlo.pad %v6, %v7, low = [0, 4], high = [0, -4], interior = [0, 0] : (tensor<3x13xi32>, tensor<i32>) -> tensor<3x13xi32>
  %v9 = stablehlo.add %v6, %v8 : tensor<3x13xi32>
  %v10 = stablehlo.constant dense<0> : tensor<i32>
  %v11 = stablehlo.pad %v9, %v10, low = [0, 8], high = [0, -8], interior = [0, 0] : (tensor<3x13xi32>, tensor<i32>) -> tensor<3x13xi32>
  %v12 = stablehlo.add %v9, %v11 : tensor<3x13xi32>
  return %v12 : tensor<3x13xi32>

// ----- cumsum-steps-short
// reject numeric: scan
// why: three steps reach 8
  %v1 = stablehlo.constant dense<0> : tensor<i32>
  %v2 = stablehlo.pad %a0, %v1, low = [0, 1], high = [0, -1], interior = [0, 0] : (tensor<3x13xi32>, tensor<i32>) -> tensor<3x13xi32>
  %v3 = stablehlo.add %a0, %v2 : tensor<3x13xi32>
  %v4 = stablehlo.constant dense<0> : tensor<i32>
  %v5 = stablehlo.pad %v3, %v4, low = [0, 2], high = [0, -2], interior = [0, 0] : (tensor<3x13xi32>, tensor<i32>) -> tensor<3x13xi32>
  %v6 = stablehlo.add %v3, %v5 : tensor<3x13xi32>
  %v7 = stablehlo.constant dense<0> : tensor<i32>
  %v8 = stablehlo.pad %v6, %v7, low = [0, 4], high = [0, -4], interior = [0, 0] : (tensor<3x13xi32>, tensor<i32>) -> tensor<3x13xi32>
  %v9 = stablehlo.add %v6, %v8 : tensor<3x13xi32>
  return %v9 : tensor<3x13xi32>

// ----- cumsum-exclusive
// reject numeric: off by one
// why: exclusive
  %v1 = stablehlo.constant dense<0> : tensor<i32>
  %v5 = "stablehlo.reduce_window"(%a0, %v1) <{window_dimensions = array<i64: 1, 13>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [12, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%v2: tensor<i32>, %v3: tensor<i32>):
    %v4 = stablehlo.add %v2, %v3 : tensor<i32>
    stablehlo.return %v4 : tensor<i32>
  }) : (tensor<3x13xi32>, tensor<i32>) -> tensor<3x13xi32>
  %v6 = stablehlo.constant dense<0> : tensor<i32>
  %v7 = stablehlo.pad %v5, %v6, low = [0, 1], high = [0, -1], interior = [0, 0] : (tensor<3x13xi32>, tensor<i32>) -> tensor<3x13xi32>
  return %v7 : tensor<3x13xi32>

// ----- cumsum-reverse
// reject numeric: layout
// why: from the end
  %v1 = stablehlo.constant dense<0> : tensor<i32>
  %v5 = "stablehlo.reduce_window"(%a0, %v1) <{window_dimensions = array<i64: 1, 13>, window_strides = array<i64: 1, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 12]]> : tensor<2x2xi64>}> ({
  ^bb0(%v2: tensor<i32>, %v3: tensor<i32>):
    %v4 = stablehlo.add %v2, %v3 : tensor<i32>
    stablehlo.return %v4 : tensor<i32>
  }) : (tensor<3x13xi32>, tensor<i32>) -> tensor<3x13xi32>
  return %v5 : tensor<3x13xi32>

// ----- ok-cumsum-tril
// accept: scan
// why: triangular product
  %v1 = stablehlo.iota dim = 0 : tensor<13x13xi32>
  %v2 = stablehlo.iota dim = 1 : tensor<13x13xi32>
  %v3 = stablehlo.compare LE, %v1, %v2 : (tensor<13x13xi32>, tensor<13x13xi32>) -> tensor<13x13xi1>
  %v4 = stablehlo.convert %v3 : (tensor<13x13xi1>) -> tensor<13x13xi32>
  %v5 = stablehlo.dot_general %a0, %v4, contracting_dims = [1] x [0] : (tensor<3x13xi32>, tensor<13x13xi32>) -> tensor<3x13xi32>
  return %v5 : tensor<3x13xi32>
