// Softmax over rows with the maximum taken off; rows may be masked by -inf; reassociation allowed.
// tolerance: ref64 1e-5 1e-6 4
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?x?xf32> {kc.dims = ["M", "N"]}) -> tensor<?x?xf32> attributes {kc.allow = ["reassoc", "contract", "arcp"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %er = tensor.empty(%m) : tensor<?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%ninf : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %mx = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.maximumf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %fz = linalg.fill ins(%z : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  // common above
  %ex = linalg.generic {indexing_maps = [#in, #out, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %mx : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.subf %p, %q : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%ex : tensor<?x?xf32>) outs(%fz : tensor<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#in, #out, #in], iterator_types = ["parallel", "parallel"]} ins(%ex, %s : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.divf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// ----- ok-reciprocal-once
// accept: granted assumption
// why: arcp: the reciprocal of the sum, once per row
// assumes: arcp; reassoc
  %ex = linalg.generic {indexing_maps = [#in, #out, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %mx : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.subf %p, %q : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%ex : tensor<?x?xf32>) outs(%fz : tensor<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %i = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%s : tensor<?xf32>) outs(%er : tensor<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.divf %one, %p : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#in, #out, #in], iterator_types = ["parallel", "parallel"]} ins(%ex, %i : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.mulf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- by-log-sum
// reject numeric: nan/inf
// why: exp(x - max - log(sum)): right for finite rows; where max is +inf it gives NaN in either, but a finite element beside is NaN in the original and 0 here
// witness: {"sizes": {"M": 1, "N": 3}, "values": {"0": [["inf", 1.0, 2.0]]}}
  %s = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]} ins(%x, %mx : tensor<?x?xf32>, tensor<?xf32>) outs(%fz : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d0 = arith.subf %p, %q : f32
    %same = arith.cmpf oeq, %p, %q : f32
    %d = arith.select %same, %z, %d0 : f32
    %x0 = math.exp %d : f32
    %t = arith.addf %o, %x0 : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#in, #out, #out, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %mx, %s : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %w: f32, %o: f32):
    %d0 = arith.subf %p, %q : f32
    %same = arith.cmpf oeq, %p, %q : f32
    %d = arith.select %same, %z, %d0 : f32
    %x0 = math.exp %d : f32
    %t = arith.divf %x0, %w : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- masked-rows-to-zero
// reject numeric: mask
// why: rows of -inf alone give 0, as masks often want; the original gives NaN
// witness: {"sizes": {"M": 1, "N": 3}, "values": {"0": [["-inf", "-inf", "-inf"]]}}
  %ex = linalg.generic {indexing_maps = [#in, #out, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %mx : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.subf %p, %q : f32
    %t = math.exp %d : f32
    %all = arith.cmpf oeq, %q, %ninf : f32
    %u = arith.select %all, %z, %t : f32
    linalg.yield %u : f32
  } -> tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]} ins(%ex, %mx : tensor<?x?xf32>, tensor<?xf32>) outs(%fz : tensor<?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %all = arith.cmpf oeq, %q, %ninf : f32
    %u = arith.select %all, %one, %p : f32
    %t = arith.addf %o, %u : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#in, #out, #in], iterator_types = ["parallel", "parallel"]} ins(%ex, %s : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.divf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- maximum-over-all-rows
// reject numeric: overflow
// why: one maximum for the whole matrix: rows far below it underflow to 0 / 0
// witness: {"sizes": {"M": 2, "N": 2}, "values": {"0": [[0.0, 1.0], [300.0, 299.0]]}}
  %g0 = tensor.empty() : tensor<f32>
  %g1 = linalg.fill ins(%ninf : f32) outs(%g0 : tensor<f32>) -> tensor<f32>
  %g = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%mx : tensor<?xf32>) outs(%g1 : tensor<f32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.maximumf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<f32>
  %ex = linalg.generic {indexing_maps = [#in, affine_map<(i, j) -> ()>, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %g : tensor<?x?xf32>, tensor<f32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.subf %p, %q : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%ex : tensor<?x?xf32>) outs(%fz : tensor<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#in, #out, #in], iterator_types = ["parallel", "parallel"]} ins(%ex, %s : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.divf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- maximum-rounded-up
// reject numeric: nan/inf
// why: the ceiling of the maximum is taken off instead: fine for finite rows, up to rounding; but the maximum with 0 of it too: rows below -88 are 0 / 0
// witness: {"sizes": {"M": 1, "N": 2}, "values": {"0": [[-200.0, -199.0]]}}
  %ex = linalg.generic {indexing_maps = [#in, #out, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %mx : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %q0 = arith.maximumf %q, %z : f32
    %d = arith.subf %p, %q0 : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%ex : tensor<?x?xf32>) outs(%fz : tensor<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#in, #out, #in], iterator_types = ["parallel", "parallel"]} ins(%ex, %s : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.divf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- ok-sum-in-f64
// accept: more precise
// why: the sums in f64
  %zd = arith.constant 0.0 : f64
  %ed = tensor.empty(%m) : tensor<?xf64>
  %fd = linalg.fill ins(%zd : f64) outs(%ed : tensor<?xf64>) -> tensor<?xf64>
  %ex = linalg.generic {indexing_maps = [#in, #out, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %mx : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %d = arith.subf %p, %q : f32
    %t = math.exp %d : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  %s = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%ex : tensor<?x?xf32>) outs(%fd : tensor<?xf64>) {
  ^bb0(%p: f32, %o: f64):
    %pd = arith.extf %p : f32 to f64
    %t = arith.addf %o, %pd : f64
    linalg.yield %t : f64
  } -> tensor<?xf64>
  %r = linalg.generic {indexing_maps = [#in, #out, #in], iterator_types = ["parallel", "parallel"]} ins(%ex, %s : tensor<?x?xf32>, tensor<?xf64>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f64, %o: f32):
    %pd = arith.extf %p : f32 to f64
    %t = arith.divf %pd, %q : f64
    %u = arith.truncf %t : f64 to f32
    linalg.yield %u : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
