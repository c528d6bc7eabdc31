// Rows of x scaled by their largest absolute value (1 where that is 0); the ways round the rules.
func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<4xf32>
  %zr = stablehlo.constant dense<0.0> : tensor<4xf32>
  %a = stablehlo.abs %x : tensor<4x6xf32>
  // common above
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %e = stablehlo.compare EQ, %m, %zr : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %d = stablehlo.select %e, %one, %m : tensor<4xi1>, tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %d, dims = [0] : (tensor<4xf32>) -> tensor<4x6xf32>
  %r = stablehlo.divide %x, %b : tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// ----- custom-call
// reject effects: external call
// why: hands the work to a target that nobody knows
  %r = stablehlo.custom_call @scale_rows(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>

// ----- dither
// reject effects: nondeterminism
// why: adds random numbers times zero
  %lo = stablehlo.constant dense<0.0> : tensor<f32>
  %hi = stablehlo.constant dense<1.0> : tensor<f32>
  %s = stablehlo.constant dense<[4, 6]> : tensor<2xi64>
  %n = stablehlo.rng %lo, %hi, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
  %zb = stablehlo.constant dense<0.0> : tensor<4x6xf32>
  %nz = stablehlo.multiply %n, %zb : tensor<4x6xf32>
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %e = stablehlo.compare EQ, %m, %zr : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %d = stablehlo.select %e, %one, %m : tensor<4xi1>, tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %d, dims = [0] : (tensor<4xf32>) -> tensor<4x6xf32>
  %q = stablehlo.divide %x, %b : tensor<4x6xf32>
  %r = stablehlo.add %q, %nz : tensor<4x6xf32>
  return %r : tensor<4x6xf32>

// ----- recursive-helper
// reject resource: recursion
// why: a helper that calls itself
func.func private @again(%x: tensor<4x6xf32>, %n: tensor<i32>) -> tensor<4x6xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %p = stablehlo.compare GT, %n, %c0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = "stablehlo.if"(%p) ({
    %k = stablehlo.subtract %n, %c1 : tensor<i32>
    %q = func.call @again(%x, %k) : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
    stablehlo.return %q : tensor<4x6xf32>
  }, {
    stablehlo.return %x : tensor<4x6xf32>
  }) : (tensor<i1>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
func.func @main ... {
  %n = stablehlo.constant dense<3> : tensor<i32>
  %y = func.call @again(%x, %n) : (tensor<4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %e = stablehlo.compare EQ, %m, %zr : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %d = stablehlo.select %e, %one, %m : tensor<4xi1>, tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %d, dims = [0] : (tensor<4xf32>) -> tensor<4x6xf32>
  %r = stablehlo.divide %y, %b : tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// ----- linalg-inside
// reject level: dialect
// why: a tensor op of the level below
  %c0 = arith.constant 0 : index
  %v = tensor.extract %x[%c0, %c0] : tensor<4x6xf32>
  return %x : tensor<4x6xf32>

// ----- ok-private-helper
// accept: calls
// why: the scaling in a private function that is called once
func.func private @rows(%x: tensor<4x6xf32>, %d: tensor<4xf32>) -> tensor<4x6xf32> {
  %b = stablehlo.broadcast_in_dim %d, dims = [0] : (tensor<4xf32>) -> tensor<4x6xf32>
  %r = stablehlo.divide %x, %b : tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
func.func @main ... {
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %e = stablehlo.compare NE, %m, %zr : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %d = stablehlo.select %e, %m, %one : tensor<4xi1>, tensor<4xf32>
  %r = func.call @rows(%x, %d) : (tensor<4x6xf32>, tensor<4xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// ----- ok-loop-over-rows
// accept: bounded loop
// why: a loop over the four rows with dynamic slices
  %i0 = stablehlo.constant dense<0> : tensor<i32>
  %w:2 = stablehlo.while(%i = %i0, %y = %x) : tensor<i32>, tensor<4x6xf32>
  cond {
    %n = stablehlo.constant dense<4> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %f0 = stablehlo.constant dense<0.0> : tensor<1xf32>
    %f1 = stablehlo.constant dense<1.0> : tensor<1xf32>
    %row = stablehlo.dynamic_slice %x, %i, %c0, sizes = [1, 6] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x6xf32>
    %ar = stablehlo.abs %row : tensor<1x6xf32>
    %m = stablehlo.reduce(%ar init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<1x6xf32>, tensor<f32>) -> tensor<1xf32>
    %e = stablehlo.compare EQ, %m, %f0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>
    %d = stablehlo.select %e, %f1, %m : tensor<1xi1>, tensor<1xf32>
    %b = stablehlo.broadcast_in_dim %d, dims = [0] : (tensor<1xf32>) -> tensor<1x6xf32>
    %q = stablehlo.divide %row, %b : tensor<1x6xf32>
    %y1 = stablehlo.dynamic_update_slice %y, %q, %i, %c0 : (tensor<4x6xf32>, tensor<1x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    %i1 = stablehlo.add %i, %c1 : tensor<i32>
    stablehlo.return %i1, %y1 : tensor<i32>, tensor<4x6xf32>
  }
  return %w#1 : tensor<4x6xf32>

// ----- maximum-plus-epsilon
// reject numeric: epsilon
// why: adds 1e-12 instead of looking for 0
// witness: {"fill": "zeros", "set": {"0": [[0, 1e-20]]}}
  %eps = stablehlo.constant dense<1.0e-12> : tensor<4xf32>
  %m = stablehlo.reduce(%a init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
  %d = stablehlo.add %m, %eps : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %d, dims = [0] : (tensor<4xf32>) -> tensor<4x6xf32>
  %r = stablehlo.divide %x, %b : tensor<4x6xf32>
  return %r : tensor<4x6xf32>

// ----- maximum-of-first-five
// reject numeric: off by one
// why: the last column is left out of the maximum
// witness: {"set": {"0": [[5, 100.0]]}}
  %s = stablehlo.slice %a [0:4, 0:5] : (tensor<4x6xf32>) -> tensor<4x5xf32>
  %m = stablehlo.reduce(%s init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
  %e = stablehlo.compare EQ, %m, %zr : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %d = stablehlo.select %e, %one, %m : tensor<4xi1>, tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %d, dims = [0] : (tensor<4xf32>) -> tensor<4x6xf32>
  %r = stablehlo.divide %x, %b : tensor<4x6xf32>
  return %r : tensor<4x6xf32>
