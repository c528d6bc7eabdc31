// y[i] = table[idx[i] mod 7] for any 32-bit index, floor remainder; table of 7.
#id = affine_map<(i) -> (i)>
func.func @main(%t: tensor<7xf32>, %idx: tensor<?xi32> {kc.dims = ["N"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %idx, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %k = arith.constant 7 : i32
  %z = arith.constant 0 : i32
  // common above
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%idx : tensor<?xi32>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: i32, %o: f32):
    %a = arith.remsi %p, %k : i32
    %neg = arith.cmpi slt, %a, %z : i32
    %b = arith.addi %a, %k : i32
    %c = arith.select %neg, %b, %a : i32
    %j = arith.index_cast %c : i32 to index
    %v = tensor.extract %t[%j] : tensor<7xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// ----- add-seven-first
// reject aliasing/bounds: negative integers
// why: (p + 7) rem 7: negative for p < -7, and wraps near the top
// unchecked: an index below the table may read anything
// witness: {"set": {"1": [[1, -9]]}}
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%idx : tensor<?xi32>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: i32, %o: f32):
    %p7 = arith.addi %p, %k : i32
    %a = arith.remsi %p7, %k : i32
    %j = arith.index_cast %a : i32 to index
    %v = tensor.extract %t[%j] : tensor<7xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- large-multiple-first
// reject numeric: integer overflow
// why: adds a large multiple of 7, so that all is positive but the two lowest, and 2^32 is no multiple of 7
// witness: {"set": {"1": [[1, -2147483648]]}}
  %big = arith.constant 2147483646 : i32
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%idx : tensor<?xi32>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: i32, %o: f32):
    %p7 = arith.addi %p, %big : i32
    %a = arith.remui %p7, %k : i32
    %j = arith.index_castui %a : i32 to index
    %v = tensor.extract %t[%j] : tensor<7xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- ok-offset-in-64-bits
// accept: integer identity
// why: the same in 64 bits with a multiple of 7 above 2^31
  %big = arith.constant 2147483653 : i64
  %k6 = arith.constant 7 : i64
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%idx : tensor<?xi32>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: i32, %o: f32):
    %p6 = arith.extsi %p : i32 to i64
    %p7 = arith.addi %p6, %big : i64
    %a = arith.remui %p7, %k6 : i64
    %c3 = arith.constant 7 : i64
    %j = arith.index_cast %a : i64 to index
    %v = tensor.extract %t[%j] : tensor<7xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- index-width-16
// reject numeric: index overflow
// why: the index is cut to 16 bits first: 65536 is no multiple of 7
// witness: {"set": {"1": [[1, 70000]]}}
  %k16 = arith.constant 7 : i16
  %z16 = arith.constant 0 : i16
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%idx : tensor<?xi32>) outs(%e : tensor<?xf32>) {
  ^bb0(%p0: i32, %o: f32):
    %p = arith.trunci %p0 : i32 to i16
    %a = arith.remsi %p, %k16 : i16
    %neg = arith.cmpi slt, %a, %z16 : i16
    %b = arith.addi %a, %k16 : i16
    %c = arith.select %neg, %b, %a : i16
    %j = arith.index_cast %c : i16 to index
    %v = tensor.extract %t[%j] : tensor<7xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- ok-floor-division
// accept: integer identity
// why: p - 7 * floordiv(p, 7)
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%idx : tensor<?xi32>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: i32, %o: f32):
    %q = arith.floordivsi %p, %k : i32
    %b = arith.muli %q, %k : i32
    %a = arith.subi %p, %b : i32
    %j = arith.index_castui %a : i32 to index
    %v = tensor.extract %t[%j] : tensor<7xf32>
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- ok-seven-selects
// accept: select form
// why: no gather: each element of the table is taken where the remainder says so
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%idx : tensor<?xi32>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: i32, %o: f32):
    %p6 = arith.extsi %p : i32 to i64
    %k6 = arith.constant 7 : i64
    %off = arith.constant 4294967297 : i64
    %off7 = arith.muli %off, %k6 : i64
    %q = arith.addi %p6, %off7 : i64
    %a6 = arith.remui %q, %k6 : i64
    %a = arith.index_cast %a6 : i64 to index
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i7 = arith.constant 7 : index
    %zf = arith.constant 0.0 : f32
    %v = scf.for %k0 = %i0 to %i7 step %i1 iter_args(%h = %zf) -> (f32) {
      %w = tensor.extract %t[%k0] : tensor<7xf32>
      %is = arith.cmpi eq, %a, %k0 : index
      %g = arith.select %is, %w, %h : f32
      scf.yield %g : f32
    }
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- selects-by-sum
// reject numeric: nan/inf
// why: a one-hot sum: 0 times inf or NaN of the other places is NaN
// witness: {"set": {"0": [[3, "inf"]]}}
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%idx : tensor<?xi32>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: i32, %o: f32):
    %q = arith.floordivsi %p, %k : i32
    %b = arith.muli %q, %k : i32
    %a0 = arith.subi %p, %b : i32
    %a = arith.index_castui %a0 : i32 to index
    %i0 = arith.constant 0 : index
    %i1 = arith.constant 1 : index
    %i7 = arith.constant 7 : index
    %zf = arith.constant -0.0 : f32
    %v = scf.for %k0 = %i0 to %i7 step %i1 iter_args(%h = %zf) -> (f32) {
      %w = tensor.extract %t[%k0] : tensor<7xf32>
      %is = arith.cmpi eq, %a, %k0 : index
      %hot = arith.uitofp %is : i1 to f32
      %m = arith.mulf %w, %hot : f32
      %g = arith.addf %h, %m : f32
      scf.yield %g : f32
    }
    linalg.yield %v : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
