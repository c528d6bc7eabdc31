// Row sums of x * w with w broadcast along rows; sums may be taken in another order.
// tolerance: ref64 1e-6 1e-5 4
#xy = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#col = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?x?xf32> {kc.dims = ["M", "N"]}, %w: tensor<?xf32> {kc.dims = ["N"]}) -> tensor<?xf32> attributes {kc.allow = ["reassoc", "contract"], kc.sizes = {N = array<i64: 0, 300>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  // common above
  %r = linalg.generic {indexing_maps = [#xy, #row, #col], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.mulf %p, %q : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// ----- ok-matvec
// accept: named op
// why: linalg.matvec is that
  %r = linalg.matvec ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- ok-in-f64
// accept: more precise
// specials: "no_huge"
// why: products and sums in f64, rounded at the end
  %zd = arith.constant 0.0 : f64
  %ed = tensor.empty(%m) : tensor<?xf64>
  %fd = linalg.fill ins(%zd : f64) outs(%ed : tensor<?xf64>) -> tensor<?xf64>
  %d = linalg.generic {indexing_maps = [#xy, #row, #col], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%fd : tensor<?xf64>) {
  ^bb0(%p: f32, %q: f32, %o: f64):
    %pd = arith.extf %p : f32 to f64
    %qd = arith.extf %q : f32 to f64
    %t = arith.mulf %pd, %qd : f64
    %s = arith.addf %o, %t : f64
    linalg.yield %s : f64
  } -> tensor<?xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%d : tensor<?xf64>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: f64, %o: f32):
    %t = arith.truncf %p : f64 to f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- accumulated-in-bf16
// reject numeric: precision
// why: reassoc does not allow to accumulate in bf16
  %zd = arith.constant 0.0 : bf16
  %ed = tensor.empty(%m) : tensor<?xbf16>
  %fd = linalg.fill ins(%zd : bf16) outs(%ed : tensor<?xbf16>) -> tensor<?xbf16>
  %d = linalg.generic {indexing_maps = [#xy, #row, #col], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%fd : tensor<?xbf16>) {
  ^bb0(%p: f32, %q: f32, %o: bf16):
    %od = arith.extf %o : bf16 to f32
    %t = arith.mulf %p, %q : f32
    %s = arith.addf %od, %t : f32
    %sd = arith.truncf %s : f32 to bf16
    linalg.yield %sd : bf16
  } -> tensor<?xbf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%d : tensor<?xbf16>) outs(%e : tensor<?xf32>) {
  ^bb0(%p: bf16, %o: f32):
    %t = arith.extf %p : bf16 to f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- weights-in-bf16
// reject numeric: precision
// why: the weights are rounded to bf16 first
  %r = linalg.generic {indexing_maps = [#xy, #row, #col], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %qb = arith.truncf %q : f32 to bf16
    %qf = arith.extf %qb : bf16 to f32
    %t = arith.mulf %p, %qf : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- small-terms-dropped
// reject numeric: dropped terms
// why: products below 2^-10 in magnitude are dropped: all of a row may be so small
// witness: {"sizes": {"M": 1, "N": 3}, "values": {"0": [[0.01, 0.02, 0.03]], "1": [0.03, 0.03, 0.03]}}
  %k = arith.constant 9.765625e-04 : f32
  %r = linalg.generic {indexing_maps = [#xy, #row, #col], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.mulf %p, %q : f32
    %a = math.absf %t : f32
    %sm = arith.cmpf olt, %a, %k : f32
    %u = arith.select %sm, %z, %t : f32
    %s = arith.addf %o, %u : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- zero-weights-skipped
// reject numeric: nan/inf
// why: a weight of 0 skips the product: 0 times inf or NaN is NaN
// witness: {"sizes": {"M": 1, "N": 3}, "values": {"0": [[1.0, "inf", 3.0]], "1": [1.0, 0.0, 1.0]}}
  %r = linalg.generic {indexing_maps = [#xy, #row, #col], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.mulf %p, %q : f32
    %a = arith.cmpf oeq, %q, %z : f32
    %s = arith.addf %o, %t : f32
    %u = arith.select %a, %o, %s : f32
    linalg.yield %u : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- compensated-wrongly
// reject numeric: cancellation
// why: the first weight is taken out of the others and given back as w0 * sum(x): cancels where w0 is large
// witness: {"sizes": {"M": 1, "N": 4}, "values": {"0": [[0.0, 1.0, 1.0, 1.0]], "1": [1e6, 1.1, 1.2, 1.3]}}
  %some = arith.cmpi ne, %n, %c0 : index
  %w0 = scf.if %some -> (f32) {
    %q = tensor.extract %w[%c0] : tensor<?xf32>
    scf.yield %q : f32
  } else {
    scf.yield %z : f32
  }
  %r0 = linalg.generic {indexing_maps = [#xy, #row, #col], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.subf %q, %w0 : f32
    %t = arith.mulf %p, %d : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#xy, #col], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%r0 : tensor<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.mulf %p, %w0 : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- ok-padded-rows
// accept: padding
// why: x and w are padded to multiples of 16 with zeros, which add products of 0
  %c16 = arith.constant 16 : index
  %q = arith.ceildivui %n, %c16 : index
  %nn = arith.muli %q, %c16 : index
  %hi = arith.subi %nn, %n : index
  %xp = tensor.pad %x low[0, 0] high[0, %hi] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<?x?xf32> to tensor<?x?xf32>
  %wp = tensor.pad %w low[0] high[%hi] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<?xf32> to tensor<?xf32>
  %r = linalg.matvec ins(%xp, %wp : tensor<?x?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- padded-by-insertion
// reject numeric: uninitialised read
// why: the padded copies come from tensor.empty: only the copied part is written
// witness: {"sizes": {"M": 2, "N": 5}}
  %c16 = arith.constant 16 : index
  %q = arith.ceildivui %n, %c16 : index
  %nn = arith.muli %q, %c16 : index
  %xe = tensor.empty(%m, %nn) : tensor<?x?xf32>
  %xp = tensor.insert_slice %x into %xe[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  %we0 = tensor.empty(%nn) : tensor<?xf32>
  %we = linalg.fill ins(%z : f32) outs(%we0 : tensor<?xf32>) -> tensor<?xf32>
  %wp = tensor.insert_slice %w into %we[0] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  %r = linalg.matvec ins(%xp, %wp : tensor<?x?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- ok-padded-both-filled
// accept: padding
// why: the same with both filled with zeros first
  %c16 = arith.constant 16 : index
  %q = arith.ceildivui %n, %c16 : index
  %nn = arith.muli %q, %c16 : index
  %xe0 = tensor.empty(%m, %nn) : tensor<?x?xf32>
  %xe = linalg.fill ins(%z : f32) outs(%xe0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %xp = tensor.insert_slice %x into %xe[0, 0] [%m, %n] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  %we0 = tensor.empty(%nn) : tensor<?xf32>
  %we = linalg.fill ins(%z : f32) outs(%we0 : tensor<?xf32>) -> tensor<?xf32>
  %wp = tensor.insert_slice %w into %we[0] [%n] [1] : tensor<?xf32> into tensor<?xf32>
  %r = linalg.matvec ins(%xp, %wp : tensor<?x?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- ok-columns-outside
// accept: loop order
// why: the reduction is the outer dimension, rows inside
  %r = linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>, affine_map<(j, i) -> (i)>], iterator_types = ["reduction", "parallel"]} ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.mulf %p, %q : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- ok-all-reductions
// accept: loop order
// specials: "no_huge"
// why: both iterators are called reductions, which only forbids to run them in parallel
  %r = linalg.generic {indexing_maps = [#xy, #row, #col], iterator_types = ["reduction", "reduction"]} ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = math.fma %p, %q, %o : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- all-parallel
// reject determinism: race
// why: the reduction is called parallel
// unchecked: a serial run does not show it
  %r = linalg.generic {indexing_maps = [#xy, #row, #col], iterator_types = ["parallel", "parallel"]} ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = math.fma %p, %q, %o : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- ok-tiles-in-scf
// accept: tiling
// why: rows by scf.for in tiles of 3, columns in tiles of 7, partial sums carried
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %r = scf.for %i = %c0 to %m step %c3 iter_args(%acc = %f) -> (tensor<?xf32>) {
    %li = arith.subi %m, %i : index
    %ti = arith.minui %li, %c3 : index
    %a = scf.for %j = %c0 to %n step %c7 iter_args(%ac = %acc) -> (tensor<?xf32>) {
      %lj = arith.subi %n, %j : index
      %tj = arith.minui %lj, %c7 : index
      %xs = tensor.extract_slice %x[%i, %j] [%ti, %tj] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
      %ws = tensor.extract_slice %w[%j] [%tj] [1] : tensor<?xf32> to tensor<?xf32>
      %as = tensor.extract_slice %ac[%i] [%ti] [1] : tensor<?xf32> to tensor<?xf32>
      %q = linalg.matvec ins(%xs, %ws : tensor<?x?xf32>, tensor<?xf32>) outs(%as : tensor<?xf32>) -> tensor<?xf32>
      %b = tensor.insert_slice %q into %ac[%i] [%ti] [1] : tensor<?xf32> into tensor<?xf32>
      scf.yield %b : tensor<?xf32>
    }
    scf.yield %a : tensor<?xf32>
  }
  return %r : tensor<?xf32>

// ----- tiles-start-from-fill-each
// reject numeric: dropped terms
// why: every tile of columns starts from zero again: only the last one counts
// unchecked: the harness cannot bufferize it
// witness: {"sizes": {"M": 2, "N": 130}}
  %c128 = arith.constant 128 : index
  %r = scf.for %j = %c0 to %n step %c128 iter_args(%ac = %f) -> (tensor<?xf32>) {
    %lj = arith.subi %n, %j : index
    %tj = arith.minui %lj, %c128 : index
    %xs = tensor.extract_slice %x[0, %j] [%m, %tj] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
    %ws = tensor.extract_slice %w[%j] [%tj] [1] : tensor<?xf32> to tensor<?xf32>
    %q = linalg.matvec ins(%xs, %ws : tensor<?x?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %q : tensor<?xf32>
  }
  return %r : tensor<?xf32>

// ----- ok-forall-rows
// accept: parallel
// why: scf.forall over rows, each inserts its own element
  %r = scf.forall (%i) in (%m) shared_outs(%o = %f) -> (tensor<?xf32>) {
    %xs = tensor.extract_slice %x[%i, 0] [1, %n] [1, 1] : tensor<?x?xf32> to tensor<1x?xf32>
    %os = tensor.extract_slice %o[%i] [1] [1] : tensor<?xf32> to tensor<1xf32>
    %q = linalg.matvec ins(%xs, %w : tensor<1x?xf32>, tensor<?xf32>) outs(%os : tensor<1xf32>) -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %q into %o[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
    }
  }
  return %r : tensor<?xf32>

// ----- forall-overlapping
// reject determinism: race
// why: tiles of two rows at a distance of one: two threads insert each row
// unchecked: a serial run does not show it
  %lm0 = arith.cmpi ugt, %m, %c1 : index
  %r = scf.if %lm0 -> (tensor<?xf32>) {
    %m1 = arith.subi %m, %c1 : index
    %rr = scf.forall (%i) in (%m1) shared_outs(%o = %f) -> (tensor<?xf32>) {
      %xs = tensor.extract_slice %x[%i, 0] [2, %n] [1, 1] : tensor<?x?xf32> to tensor<2x?xf32>
      %os = tensor.extract_slice %f[%i] [2] [1] : tensor<?xf32> to tensor<2xf32>
      %q = linalg.matvec ins(%xs, %w : tensor<2x?xf32>, tensor<?xf32>) outs(%os : tensor<2xf32>) -> tensor<2xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %q into %o[%i] [2] [1] : tensor<2xf32> into tensor<?xf32>
      }
    }
    scf.yield %rr : tensor<?xf32>
  } else {
    %rr = linalg.matvec ins(%x, %w : tensor<?x?xf32>, tensor<?xf32>) outs(%f : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %rr : tensor<?xf32>
  }
  return %r : tensor<?xf32>
