// Rows with their mean taken off, over their standard deviation.
// tolerance: close 0.0001 1e-05
func.func @main(%a0: tensor<8x16xf32>) -> tensor<8x16xf32> attributes {kc.allow = ["reassoc", "approx"]} {
  %v1 = stablehlo.constant dense<0.0> : tensor<f32>
  %v2 = stablehlo.reduce(%a0 init: %v1) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v3 = stablehlo.constant dense<16.0> : tensor<8xf32>
  %v4 = stablehlo.divide %v2, %v3 : tensor<8xf32>
  %v5 = stablehlo.broadcast_in_dim %v4, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v6 = stablehlo.subtract %a0, %v5 : tensor<8x16xf32>
  %v7 = stablehlo.multiply %v6, %v6 : tensor<8x16xf32>
  %v8 = stablehlo.constant dense<0.0> : tensor<f32>
  %v9 = stablehlo.reduce(%v7 init: %v8) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v10 = stablehlo.constant dense<16.0> : tensor<8xf32>
  %v11 = stablehlo.divide %v9, %v10 : tensor<8xf32>
  %v12 = stablehlo.constant dense<1.0e-05> : tensor<8xf32>
  %v13 = stablehlo.add %v11, %v12 : tensor<8xf32>
  %v14 = stablehlo.rsqrt %v13 : tensor<8xf32>
  %v15 = stablehlo.broadcast_in_dim %v14, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v16 = stablehlo.multiply %v6, %v15 : tensor<8x16xf32>
  return %v16 : tensor<8x16xf32>
}

// ----- ln-eps-out
// reject numeric: epsilon
// why: epsilon outside of the root
// witness: {"fill": "equal", "set": {"0": [[3, 0.501]]}}
  %v1 = stablehlo.constant dense<0.0> : tensor<f32>
  %v2 = stablehlo.reduce(%a0 init: %v1) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v3 = stablehlo.constant dense<16.0> : tensor<8xf32>
  %v4 = stablehlo.divide %v2, %v3 : tensor<8xf32>
  %v5 = stablehlo.broadcast_in_dim %v4, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v6 = stablehlo.subtract %a0, %v5 : tensor<8x16xf32>
  %v7 = stablehlo.multiply %v6, %v6 : tensor<8x16xf32>
  %v8 = stablehlo.constant dense<0.0> : tensor<f32>
  %v9 = stablehlo.reduce(%v7 init: %v8) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v10 = stablehlo.constant dense<16.0> : tensor<8xf32>
  %v11 = stablehlo.divide %v9, %v10 : tensor<8xf32>
  %v12 = stablehlo.sqrt %v11 : tensor<8xf32>
  %v13 = stablehlo.constant dense<1.0e-05> : tensor<8xf32>
  %v14 = stablehlo.add %v12, %v13 : tensor<8xf32>
  %v15 = stablehlo.broadcast_in_dim %v14, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v16 = stablehlo.divide %v6, %v15 : tensor<8x16xf32>
  return %v16 : tensor<8x16xf32>

// ----- ln-one-pass-abs
// reject numeric: cancellation
// why: abs hides negative variance only
// tolerance: close 0.001 0.0001
// witness: {"seed": 1, "values": {"0": [[10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0], [10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02], [10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04], [10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01], [10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03], [10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0], [10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02], [10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04, 10000.02, 10000.0, 10000.03, 10000.01, 10000.04]]}}
  %v1 = stablehlo.constant dense<0.0> : tensor<f32>
  %v2 = stablehlo.reduce(%a0 init: %v1) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v3 = stablehlo.constant dense<16.0> : tensor<8xf32>
  %v4 = stablehlo.divide %v2, %v3 : tensor<8xf32>
  %v5 = stablehlo.broadcast_in_dim %v4, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v6 = stablehlo.subtract %a0, %v5 : tensor<8x16xf32>
  %v7 = stablehlo.multiply %a0, %a0 : tensor<8x16xf32>
  %v8 = stablehlo.constant dense<0.0> : tensor<f32>
  %v9 = stablehlo.reduce(%v7 init: %v8) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v10 = stablehlo.constant dense<16.0> : tensor<8xf32>
  %v11 = stablehlo.divide %v9, %v10 : tensor<8xf32>
  %v12 = stablehlo.multiply %v4, %v4 : tensor<8xf32>
  %v13 = stablehlo.subtract %v11, %v12 : tensor<8xf32>
  %v14 = stablehlo.abs %v13 : tensor<8xf32>
  %v15 = stablehlo.constant dense<1.0e-05> : tensor<8xf32>
  %v16 = stablehlo.add %v14, %v15 : tensor<8xf32>
  %v17 = stablehlo.rsqrt %v16 : tensor<8xf32>
  %v18 = stablehlo.broadcast_in_dim %v17, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v19 = stablehlo.multiply %v6, %v18 : tensor<8x16xf32>
  return %v19 : tensor<8x16xf32>

// ----- ln-unbiased
// reject numeric: off by one
// why: n-1
  %v1 = stablehlo.constant dense<0.0> : tensor<f32>
  %v2 = stablehlo.reduce(%a0 init: %v1) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v3 = stablehlo.constant dense<16.0> : tensor<8xf32>
  %v4 = stablehlo.divide %v2, %v3 : tensor<8xf32>
  %v5 = stablehlo.broadcast_in_dim %v4, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v6 = stablehlo.subtract %a0, %v5 : tensor<8x16xf32>
  %v7 = stablehlo.multiply %v6, %v6 : tensor<8x16xf32>
  %v8 = stablehlo.constant dense<0.0> : tensor<f32>
  %v9 = stablehlo.reduce(%v7 init: %v8) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %v10 = stablehlo.constant dense<15.0> : tensor<8xf32>
  %v11 = stablehlo.divide %v9, %v10 : tensor<8xf32>
  %v12 = stablehlo.constant dense<1.0e-05> : tensor<8xf32>
  %v13 = stablehlo.add %v11, %v12 : tensor<8xf32>
  %v14 = stablehlo.rsqrt %v13 : tensor<8xf32>
  %v15 = stablehlo.broadcast_in_dim %v14, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %v16 = stablehlo.multiply %v6, %v15 : tensor<8x16xf32>
  return %v16 : tensor<8x16xf32>
