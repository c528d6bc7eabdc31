// A two-layer perceptron: softmax(gelu(x·w1 + b1)·w2 + b2), as `kc demo` compiles it.
func.func @main(%x: tensor<64x256xf32>, %w1: tensor<256x512xf32>, %b1: tensor<512xf32>,
                %w2: tensor<512x128xf32>, %b2: tensor<128xf32>) -> tensor<64x128xf32> {
  %0 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x512xf32>) -> tensor<64x512xf32>
  %1 = stablehlo.broadcast_in_dim %b1, dims = [1] : (tensor<512xf32>) -> tensor<64x512xf32>
  %2 = stablehlo.add %0, %1 : tensor<64x512xf32>
  // gelu(v) = v/2 · (1 + erf(v/√2))
  %half = stablehlo.constant dense<0.5> : tensor<64x512xf32>
  %one = stablehlo.constant dense<1.0> : tensor<64x512xf32>
  %rsqrt2 = stablehlo.constant dense<0.707106769> : tensor<64x512xf32>
  %3 = stablehlo.multiply %2, %rsqrt2 : tensor<64x512xf32>
  %4 = chlo.erf %3 : tensor<64x512xf32> -> tensor<64x512xf32>
  %5 = stablehlo.add %4, %one : tensor<64x512xf32>
  %6 = stablehlo.multiply %2, %half : tensor<64x512xf32>
  %7 = stablehlo.multiply %6, %5 : tensor<64x512xf32>
  %8 = stablehlo.dot_general %7, %w2, contracting_dims = [1] x [0] : (tensor<64x512xf32>, tensor<512x128xf32>) -> tensor<64x128xf32>
  %9 = stablehlo.broadcast_in_dim %b2, dims = [1] : (tensor<128xf32>) -> tensor<64x128xf32>
  %10 = stablehlo.add %8, %9 : tensor<64x128xf32>
  // softmax over the last axis
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %11 = stablehlo.reduce(%10 init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>
  %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<64xf32>) -> tensor<64x128xf32>
  %13 = stablehlo.subtract %10, %12 : tensor<64x128xf32>
  %14 = stablehlo.exponential %13 : tensor<64x128xf32>
  %15 = stablehlo.reduce(%14 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>
  %16 = stablehlo.broadcast_in_dim %15, dims = [0] : (tensor<64xf32>) -> tensor<64x128xf32>
  %17 = stablehlo.divide %14, %16 : tensor<64x128xf32>
  return %17 : tensor<64x128xf32>
}
