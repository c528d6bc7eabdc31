// The bytes of a number.
func.func @main(%a0: tensor<24xf32>) -> tensor<24x4xui8> {
  %v1 = stablehlo.bitcast_convert %a0 : (tensor<24xf32>) -> tensor<24x4xui8>
  return %v1 : tensor<24x4xui8>
}

// ----- bitcast-bytes
// reject numeric: layout
// why: byte order
  %v1 = stablehlo.bitcast_convert %a0 : (tensor<24xf32>) -> tensor<24x4xui8>
  %v2 = stablehlo.reverse %v1, dims = [1] : tensor<24x4xui8>
  return %v2 : tensor<24x4xui8>

// ----- ok-bitcast-bytes
// accept: layout
// why: little end first
  %v1 = stablehlo.bitcast_convert %a0 : (tensor<24xf32>) -> tensor<24xui32>
  %v2 = stablehlo.constant dense<0> : tensor<24xui32>
  %v3 = stablehlo.shift_right_logical %v1, %v2 : tensor<24xui32>
  %v4 = stablehlo.constant dense<255> : tensor<24xui32>
  %v5 = stablehlo.and %v3, %v4 : tensor<24xui32>
  %v6 = stablehlo.convert %v5 : (tensor<24xui32>) -> tensor<24xui8>
  %v7 = stablehlo.reshape %v6 : (tensor<24xui8>) -> tensor<24x1xui8>
  %v8 = stablehlo.bitcast_convert %a0 : (tensor<24xf32>) -> tensor<24xui32>
  %v9 = stablehlo.constant dense<8> : tensor<24xui32>
  %v10 = stablehlo.shift_right_logical %v8, %v9 : tensor<24xui32>
  %v11 = stablehlo.constant dense<255> : tensor<24xui32>
  %v12 = stablehlo.and %v10, %v11 : tensor<24xui32>
  %v13 = stablehlo.convert %v12 : (tensor<24xui32>) -> tensor<24xui8>
  %v14 = stablehlo.reshape %v13 : (tensor<24xui8>) -> tensor<24x1xui8>
  %v15 = stablehlo.bitcast_convert %a0 : (tensor<24xf32>) -> tensor<24xui32>
  %v16 = stablehlo.constant dense<16> : tensor<24xui32>
  %v17 = stablehlo.shift_right_logical %v15, %v16 : tensor<24xui32>
  %v18 = stablehlo.constant dense<255> : tensor<24xui32>
  %v19 = stablehlo.and %v17, %v18 : tensor<24xui32>
  %v20 = stablehlo.convert %v19 : (tensor<24xui32>) -> tensor<24xui8>
  %v21 = stablehlo.reshape %v20 : (tensor<24xui8>) -> tensor<24x1xui8>
  %v22 = stablehlo.bitcast_convert %a0 : (tensor<24xf32>) -> tensor<24xui32>
  %v23 = stablehlo.constant dense<24> : tensor<24xui32>
  %v24 = stablehlo.shift_right_logical %v22, %v23 : tensor<24xui32>
  %v25 = stablehlo.constant dense<255> : tensor<24xui32>
  %v26 = stablehlo.and %v24, %v25 : tensor<24xui32>
  %v27 = stablehlo.convert %v26 : (tensor<24xui32>) -> tensor<24xui8>
  %v28 = stablehlo.reshape %v27 : (tensor<24xui8>) -> tensor<24x1xui8>
  %v29 = stablehlo.concatenate %v7, %v14, %v21, %v28, dim = 1 : (tensor<24x1xui8>, tensor<24x1xui8>, tensor<24x1xui8>, tensor<24x1xui8>) -> tensor<24x4xui8>
  return %v29 : tensor<24x4xui8>
