// y[i] = sum over k of x[i + k] * w[k], k < 3, for the N - 2 places where that is inside; N >= 3; integers.
#i = affine_map<(i) -> (i)>
func.func @main(%x: tensor<?xi32> {kc.dims = ["N"]}, %w: tensor<3xi32>) -> tensor<?xi32> attributes {kc.sizes = {N = array<i64: 3, 80>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %l = arith.subi %n, %c2 : index
  %z = arith.constant 0 : i32
  %e = tensor.empty(%l) : tensor<?xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  // common above
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<?xi32>, tensor<3xi32>) outs(%f : tensor<?xi32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %t = arith.muli %p, %q : i32
    %s = arith.addi %o, %t : i32
    linalg.yield %s : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// ----- ok-named
// accept: named op
// why: linalg.conv_1d
  %r = linalg.conv_1d ins(%x, %w : tensor<?xi32>, tensor<3xi32>) outs(%f : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>

// ----- flipped-when-palindrome
// reject numeric: operation order
// why: the taps are taken in the other order, as in mathematics
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i - k + 2)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<?xi32>, tensor<3xi32>) outs(%f : tensor<?xi32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %t = arith.muli %p, %q : i32
    %s = arith.addi %o, %t : i32
    linalg.yield %s : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>

// ----- ok-three-slices
// accept: slices
// why: three shifted slices, each times its tap
  %w0 = tensor.extract %w[%c0] : tensor<3xi32>
  %w1 = tensor.extract %w[%c1] : tensor<3xi32>
  %w2 = tensor.extract %w[%c2] : tensor<3xi32>
  %x0 = tensor.extract_slice %x[0] [%l] [1] : tensor<?xi32> to tensor<?xi32>
  %x1 = tensor.extract_slice %x[1] [%l] [1] : tensor<?xi32> to tensor<?xi32>
  %x2 = tensor.extract_slice %x[2] [%l] [1] : tensor<?xi32> to tensor<?xi32>
  %r = linalg.generic {indexing_maps = [#i, #i, #i, #i], iterator_types = ["parallel"]} ins(%x2, %x0, %x1 : tensor<?xi32>, tensor<?xi32>, tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%p2: i32, %p0: i32, %p1: i32, %o: i32):
    %a = arith.muli %p0, %w0 : i32
    %b = arith.muli %p1, %w1 : i32
    %c = arith.muli %p2, %w2 : i32
    %s = arith.addi %b, %c : i32
    %t = arith.addi %s, %a : i32
    linalg.yield %t : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>

// ----- pairs-of-outputs
// reject numeric: remainder
// why: two outputs at a time (Winograd's way); the last of an odd number of outputs is not written
// witness: {"sizes": {"N": 9}}
  %h = arith.divui %l, %c2 : index
  %r = scf.for %k = %c0 to %h step %c1 iter_args(%t = %e) -> (tensor<?xi32>) {
    %i = arith.muli %k, %c2 : index
    %i1 = arith.addi %i, %c1 : index
    %i2 = arith.addi %i, %c2 : index
    %i3 = arith.addi %i2, %c1 : index
    %w0 = tensor.extract %w[%c0] : tensor<3xi32>
    %w1 = tensor.extract %w[%c1] : tensor<3xi32>
    %w2 = tensor.extract %w[%c2] : tensor<3xi32>
    %p0 = tensor.extract %x[%i] : tensor<?xi32>
    %p1 = tensor.extract %x[%i1] : tensor<?xi32>
    %p2 = tensor.extract %x[%i2] : tensor<?xi32>
    %p3 = tensor.extract %x[%i3] : tensor<?xi32>
    %a0 = arith.muli %p0, %w0 : i32
    %a1 = arith.muli %p1, %w1 : i32
    %a2 = arith.muli %p2, %w2 : i32
    %b0 = arith.muli %p1, %w0 : i32
    %b1 = arith.muli %p2, %w1 : i32
    %b2 = arith.muli %p3, %w2 : i32
    %s0 = arith.addi %a0, %a1 : i32
    %s1 = arith.addi %s0, %a2 : i32
    %u0 = arith.addi %b0, %b1 : i32
    %u1 = arith.addi %u0, %b2 : i32
    %t1 = tensor.insert %s1 into %t[%i] : tensor<?xi32>
    %t2 = tensor.insert %u1 into %t1[%i1] : tensor<?xi32>
    scf.yield %t2 : tensor<?xi32>
  }
  return %r : tensor<?xi32>

// ----- winograd-halved
// reject numeric: integer overflow
// why: Winograd's F(2, 3) with halves of the sums of taps by arithmetic shift: odd sums lose a bit
// witness: {"sizes": {"N": 4}, "values": {"0": [1, 2, 3, 4], "1": [1, 0, 0]}}
  %h0 = arith.addi %l, %c1 : index
  %h = arith.divui %h0, %c2 : index
  %one = arith.constant 1 : i32
  %lm = arith.subi %n, %c1 : index
  %w0 = tensor.extract %w[%c0] : tensor<3xi32>
  %w1 = tensor.extract %w[%c1] : tensor<3xi32>
  %w2 = tensor.extract %w[%c2] : tensor<3xi32>
  %g02 = arith.addi %w0, %w2 : i32
  %gp = arith.addi %g02, %w1 : i32
  %gm = arith.subi %g02, %w1 : i32
  %g1 = arith.shrsi %gp, %one : i32
  %g2 = arith.shrsi %gm, %one : i32
  %r = scf.for %k = %c0 to %h step %c1 iter_args(%t = %e) -> (tensor<?xi32>) {
    %i = arith.muli %k, %c2 : index
    %i1 = arith.addi %i, %c1 : index
    %i2 = arith.addi %i, %c2 : index
    %i30 = arith.addi %i2, %c1 : index
    %i3 = arith.minui %i30, %lm : index
    %p0 = tensor.extract %x[%i] : tensor<?xi32>
    %p1 = tensor.extract %x[%i1] : tensor<?xi32>
    %p2 = tensor.extract %x[%i2] : tensor<?xi32>
    %p3 = tensor.extract %x[%i3] : tensor<?xi32>
    %d0 = arith.subi %p0, %p2 : i32
    %m1 = arith.muli %d0, %w0 : i32
    %d1 = arith.addi %p1, %p2 : i32
    %m2 = arith.muli %d1, %g1 : i32
    %d2 = arith.subi %p2, %p1 : i32
    %m3 = arith.muli %d2, %g2 : i32
    %d3 = arith.subi %p1, %p3 : i32
    %m4 = arith.muli %d3, %w2 : i32
    %s0 = arith.addi %m1, %m2 : i32
    %s1 = arith.addi %s0, %m3 : i32
    %u0 = arith.subi %m2, %m3 : i32
    %u1 = arith.subi %u0, %m4 : i32
    %t1 = tensor.insert %s1 into %t[%i] : tensor<?xi32>
    %in = arith.cmpi ult, %i1, %l : index
    %t3 = scf.if %in -> (tensor<?xi32>) {
      %t2 = tensor.insert %u1 into %t1[%i1] : tensor<?xi32>
      scf.yield %t2 : tensor<?xi32>
    } else {
      scf.yield %t1 : tensor<?xi32>
    }
    scf.yield %t3 : tensor<?xi32>
  }
  return %r : tensor<?xi32>

// ----- ok-padded-to-tiles
// accept: padding
// why: outputs in tiles of 8, the input padded behind with 9 more elements, whatever they are: here 77
  %c8 = arith.constant 8 : index
  %q = arith.ceildivui %l, %c8 : index
  %lp = arith.muli %q, %c8 : index
  %np = arith.addi %lp, %c2 : index
  %hi = arith.subi %np, %n : index
  %k77 = arith.constant 77 : i32
  %xp = tensor.pad %x low[0] high[%hi] {
  ^bb0(%i: index):
    tensor.yield %k77 : i32
  } : tensor<?xi32> to tensor<?xi32>
  %ep = tensor.empty(%lp) : tensor<?xi32>
  %fp = linalg.fill ins(%z : i32) outs(%ep : tensor<?xi32>) -> tensor<?xi32>
  %rp = linalg.conv_1d ins(%xp, %w : tensor<?xi32>, tensor<3xi32>) outs(%fp : tensor<?xi32>) -> tensor<?xi32>
  %r = tensor.extract_slice %rp[0] [%l] [1] : tensor<?xi32> to tensor<?xi32>
  return %r : tensor<?xi32>

// ----- padded-one-too-few
// reject aliasing/bounds: out-of-bounds read
// why: the same padded with one element less: the last tile reads beyond
// unchecked: the bufferized code reads beyond its own copy
// witness: {"sizes": {"N": 11}}
  %c8 = arith.constant 8 : index
  %q = arith.ceildivui %l, %c8 : index
  %lp = arith.muli %q, %c8 : index
  %np = arith.addi %lp, %c1 : index
  %hi0 = arith.subi %np, %n : index
  %hi = arith.maxsi %hi0, %c0 : index
  %k77 = arith.constant 77 : i32
  %xp = tensor.pad %x low[0] high[%hi] {
  ^bb0(%i: index):
    tensor.yield %k77 : i32
  } : tensor<?xi32> to tensor<?xi32>
  %ep = tensor.empty(%lp) : tensor<?xi32>
  %fp = linalg.fill ins(%z : i32) outs(%ep : tensor<?xi32>) -> tensor<?xi32>
  %rp = linalg.conv_1d ins(%xp, %w : tensor<?xi32>, tensor<3xi32>) outs(%fp : tensor<?xi32>) -> tensor<?xi32>
  %r = tensor.extract_slice %rp[0] [%l] [1] : tensor<?xi32> to tensor<?xi32>
  return %r : tensor<?xi32>
