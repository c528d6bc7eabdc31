// Maximum of each row of f16; -inf for empty rows, NaN wins.
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?x?xf16> {kc.dims = ["M", "N"]}) -> tensor<?xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf16>
  %n = tensor.dim %x, %c1 : tensor<?x?xf16>
  %e = tensor.empty(%m) : tensor<?xf16>
  %ninf = arith.constant 0xFC00 : f16
  // common above
  %f = linalg.fill ins(%ninf : f16) outs(%e : tensor<?xf16>) -> tensor<?xf16>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf16>) outs(%f : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %t = arith.maximumf %o, %p : f16
    linalg.yield %t : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>
}

// ----- from-lowest
// reject numeric: reduction init
// why: starts from -65504, the lowest finite number: wrong for rows of -inf and for empty ones
// witness: {"sizes": {"M": 3, "N": 0}}
  %low = arith.constant -65504.0 : f16
  %f = linalg.fill ins(%low : f16) outs(%e : tensor<?xf16>) -> tensor<?xf16>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf16>) outs(%f : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %t = arith.maximumf %o, %p : f16
    linalg.yield %t : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>

// ----- from-zero
// reject numeric: reduction init
// why: starts from 0: wrong where all elements are negative
// witness: {"sizes": {"M": 1, "N": 3}, "values": {"0": [[-1.0, -2.0, -3.0]]}}
  %low = arith.constant 0.0 : f16
  %f = linalg.fill ins(%low : f16) outs(%e : tensor<?xf16>) -> tensor<?xf16>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf16>) outs(%f : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %t = arith.maximumf %o, %p : f16
    linalg.yield %t : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>

// ----- compare-and-select
// reject numeric: nan/inf
// why: ugt keeps a NaN only while it is the last: the next element replaces it, for NaN > p is unordered too
// witness: {"sizes": {"M": 1, "N": 4}, "values": {"0": [[1.0, "nan", 2.0, 3.0]]}}
  %f = linalg.fill ins(%ninf : f16) outs(%e : tensor<?xf16>) -> tensor<?xf16>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf16>) outs(%f : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %g = arith.cmpf ugt, %p, %o : f16
    %t = arith.select %g, %p, %o : f16
    linalg.yield %t : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>

// ----- signed-zeros-by-select
// reject numeric: signed zero
// why: p > o is false for +0 > -0: the -0 that came first stays
// witness: {"sizes": {"M": 1, "N": 2}, "values": {"0": [[-0.0, 0.0]]}}
  %f = linalg.fill ins(%ninf : f16) outs(%e : tensor<?xf16>) -> tensor<?xf16>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf16>) outs(%f : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %g = arith.cmpf ogt, %p, %o : f16
    %pn = arith.cmpf uno, %p, %p : f16
    %h = arith.ori %g, %pn : i1
    %t = arith.select %h, %p, %o : f16
    linalg.yield %t : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>

// ----- ok-halves
// accept: reassociation
// why: a maximum may be taken in any order, without a grant
  %c2 = arith.constant 2 : index
  %h = arith.divui %n, %c2 : index
  %g = arith.subi %n, %h : index
  %x0 = tensor.extract_slice %x[0, 0] [%m, %h] [1, 1] : tensor<?x?xf16> to tensor<?x?xf16>
  %x1 = tensor.extract_slice %x[0, %h] [%m, %g] [1, 1] : tensor<?x?xf16> to tensor<?x?xf16>
  %f = linalg.fill ins(%ninf : f16) outs(%e : tensor<?xf16>) -> tensor<?xf16>
  %u = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x1 : tensor<?x?xf16>) outs(%f : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %t = arith.maximumf %p, %o : f16
    linalg.yield %t : f16
  } -> tensor<?xf16>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x0 : tensor<?x?xf16>) outs(%u : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %t = arith.maximumf %p, %o : f16
    linalg.yield %t : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>

// ----- padded-to-eights-with-zero
// reject numeric: padding
// why: rows are padded to a multiple of 8 with zeros
// witness: {"sizes": {"M": 1, "N": 3}, "values": {"0": [[-1.0, -2.0, -3.0]]}}
  %c8 = arith.constant 8 : index
  %q = arith.ceildivui %n, %c8 : index
  %w = arith.muli %q, %c8 : index
  %hi = arith.subi %w, %n : index
  %zero = arith.constant 0.0 : f16
  %xp = tensor.pad %x low[0, 0] high[0, %hi] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f16
  } : tensor<?x?xf16> to tensor<?x?xf16>
  %f = linalg.fill ins(%ninf : f16) outs(%e : tensor<?xf16>) -> tensor<?xf16>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%xp : tensor<?x?xf16>) outs(%f : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %t = arith.maximumf %o, %p : f16
    linalg.yield %t : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>

// ----- ok-padded-with-minus-inf
// accept: padding
// why: the same padding with -inf
  %c8 = arith.constant 8 : index
  %q = arith.ceildivui %n, %c8 : index
  %w = arith.muli %q, %c8 : index
  %hi = arith.subi %w, %n : index
  %xp = tensor.pad %x low[0, 0] high[0, %hi] {
  ^bb0(%i: index, %j: index):
    tensor.yield %ninf : f16
  } : tensor<?x?xf16> to tensor<?x?xf16>
  %f = linalg.fill ins(%ninf : f16) outs(%e : tensor<?xf16>) -> tensor<?xf16>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%xp : tensor<?x?xf16>) outs(%f : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %t = arith.maximumf %o, %p : f16
    linalg.yield %t : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>

// ----- stops-at-plus-inf
// reject numeric: early exit
// why: nothing is greater than +inf, so the rest is not looked at; but NaN wins
// witness: {"sizes": {"M": 1, "N": 4}, "values": {"0": [[1.0, "inf", "nan", 2.0]]}}
  %inf = arith.constant 0x7C00 : f16
  %f = linalg.fill ins(%ninf : f16) outs(%e : tensor<?xf16>) -> tensor<?xf16>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf16>) outs(%f : tensor<?xf16>) {
  ^bb0(%p: f16, %o: f16):
    %done = arith.cmpf oeq, %o, %inf : f16
    %t = arith.maximumf %o, %p : f16
    %u = arith.select %done, %o, %t : f16
    linalg.yield %u : f16
  } -> tensor<?xf16>
  return %r : tensor<?xf16>
