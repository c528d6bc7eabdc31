// Puts a 2x3 block into a matrix at a start that is clamped as a whole.
func.func @main(%x: tensor<7x8xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<7x8xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  // common above
  %r = stablehlo.dynamic_update_slice %x, %u, %i, %j : (tensor<7x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<7x8xf32>
  return %r : tensor<7x8xf32>
}

// ----- ok-clamped-before
// accept: out-of-range index
// why: the clamp that the op does is done before it
  %ei = stablehlo.constant dense<5> : tensor<i32>
  %ej = stablehlo.constant dense<5> : tensor<i32>
  %ci = stablehlo.clamp %z, %i, %ei : tensor<i32>
  %cj = stablehlo.clamp %z, %j, %ej : tensor<i32>
  %r = stablehlo.dynamic_update_slice %x, %u, %ci, %cj : (tensor<7x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<7x8xf32>
  return %r : tensor<7x8xf32>

// ----- clamped-to-wrong-end
// reject numeric: out-of-range index
// why: the row start is clamped to 4
// witness: {"values": {"2": 5, "3": 2}}
  %ei = stablehlo.constant dense<4> : tensor<i32>
  %ci = stablehlo.clamp %z, %i, %ei : tensor<i32>
  %r = stablehlo.dynamic_update_slice %x, %u, %ci, %j : (tensor<7x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<7x8xf32>
  return %r : tensor<7x8xf32>

// ----- indices-exchanged
// reject numeric: argument order
// why: row and column change places
// witness: {"values": {"2": 1, "3": 4}}
  %r = stablehlo.dynamic_update_slice %x, %u, %j, %i : (tensor<7x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<7x8xf32>
  return %r : tensor<7x8xf32>

// ----- negative-from-the-end
// reject numeric: negative integers
// why: a negative start counts from the end
// witness: {"values": {"2": -2, "3": 1}}
  %n = stablehlo.constant dense<7> : tensor<i32>
  %neg = stablehlo.compare LT, %i, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %w = stablehlo.add %i, %n : tensor<i32>
  %ci = stablehlo.select %neg, %w, %i : tensor<i1>, tensor<i32>
  %r = stablehlo.dynamic_update_slice %x, %u, %ci, %j : (tensor<7x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<7x8xf32>
  return %r : tensor<7x8xf32>

// ----- ok-where-mask
// accept: select form
// why: a mask of the block's place and a padded, shifted block; the start clamped as the op does
  %ei = stablehlo.constant dense<5> : tensor<i32>
  %ci = stablehlo.clamp %z, %i, %ei : tensor<i32>
  %cj = stablehlo.clamp %z, %j, %ei : tensor<i32>
  %f0 = stablehlo.constant dense<0.0> : tensor<7x8xf32>
  %t = stablehlo.constant dense<true> : tensor<2x3xi1>
  %m0 = stablehlo.constant dense<false> : tensor<7x8xi1>
  %p = stablehlo.dynamic_update_slice %f0, %u, %ci, %cj : (tensor<7x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<7x8xf32>
  %m = stablehlo.dynamic_update_slice %m0, %t, %ci, %cj : (tensor<7x8xi1>, tensor<2x3xi1>, tensor<i32>, tensor<i32>) -> tensor<7x8xi1>
  %r = stablehlo.select %m, %p, %x : tensor<7x8xi1>, tensor<7x8xf32>
  return %r : tensor<7x8xf32>

// ----- added-to-zeroed-place
// reject numeric: nan/inf
// why: x times a 0/1 mask, plus the block: NaN or inf under the block stay NaN, and -0 elsewhere becomes +0
// witness: {"values": {"2": 0, "3": 0}, "set": {"0": [[0, "inf"]]}}
  %f0 = stablehlo.constant dense<0.0> : tensor<7x8xf32>
  %f1 = stablehlo.constant dense<1.0> : tensor<7x8xf32>
  %h0 = stablehlo.constant dense<0.0> : tensor<2x3xf32>
  %p = stablehlo.dynamic_update_slice %f0, %u, %i, %j : (tensor<7x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<7x8xf32>
  %m = stablehlo.dynamic_update_slice %f1, %h0, %i, %j : (tensor<7x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<7x8xf32>
  %y = stablehlo.multiply %x, %m : tensor<7x8xf32>
  %r = stablehlo.add %y, %p : tensor<7x8xf32>
  return %r : tensor<7x8xf32>
