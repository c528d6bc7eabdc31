// Softmax of rows.
// tolerance: close 1e-05 1e-07
func.func @main(%a0: tensor<8x16xf32>) -> tensor<8x16xf32> attributes {kc.allow = ["reassoc", "approx"]} {
  %v1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v2 = stablehlo.reduce(%a0 init: %v1) applies stablehlo.maximum across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v3 = stablehlo.broadcast_in_dim %v2, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v4 = stablehlo.subtract %a0, %v3 : tensor<8x16xf32>
  %v5 = stablehlo.exponential %v4 : tensor<8x16xf32>
  %v6 = stablehlo.constant dense<0.0> : tensor<f32>
  %v7 = stablehlo.reduce(%v5 init: %v6) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v8 = stablehlo.broadcast_in_dim %v7, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v9 = stablehlo.divide %v5, %v8 : tensor<8x16xf32>
  return %v9 : tensor<8x16xf32>
}

// ----- softmax-global-max
// reject numeric: overflow
// why: one maximum for all rows: rows far below give 0/0
// witness: {"set": {"0": [[0, -200.0], [1, -200.0], [2, -200.0], [3, -200.0], [4, -200.0], [5, -200.0], [6, -200.0], [7, -200.0], [8, -200.0], [9, -200.0], [10, -200.0], [11, -200.0], [12, -200.0], [13, -200.0], [14, -200.0], [15, -200.0]]}}
  %v1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v2 = stablehlo.reduce(%a0 init: %v1) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<f32>
  %v3 = stablehlo.broadcast_in_dim %v2, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
  %v4 = stablehlo.subtract %a0, %v3 : tensor<8x16xf32>
  %v5 = stablehlo.exponential %v4 : tensor<8x16xf32>
  %v6 = stablehlo.constant dense<0.0> : tensor<f32>
  %v7 = stablehlo.reduce(%v5 init: %v6) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v8 = stablehlo.broadcast_in_dim %v7, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v9 = stablehlo.divide %v5, %v8 : tensor<8x16xf32>
  return %v9 : tensor<8x16xf32>

// ----- softmax-abs-max
// reject numeric: overflow
// why: maximum of |x|: rows with -200 give 0/0
// witness: {"set": {"0": [[5, -200.0]]}}
  %v1 = stablehlo.abs %a0 : tensor<8x16xf32>
  %v2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v3 = stablehlo.reduce(%v1 init: %v2) applies stablehlo.maximum across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v4 = stablehlo.broadcast_in_dim %v3, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v5 = stablehlo.subtract %a0, %v4 : tensor<8x16xf32>
  %v6 = stablehlo.exponential %v5 : tensor<8x16xf32>
  %v7 = stablehlo.constant dense<0.0> : tensor<f32>
  %v8 = stablehlo.reduce(%v6 init: %v7) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v9 = stablehlo.broadcast_in_dim %v8, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v10 = stablehlo.divide %v6, %v9 : tensor<8x16xf32>
  return %v10 : tensor<8x16xf32>

// ----- softmax-clip
// reject numeric: overflow
// why: clipped: 100 and 90 alike
// witness: {"set": {"0": [[5, 100.0], [6, 90.0]]}}
  %v1 = stablehlo.constant dense<-80.0> : tensor<f32>
  %v2 = stablehlo.constant dense<80.0> : tensor<f32>
  %v3 = stablehlo.clamp %v1, %a0, %v2 : (tensor<f32>, tensor<8x16xf32>, tensor<f32>) -> tensor<8x16xf32>
  %v4 = stablehlo.exponential %v3 : tensor<8x16xf32>
  %v5 = stablehlo.constant dense<0.0> : tensor<f32>
  %v6 = stablehlo.reduce(%v4 init: %v5) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v7 = stablehlo.broadcast_in_dim %v6, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v8 = stablehlo.divide %v4, %v7 : tensor<8x16xf32>
  return %v8 : tensor<8x16xf32>

// ----- softmax-half-online
// reject numeric: guard too weak
// why: maximum of the first half only
// witness: {"set": {"0": [[12, 120.0]]}}
  %v1 = stablehlo.slice %a0 [0:8, 0:8] : (tensor<8x16xf32>) -> tensor<8x8xf32>
  %v2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v3 = stablehlo.reduce(%v1 init: %v2) applies stablehlo.maximum across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
  %v4 = stablehlo.broadcast_in_dim %v3, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v5 = stablehlo.subtract %a0, %v4 : tensor<8x16xf32>
  %v6 = stablehlo.exponential %v5 : tensor<8x16xf32>
  %v7 = stablehlo.constant dense<0.0> : tensor<f32>
  %v8 = stablehlo.reduce(%v6 init: %v7) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v9 = stablehlo.broadcast_in_dim %v8, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v10 = stablehlo.divide %v6, %v9 : tensor<8x16xf32>
  return %v10 : tensor<8x16xf32>

// ----- softmax-eps-nan
// reject numeric: nan/inf
// why: rows of -inf give 0 in place of NaN
// witness: {"set": {"0": [[0, -Infinity], [1, -Infinity], [2, -Infinity], [3, -Infinity], [4, -Infinity], [5, -Infinity], [6, -Infinity], [7, -Infinity], [8, -Infinity], [9, -Infinity], [10, -Infinity], [11, -Infinity], [12, -Infinity], [13, -Infinity], [14, -Infinity], [15, -Infinity]]}}
  %v1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v2 = stablehlo.reduce(%a0 init: %v1) applies stablehlo.maximum across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v3 = stablehlo.constant dense<-3.0e+38> : tensor<8xf32>
  %v4 = stablehlo.maximum %v2, %v3 : tensor<8xf32>
  %v5 = stablehlo.broadcast_in_dim %v4, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v6 = stablehlo.subtract %a0, %v5 : tensor<8x16xf32>
  %v7 = stablehlo.exponential %v6 : tensor<8x16xf32>
  %v8 = stablehlo.constant dense<0.0> : tensor<f32>
  %v9 = stablehlo.reduce(%v7 init: %v8) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v10 = stablehlo.constant dense<1.0e-30> : tensor<8xf32>
  %v11 = stablehlo.maximum %v9, %v10 : tensor<8xf32>
  %v12 = stablehlo.broadcast_in_dim %v11, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v13 = stablehlo.divide %v7, %v12 : tensor<8x16xf32>
  return %v13 : tensor<8x16xf32>

// ----- ok-softmax-logsumexp
// accept: reassociation
// why: exp(d - log(sum))
  %v1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v2 = stablehlo.reduce(%a0 init: %v1) applies stablehlo.maximum across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v3 = stablehlo.broadcast_in_dim %v2, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v4 = stablehlo.subtract %a0, %v3 : tensor<8x16xf32>
  %v5 = stablehlo.exponential %v4 : tensor<8x16xf32>
  %v6 = stablehlo.constant dense<0.0> : tensor<f32>
  %v7 = stablehlo.reduce(%v5 init: %v6) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v8 = stablehlo.log %v7 : tensor<8xf32>
  %v9 = stablehlo.broadcast_in_dim %v8, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v10 = stablehlo.subtract %v4, %v9 : tensor<8x16xf32>
  %v11 = stablehlo.exponential %v10 : tensor<8x16xf32>
  return %v11 : tensor<8x16xf32>

// ----- ok-softmax-recip
// accept: reassociation
// why: one reciprocal per row
  %v1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v2 = stablehlo.reduce(%a0 init: %v1) applies stablehlo.maximum across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v3 = stablehlo.broadcast_in_dim %v2, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v4 = stablehlo.subtract %a0, %v3 : tensor<8x16xf32>
  %v5 = stablehlo.exponential %v4 : tensor<8x16xf32>
  %v6 = stablehlo.constant dense<0.0> : tensor<f32>
  %v7 = stablehlo.reduce(%v5 init: %v6) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v8 = stablehlo.constant dense<1.0> : tensor<8xf32>
  %v9 = stablehlo.constant dense<0.0> : tensor<f32>
  %v10 = stablehlo.reduce(%v5 init: %v9) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v11 = stablehlo.divide %v8, %v10 : tensor<8xf32>
  %v12 = stablehlo.broadcast_in_dim %v11, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v13 = stablehlo.multiply %v5, %v12 : tensor<8x16xf32>
  return %v13 : tensor<8x16xf32>

// ----- ok-softmax-exp2
// accept: approximation
// why: 2^(x log2 e)
  %v1 = stablehlo.constant dense<2.0> : tensor<8x16xf32>
  %v2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %v3 = stablehlo.reduce(%a0 init: %v2) applies stablehlo.maximum across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v4 = stablehlo.broadcast_in_dim %v3, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v5 = stablehlo.subtract %a0, %v4 : tensor<8x16xf32>
  %v6 = stablehlo.constant dense<1.4426950408889634> : tensor<8x16xf32>
  %v7 = stablehlo.multiply %v5, %v6 : tensor<8x16xf32>
  %v8 = stablehlo.power %v1, %v7 : tensor<8x16xf32>
  %v9 = stablehlo.constant dense<0.0> : tensor<f32>
  %v10 = stablehlo.reduce(%v8 init: %v9) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v11 = stablehlo.broadcast_in_dim %v10, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v12 = stablehlo.divide %v8, %v11 : tensor<8x16xf32>
  return %v12 : tensor<8x16xf32>
