// Maxima of 3 x 3 windows, every second, with a border.
func.func @main(%a0: tensor<1x9x9xf32>) -> tensor<5x5xf32> {
  %v1 = stablehlo.reshape %a0 : (tensor<1x9x9xf32>) -> tensor<9x9xf32>
  %v2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v6 = "stablehlo.reduce_window"(%v1, %v2) <{window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 2, 2>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[1, 1], [1, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%v3: tensor<f32>, %v4: tensor<f32>):
    %v5 = stablehlo.maximum %v3, %v4 : tensor<f32>
    stablehlo.return %v5 : tensor<f32>
  }) : (tensor<9x9xf32>, tensor<f32>) -> tensor<5x5xf32>
  return %v6 : tensor<5x5xf32>
}

// ----- maxpool-zero-pad
// reject numeric: padding
// why: zeros win over negatives
// witness: {"values": {"0": [[[-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0], [-1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0, -1.0]]]}}
  %v1 = stablehlo.reshape %a0 : (tensor<1x9x9xf32>) -> tensor<9x9xf32>
  %v2 = stablehlo.constant dense<0.0> : tensor<f32>
  %v3 = stablehlo.pad %v1, %v2, low = [1, 1], high = [1, 1], interior = [0, 0] : (tensor<9x9xf32>, tensor<f32>) -> tensor<11x11xf32>
  %v4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v8 = "stablehlo.reduce_window"(%v3, %v4) <{window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 2, 2>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%v5: tensor<f32>, %v6: tensor<f32>):
    %v7 = stablehlo.maximum %v5, %v6 : tensor<f32>
    stablehlo.return %v7 : tensor<f32>
  }) : (tensor<11x11xf32>, tensor<f32>) -> tensor<5x5xf32>
  return %v8 : tensor<5x5xf32>

// ----- ok-maxpool-inf-pad
// accept: padding
// why: padded by -inf first
  %v1 = stablehlo.reshape %a0 : (tensor<1x9x9xf32>) -> tensor<9x9xf32>
  %v2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v3 = stablehlo.pad %v1, %v2, low = [1, 1], high = [1, 1], interior = [0, 0] : (tensor<9x9xf32>, tensor<f32>) -> tensor<11x11xf32>
  %v4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v8 = "stablehlo.reduce_window"(%v3, %v4) <{window_dimensions = array<i64: 3, 3>, window_strides = array<i64: 2, 2>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%v5: tensor<f32>, %v6: tensor<f32>):
    %v7 = stablehlo.maximum %v5, %v6 : tensor<f32>
    stablehlo.return %v7 : tensor<f32>
  }) : (tensor<11x11xf32>, tensor<f32>) -> tensor<5x5xf32>
  return %v8 : tensor<5x5xf32>

// ----- ok-maxpool-separable
// accept: padding
// why: rows then columns
  %v1 = stablehlo.reshape %a0 : (tensor<1x9x9xf32>) -> tensor<9x9xf32>
  %v2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v6 = "stablehlo.reduce_window"(%v1, %v2) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%v3: tensor<f32>, %v4: tensor<f32>):
    %v5 = stablehlo.maximum %v3, %v4 : tensor<f32>
    stablehlo.return %v5 : tensor<f32>
  }) : (tensor<9x9xf32>, tensor<f32>) -> tensor<5x9xf32>
  %v7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v11 = "stablehlo.reduce_window"(%v6, %v7) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 2>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%v8: tensor<f32>, %v9: tensor<f32>):
    %v10 = stablehlo.maximum %v8, %v9 : tensor<f32>
    stablehlo.return %v10 : tensor<f32>
  }) : (tensor<5x9xf32>, tensor<f32>) -> tensor<5x5xf32>
  return %v11 : tensor<5x5xf32>
