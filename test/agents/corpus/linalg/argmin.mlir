// For each row the index of the first smallest element (NaN counts as smallest, the first of them wins); N >= 1.
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?x?xf32> {kc.dims = ["M", "N"]}) -> tensor<?xi32> attributes {kc.sizes = {N = array<i64: 1, 64>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %z = arith.constant 0 : i32
  %inf = arith.constant 0x7F800000 : f32
  %ev = tensor.empty(%m) : tensor<?xf32>
  %ei = tensor.empty(%m) : tensor<?xi32>
  %fi = linalg.fill ins(%z : i32) outs(%ei : tensor<?xi32>) -> tensor<?xi32>
  // common above
  %first = tensor.extract_slice %x[0, 0] [%m, 1] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%first, %fi : tensor<?xf32>, tensor<?xi32>) {
  ^bb0(%p: f32, %o: f32, %k: i32):
    %j0 = linalg.index 1 : index
    %j = arith.index_cast %j0 : index to i32
    %on = arith.cmpf uno, %o, %o : f32
    %pn = arith.cmpf uno, %p, %p : f32
    %lt = arith.cmpf olt, %p, %o : f32
    %t0 = arith.ori %lt, %pn : i1
    %one = arith.constant true
    %ok = arith.xori %on, %one : i1
    %take = arith.andi %t0, %ok : i1
    %v = arith.select %take, %p, %o : f32
    %i = arith.select %take, %j, %k : i32
    linalg.yield %v, %i : f32, i32
  } -> (tensor<?xf32>, tensor<?xi32>)
  return %r#1 : tensor<?xi32>
}

// ----- starts-from-infinity
// reject numeric: reduction init
// why: starts from +inf at index 0: a NaN first element is not smaller than anything, nor is it kept
// witness: {"sizes": {"M": 1, "N": 3}, "values": {"0": [["nan", 1.0, 0.5]]}}
  %fv = linalg.fill ins(%inf : f32) outs(%ev : tensor<?xf32>) -> tensor<?xf32>
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%fv, %fi : tensor<?xf32>, tensor<?xi32>) {
  ^bb0(%p: f32, %o: f32, %k: i32):
    %j0 = linalg.index 1 : index
    %j = arith.index_cast %j0 : index to i32
    %take = arith.cmpf ult, %p, %o : f32
    %v = arith.select %take, %p, %o : f32
    %i = arith.select %take, %j, %k : i32
    linalg.yield %v, %i : f32, i32
  } -> (tensor<?xf32>, tensor<?xi32>)
  return %r#1 : tensor<?xi32>

// ----- ok-starts-from-infinity-careful
// accept: reduction init
// why: from +inf at index 0, with NaN kept once found
  %fv = linalg.fill ins(%inf : f32) outs(%ev : tensor<?xf32>) -> tensor<?xf32>
  %r:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%fv, %fi : tensor<?xf32>, tensor<?xi32>) {
  ^bb0(%p: f32, %o: f32, %k: i32):
    %j0 = linalg.index 1 : index
    %j = arith.index_cast %j0 : index to i32
    %lt = arith.cmpf ult, %p, %o : f32
    %on = arith.cmpf ord, %o, %o : f32
    %take = arith.andi %lt, %on : i1
    %v = arith.select %take, %p, %o : f32
    %i = arith.select %take, %j, %k : i32
    linalg.yield %v, %i : f32, i32
  } -> (tensor<?xf32>, tensor<?xi32>)
  return %r#1 : tensor<?xi32>

// ----- as-packed-integers
// reject numeric: signed zero
// why: keys made of the bits, made monotonous, with the index below: -0 sorts before +0
// witness: {"sizes": {"M": 1, "N": 2}, "values": {"0": [[0.0, -0.0]]}}
  %mx = arith.constant 9223372036854775807 : i64
  %k31 = arith.constant 31 : i32
  %msk = arith.constant 2147483647 : i32
  %lowest = arith.constant -2147483648 : i32
  %k32 = arith.constant 32 : i64
  %ek = tensor.empty(%m) : tensor<?xi64>
  %fk = linalg.fill ins(%mx : i64) outs(%ek : tensor<?xi64>) -> tensor<?xi64>
  %q = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%fk : tensor<?xi64>) {
  ^bb0(%p: f32, %o: i64):
    %j0 = linalg.index 1 : index
    %j = arith.index_cast %j0 : index to i64
    %b = arith.bitcast %p : f32 to i32
    %s = arith.shrsi %b, %k31 : i32
    %f = arith.andi %s, %msk : i32
    %key0 = arith.xori %b, %f : i32
    %pn = arith.cmpf uno, %p, %p : f32
    %key = arith.select %pn, %lowest, %key0 : i32
    %k6 = arith.extsi %key : i32 to i64
    %h = arith.shli %k6, %k32 : i64
    %w = arith.ori %h, %j : i64
    %t = arith.minsi %o, %w : i64
    linalg.yield %t : i64
  } -> tensor<?xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%q : tensor<?xi64>) outs(%ei : tensor<?xi32>) {
  ^bb0(%p: i64, %o: i32):
    %t = arith.trunci %p : i64 to i32
    linalg.yield %t : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>

// ----- ok-packed-integers-one-zero
// accept: comparison
// why: the same after x + 0, which makes one zero of both
  %zf = arith.constant 0.0 : f32
  %mx = arith.constant 9223372036854775807 : i64
  %k31 = arith.constant 31 : i32
  %msk = arith.constant 2147483647 : i32
  %lowest = arith.constant -2147483648 : i32
  %k32 = arith.constant 32 : i64
  %ek = tensor.empty(%m) : tensor<?xi64>
  %fk = linalg.fill ins(%mx : i64) outs(%ek : tensor<?xi64>) -> tensor<?xi64>
  %q = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%fk : tensor<?xi64>) {
  ^bb0(%p0: f32, %o: i64):
    %p = arith.addf %p0, %zf : f32
    %j0 = linalg.index 1 : index
    %j = arith.index_cast %j0 : index to i64
    %b = arith.bitcast %p : f32 to i32
    %s = arith.shrsi %b, %k31 : i32
    %f = arith.andi %s, %msk : i32
    %key0 = arith.xori %b, %f : i32
    %pn = arith.cmpf uno, %p, %p : f32
    %key = arith.select %pn, %lowest, %key0 : i32
    %k6 = arith.extsi %key : i32 to i64
    %h = arith.shli %k6, %k32 : i64
    %w = arith.ori %h, %j : i64
    %t = arith.minsi %o, %w : i64
    linalg.yield %t : i64
  } -> tensor<?xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%q : tensor<?xi64>) outs(%ei : tensor<?xi32>) {
  ^bb0(%p: i64, %o: i32):
    %t = arith.trunci %p : i64 to i32
    linalg.yield %t : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>

// ----- index-in-i6-as-signed
// reject numeric: index overflow
// why: the index is kept in seven bits signed from a six-bit counter: 32 to 63 come back negative
// witness: {"sizes": {"M": 1, "N": 40}, "set": {"0": [[39, -99.0]]}}
  %e6 = tensor.empty(%m) : tensor<?xi6>
  %z6 = arith.constant 0 : i6
  %f6 = linalg.fill ins(%z6 : i6) outs(%e6 : tensor<?xi6>) -> tensor<?xi6>
  %fv = linalg.fill ins(%inf : f32) outs(%ev : tensor<?xf32>) -> tensor<?xf32>
  %q:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%fv, %f6 : tensor<?xf32>, tensor<?xi6>) {
  ^bb0(%p: f32, %o: f32, %k: i6):
    %j0 = linalg.index 1 : index
    %j = arith.index_cast %j0 : index to i6
    %lt = arith.cmpf ult, %p, %o : f32
    %on = arith.cmpf ord, %o, %o : f32
    %take = arith.andi %lt, %on : i1
    %v = arith.select %take, %p, %o : f32
    %i = arith.select %take, %j, %k : i6
    linalg.yield %v, %i : f32, i6
  } -> (tensor<?xf32>, tensor<?xi6>)
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%q#1 : tensor<?xi6>) outs(%ei : tensor<?xi32>) {
  ^bb0(%p: i6, %o: i32):
    %t = arith.extsi %p : i6 to i32
    linalg.yield %t : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>

// ----- from-behind-with-or-equal
// reject numeric: nan/inf
// why: columns from behind with less-or-equal: right for numbers; of several NaN the last keeps the place, not the first
// witness: {"sizes": {"M": 1, "N": 3}, "values": {"0": [["nan", 1.0, "nan"]]}}
  %nm = arith.subi %n, %c1 : index
  %last = tensor.extract_slice %x[0, %nm] [%m, 1] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
  %ni = arith.index_cast %nm : index to i32
  %fl = linalg.fill ins(%ni : i32) outs(%ei : tensor<?xi32>) -> tensor<?xi32>
  %q:2 = scf.for %c = %c0 to %n step %c1 iter_args(%av = %last, %ai = %fl) -> (tensor<?xf32>, tensor<?xi32>) {
    %k = arith.subi %nm, %c : index
    %ki = arith.index_cast %k : index to i32
    %col = tensor.extract_slice %x[0, %k] [%m, 1] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %g:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%col : tensor<?xf32>) outs(%av, %ai : tensor<?xf32>, tensor<?xi32>) {
    ^bb0(%p: f32, %o: f32, %h: i32):
      %le = arith.cmpf ole, %p, %o : f32
      %pn = arith.cmpf uno, %p, %p : f32
      %on = arith.cmpf uno, %o, %o : f32
      %bothn = arith.andi %pn, %on : i1
      %onn = arith.cmpf ord, %o, %o : f32
      %newn = arith.andi %pn, %onn : i1
      %same = arith.cmpf une, %o, %o : f32
      %t1 = arith.ori %le, %newn : i1
      %v = arith.select %t1, %p, %o : f32
      %i = arith.select %t1, %ki, %h : i32
      linalg.yield %v, %i : f32, i32
    } -> (tensor<?xf32>, tensor<?xi32>)
    scf.yield %g#0, %g#1 : tensor<?xf32>, tensor<?xi32>
  }
  return %q#1 : tensor<?xi32>
