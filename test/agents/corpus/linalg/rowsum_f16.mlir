// Sum of rows in f16, left to right, rounded each time.
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?x?xf16> {kc.dims = ["M", "N"]}) -> tensor<?xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf16>
  %n = tensor.dim %x, %c1 : tensor<?x?xf16>
  %z = arith.constant 0.0 : f16
  %e = tensor.empty(%m) : tensor<?xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<?xf16>) -> tensor<?xf16>
  // common above
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf16>) outs(%f : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %s = arith.addf %o, %p : f16
    linalg.yield %s : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>
}

// ----- kept-in-f32
// reject numeric: precision
// why: rounds once at the end: more exact, and not what the contract asks for
  %zd = arith.constant 0.0 : f32
  %ed = tensor.empty(%m) : tensor<?xf32>
  %fd = linalg.fill ins(%zd : f32) outs(%ed : tensor<?xf32>) -> tensor<?xf32>
  %d = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf16>) outs(%fd : tensor<?xf32>) {
  ^bb0(%p: f16, %o: f32):
    %pd = arith.extf %p : f16 to f32
    %s = arith.addf %o, %pd : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%d : tensor<?xf32>) outs(%e : tensor<?xf16>) {
  ^bb0(%p: f32, %o: f16):
    %t = arith.truncf %p : f32 to f16
    linalg.yield %t : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>

// ----- ok-f32-rounded-each-time
// accept: more precise
// why: each sum in f32 and rounded to f16: the sum of two f16 is rounded the same way
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf16>) outs(%f : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %pd = arith.extf %p : f16 to f32
    %od = arith.extf %o : f16 to f32
    %s = arith.addf %pd, %od : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>

// ----- ok-f64-rounded-each-time
// accept: more precise
// why: the same through f64
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf16>) outs(%f : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %pd = arith.extf %p : f16 to f64
    %od = arith.extf %o : f16 to f64
    %s = arith.addf %pd, %od : f64
    %t = arith.truncf %s : f64 to f16
    linalg.yield %t : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>

// ----- two-at-a-time
// reject numeric: reassociation
// why: two sums per row, even and odd columns
  %c2 = arith.constant 2 : index
  %h1 = arith.divui %n, %c2 : index
  %h0 = arith.subi %n, %h1 : index
  %x0 = tensor.extract_slice %x[0, 0] [%m, %h0] [1, 2] : tensor<?x?xf16> to tensor<?x?xf16>
  %some = arith.cmpi ugt, %n, %c1 : index
  %st = arith.select %some, %c1, %c0 : index
  %x1 = tensor.extract_slice %x[0, %st] [%m, %h1] [1, 2] : tensor<?x?xf16> to tensor<?x?xf16>
  %u = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x0 : tensor<?x?xf16>) outs(%f : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %s = arith.addf %o, %p : f16
    linalg.yield %s : f16
  } -> tensor<?xf16>
  %v = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x1 : tensor<?x?xf16>) outs(%f : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %s = arith.addf %o, %p : f16
    linalg.yield %s : f16
  } -> tensor<?xf16>
  %r = linalg.add ins(%u, %v : tensor<?xf16>, tensor<?xf16>) outs(%e : tensor<?xf16>) -> tensor<?xf16>
  return %r : tensor<?xf16>

// ----- starts-from-first
// reject numeric: signed zero
// why: starts from -0, the neutral element: rows of -0 alone, and empty ones, give -0
// witness: {"sizes": {"M": 1, "N": 2}, "values": {"0": [[-0.0, -0.0]]}}
  %nz = arith.constant -0.0 : f16
  %g = linalg.fill ins(%nz : f16) outs(%e : tensor<?xf16>) -> tensor<?xf16>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf16>) outs(%g : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %s = arith.addf %o, %p : f16
    linalg.yield %s : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>

// ----- zeros-left-out
// reject numeric: signed zero
// why: elements that are 0 are left out, and the sum starts from the first column
// witness: {"sizes": {"M": 1, "N": 2}, "values": {"0": [[-0.0, -0.0]]}}
  %some = arith.cmpi ne, %n, %c0 : index
  %r = scf.if %some -> (tensor<?xf16>) {
    %x0 = tensor.extract_slice %x[0, 0] [%m, 1] [1, 1] : tensor<?x?xf16> to tensor<?xf16>
    %nm = arith.subi %n, %c1 : index
    %x1 = tensor.extract_slice %x[0, 1] [%m, %nm] [1, 1] : tensor<?x?xf16> to tensor<?x?xf16>
    %rr = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x1 : tensor<?x?xf16>) outs(%x0 : tensor<?xf16>) {
    ^bb0(%p: f16, %o: f16):
      %s = arith.addf %o, %p : f16
      %is = arith.cmpf oeq, %p, %z : f16
      %t = arith.select %is, %o, %s : f16
      linalg.yield %t : f16
    } -> tensor<?xf16>
    scf.yield %rr : tensor<?xf16>
  } else {
    scf.yield %f : tensor<?xf16>
  }
  return %r : tensor<?xf16>

// ----- ok-linalg-reduce
// accept: named op
// why: linalg.reduce along the second dimension
  %r = linalg.reduce ins(%x : tensor<?x?xf16>) outs(%f : tensor<?xf16>) dimensions = [1]
    (%p: f16, %o: f16) {
      %s = arith.addf %p, %o : f16
      linalg.yield %s : f16
    }
  return %r : tensor<?xf16>

// ----- reduce-backwards
// reject numeric: reassociation
// why: columns are taken from behind
  %q = scf.for %j = %c0 to %n step %c1 iter_args(%a = %f) -> (tensor<?xf16>) {
    %k0 = arith.subi %n, %j : index
    %k = arith.subi %k0, %c1 : index
    %xs = tensor.extract_slice %x[0, %k] [%m, 1] [1, 1] : tensor<?x?xf16> to tensor<?xf16>
    %b = linalg.add ins(%a, %xs : tensor<?xf16>, tensor<?xf16>) outs(%a : tensor<?xf16>) -> tensor<?xf16>
    scf.yield %b : tensor<?xf16>
  }
  return %q : tensor<?xf16>
