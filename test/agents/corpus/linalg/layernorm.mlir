// (x - mean) / sqrt(var + 1e-5) along rows.
// tolerance: ref64 1e-4 1e-5 16
#in = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?x?xf32> {kc.dims = ["M", "N"]}) -> tensor<?x?xf32> attributes {kc.allow = ["reassoc", "contract", "approx"], kc.sizes = {M = array<i64: 0, 16>, N = array<i64: 1, 64>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %ni = arith.index_cast %n : index to i32
  %nf = arith.sitofp %ni : i32 to f32
  %z = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %one = arith.constant 1.0 : f32
  %ve = tensor.empty(%m) : tensor<?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %vz = linalg.fill ins(%z : f32) outs(%ve : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#in, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%vz : tensor<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %a = arith.addf %o, %p : f32
    linalg.yield %a : f32
  } -> tensor<?xf32>
  // common above
  %var = linalg.generic {indexing_maps = [#in, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%vz : tensor<?xf32>) {
  ^bb0(%p: f32, %s: f32, %o: f32):
    %mu = arith.divf %s, %nf : f32
    %d = arith.subf %p, %mu : f32
    %q = arith.mulf %d, %d : f32
    %a = arith.addf %o, %q : f32
    linalg.yield %a : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#in, #row, #row, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %sum, %var : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %s: f32, %v: f32, %o: f32):
    %mu = arith.divf %s, %nf : f32
    %d = arith.subf %p, %mu : f32
    %vn = arith.divf %v, %nf : f32
    %ve1 = arith.addf %vn, %eps : f32
    %sd = math.sqrt %ve1 : f32
    %q = arith.divf %d, %sd : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// ----- one-pass
// reject numeric: cancellation
// why: E[x^2] - E[x]^2 cancels where the mean is far from zero
// assumes: reassoc
// witness: {"sizes": {"M": 1, "N": 4}, "values": {"0": [[4000.0, 4000.5, 4001.0, 4001.5]]}}
  %sq = linalg.generic {indexing_maps = [#in, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%vz : tensor<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %q = arith.mulf %p, %p : f32
    %a = arith.addf %o, %q : f32
    linalg.yield %a : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#in, #row, #row, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %sum, %sq : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %s: f32, %v: f32, %o: f32):
    %mu = arith.divf %s, %nf : f32
    %d = arith.subf %p, %mu : f32
    %vn = arith.divf %v, %nf : f32
    %mm = arith.mulf %mu, %mu : f32
    %vc = arith.subf %vn, %mm : f32
    %vp = arith.maximumf %vc, %z : f32
    %ve1 = arith.addf %vp, %eps : f32
    %sd = math.sqrt %ve1 : f32
    %q = arith.divf %d, %sd : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- epsilon-outside
// reject numeric: epsilon
// why: epsilon is added to the standard deviation: shows where the variance is near it
// assumes: reassoc; approx
// witness: {"sizes": {"M": 1, "N": 4}, "values": {"0": [[0.001, 0.002, 0.003, 0.004]]}}
  %var = linalg.generic {indexing_maps = [#in, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%vz : tensor<?xf32>) {
  ^bb0(%p: f32, %s: f32, %o: f32):
    %mu = arith.divf %s, %nf : f32
    %d = arith.subf %p, %mu : f32
    %q = arith.mulf %d, %d : f32
    %a = arith.addf %o, %q : f32
    linalg.yield %a : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#in, #row, #row, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %sum, %var : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %s: f32, %v: f32, %o: f32):
    %mu = arith.divf %s, %nf : f32
    %d = arith.subf %p, %mu : f32
    %vn = arith.divf %v, %nf : f32
    %sd0 = math.sqrt %vn : f32
    %sd = arith.addf %sd0, %eps : f32
    %q = arith.divf %d, %sd : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- unbiased
// reject numeric: normalisation
// why: divides the sum of squares by N - 1
// assumes: reassoc; approx
  %nm = arith.subf %nf, %one : f32
  %n1 = arith.maximumf %nm, %one : f32
  %var = linalg.generic {indexing_maps = [#in, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%vz : tensor<?xf32>) {
  ^bb0(%p: f32, %s: f32, %o: f32):
    %mu = arith.divf %s, %nf : f32
    %d = arith.subf %p, %mu : f32
    %q = arith.mulf %d, %d : f32
    %a = arith.addf %o, %q : f32
    linalg.yield %a : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#in, #row, #row, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %sum, %var : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %s: f32, %v: f32, %o: f32):
    %mu = arith.divf %s, %nf : f32
    %d = arith.subf %p, %mu : f32
    %vn = arith.divf %v, %n1 : f32
    %ve1 = arith.addf %vn, %eps : f32
    %sd = math.sqrt %ve1 : f32
    %q = arith.divf %d, %sd : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- ok-shifted-one-pass
// accept: cancellation avoided
// why: one pass over x - x[0], which takes the large common part off before squaring; in f64 besides
// assumes: reassoc
// specials: "no_huge"
  %z64 = arith.constant 0.0 : f64
  %eps64 = arith.constant 1.0e-5 : f64
  %n64 = arith.extf %nf : f32 to f64
  %w = tensor.empty(%m) : tensor<?xf64>
  %wz = linalg.fill ins(%z64 : f64) outs(%w : tensor<?xf64>) -> tensor<?xf64>
  %both:2 = linalg.generic {indexing_maps = [#in, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%wz, %wz : tensor<?xf64>, tensor<?xf64>) {
  ^bb0(%p: f32, %o: f64, %o2: f64):
    %i = linalg.index 0 : index
    %f0 = tensor.extract %x[%i, %c0] : tensor<?x?xf32>
    %p64 = arith.extf %p : f32 to f64
    %f64 = arith.extf %f0 : f32 to f64
    %d = arith.subf %p64, %f64 : f64
    %q = arith.mulf %d, %d : f64
    %a = arith.addf %o, %d : f64
    %b = arith.addf %o2, %q : f64
    linalg.yield %a, %b : f64, f64
  } -> (tensor<?xf64>, tensor<?xf64>)
  %r = linalg.generic {indexing_maps = [#in, #row, #row, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %both#0, %both#1 : tensor<?x?xf32>, tensor<?xf64>, tensor<?xf64>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %s: f64, %v: f64, %o: f32):
    %i = linalg.index 0 : index
    %f0 = tensor.extract %x[%i, %c0] : tensor<?x?xf32>
    %p64 = arith.extf %p : f32 to f64
    %f64 = arith.extf %f0 : f32 to f64
    %d0 = arith.subf %p64, %f64 : f64
    %mu = arith.divf %s, %n64 : f64
    %d = arith.subf %d0, %mu : f64
    %vn = arith.divf %v, %n64 : f64
    %mm = arith.mulf %mu, %mu : f64
    %vc = arith.subf %vn, %mm : f64
    %ve1 = arith.addf %vc, %eps64 : f64
    %sd = math.sqrt %ve1 : f64
    %q = arith.divf %d, %sd : f64
    %t = arith.truncf %q : f64 to f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- ok-reciprocal-root
// accept: granted assumption
// why: multiplies by 1 / sqrt, one per row
// assumes: reassoc; approx
// specials: "no_huge"
  %var = linalg.generic {indexing_maps = [#in, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%vz : tensor<?xf32>) {
  ^bb0(%p: f32, %s: f32, %o: f32):
    %mu = arith.divf %s, %nf : f32
    %d = arith.subf %p, %mu : f32
    %a = math.fma %d, %d, %o : f32
    linalg.yield %a : f32
  } -> tensor<?xf32>
  %inv = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%var : tensor<?xf32>) outs(%ve : tensor<?xf32>) {
  ^bb0(%v: f32, %o: f32):
    %vn = arith.divf %v, %nf : f32
    %ve1 = arith.addf %vn, %eps : f32
    %sd = math.sqrt %ve1 : f32
    %q = arith.divf %one, %sd : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#in, #row, #row, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %sum, %inv : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %s: f32, %v: f32, %o: f32):
    %mu = arith.divf %s, %nf : f32
    %d = arith.subf %p, %mu : f32
    %q = arith.mulf %d, %v : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- no-infinities
// reject assumption: false assumption
// why: claims ninf, which the contract does not grant
// assumes: reassoc; ninf
  %var = linalg.generic {indexing_maps = [#in, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%vz : tensor<?xf32>) {
  ^bb0(%p: f32, %s: f32, %o: f32):
    %mu = arith.divf %s, %nf : f32
    %d = arith.subf %p, %mu : f32
    %q = arith.mulf %d, %d : f32
    %a = arith.addf %o, %q : f32
    linalg.yield %a : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#in, #row, #row, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %sum, %var : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %s: f32, %v: f32, %o: f32):
    %mu = arith.divf %s, %nf : f32
    %d = arith.subf %p, %mu : f32
    %vn = arith.divf %v, %nf : f32
    %ve1 = arith.addf %vn, %eps : f32
    %sd = math.sqrt %ve1 : f32
    %q = arith.divf %d, %sd : f32
    linalg.yield %q : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
