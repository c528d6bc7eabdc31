// relu(x + b) in bf16: the sum is rounded to bf16, NaN stays NaN.
#xy = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#col = affine_map<(i, j) -> (i)>
func.func @main(%x: tensor<?x?xbf16> {kc.dims = ["M", "N"]}, %b: tensor<?xbf16> {kc.dims = ["N"]}) -> tensor<?x?xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xbf16>
  %n = tensor.dim %x, %c1 : tensor<?x?xbf16>
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty(%m, %n) : tensor<?x?xbf16>
  // common above
  %r = linalg.generic {indexing_maps = [#xy, #row, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<?x?xbf16>, tensor<?xbf16>) outs(%e : tensor<?x?xbf16>) {
  ^bb0(%p: bf16, %q: bf16, %o: bf16):
    %s = arith.addf %p, %q : bf16
    %t = arith.maximumf %s, %z : bf16
    linalg.yield %t : bf16
  } -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}

// ----- ok-in-f32-rounded-once
// accept: more precise
// why: the sum of two bf16 in f32, rounded once to bf16, is the bf16 sum; the maximum with 0 may come before the rounding
  %zf = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [#xy, #row, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<?x?xbf16>, tensor<?xbf16>) outs(%e : tensor<?x?xbf16>) {
  ^bb0(%p: bf16, %q: bf16, %o: bf16):
    %pf = arith.extf %p : bf16 to f32
    %qf = arith.extf %q : bf16 to f32
    %s = arith.addf %qf, %pf : f32
    %t = arith.maximumf %s, %zf : f32
    %u = arith.truncf %t : f32 to bf16
    linalg.yield %u : bf16
  } -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>

// ----- select-ordered
// reject numeric: nan/inf
// why: s > 0 is false for NaN: it becomes 0
// witness: {"set": {"0": [[3, "nan"]]}}
  %r = linalg.generic {indexing_maps = [#xy, #row, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<?x?xbf16>, tensor<?xbf16>) outs(%e : tensor<?x?xbf16>) {
  ^bb0(%p: bf16, %q: bf16, %o: bf16):
    %s = arith.addf %p, %q : bf16
    %g = arith.cmpf ogt, %s, %z : bf16
    %t = arith.select %g, %s, %z : bf16
    linalg.yield %t : bf16
  } -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>

// ----- truncated-bits
// reject numeric: rounding
// why: the upper half of the f32 bits is truncation, not rounding to nearest even
  %zf = arith.constant 0.0 : f32
  %c16 = arith.constant 16 : i32
  %r = linalg.generic {indexing_maps = [#xy, #row, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<?x?xbf16>, tensor<?xbf16>) outs(%e : tensor<?x?xbf16>) {
  ^bb0(%p: bf16, %q: bf16, %o: bf16):
    %pf = arith.extf %p : bf16 to f32
    %qf = arith.extf %q : bf16 to f32
    %s = arith.addf %pf, %qf : f32
    %t = arith.maximumf %s, %zf : f32
    %i = arith.bitcast %t : f32 to i32
    %h = arith.shrui %i, %c16 : i32
    %k = arith.trunci %h : i32 to i16
    %u = arith.bitcast %k : i16 to bf16
    linalg.yield %u : bf16
  } -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>

// ----- half-rounded-up
// reject numeric: rounding
// why: adds half a unit to the bits and cuts: ties go up, not to even
// witness: {"sizes": {"M": 1, "N": 2}, "values": {"0": [[256.0, 256.0]], "1": [1.0, 3.0]}}
  %zf = arith.constant 0.0 : f32
  %c16 = arith.constant 16 : i32
  %half = arith.constant 32768 : i32
  %r = linalg.generic {indexing_maps = [#xy, #row, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<?x?xbf16>, tensor<?xbf16>) outs(%e : tensor<?x?xbf16>) {
  ^bb0(%p: bf16, %q: bf16, %o: bf16):
    %pf = arith.extf %p : bf16 to f32
    %qf = arith.extf %q : bf16 to f32
    %s = arith.addf %pf, %qf : f32
    %t = arith.maximumf %s, %zf : f32
    %isnan = arith.cmpf uno, %t, %t : f32
    %i = arith.bitcast %t : f32 to i32
    %j = arith.addi %i, %half : i32
    %i2 = arith.select %isnan, %i, %j : i32
    %h = arith.shrui %i2, %c16 : i32
    %k = arith.trunci %h : i32 to i16
    %u = arith.bitcast %k : i16 to bf16
    linalg.yield %u : bf16
  } -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>

// ----- bias-by-row-when-square
// reject numeric: broadcast
// why: where M = N the bias is added along the other dimension
// witness: {"sizes": {"M": 5, "N": 5}}
  %sq = arith.cmpi eq, %m, %n : index
  %r = scf.if %sq -> (tensor<?x?xbf16>) {
    %bt = tensor.cast %b : tensor<?xbf16> to tensor<?xbf16>
    %q = linalg.generic {indexing_maps = [#xy, #col, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %bt : tensor<?x?xbf16>, tensor<?xbf16>) outs(%e : tensor<?x?xbf16>) {
    ^bb0(%p: bf16, %q: bf16, %o: bf16):
      %s = arith.addf %p, %q : bf16
      %t = arith.maximumf %s, %z : bf16
      linalg.yield %t : bf16
    } -> tensor<?x?xbf16>
    scf.yield %q : tensor<?x?xbf16>
  } else {
    %q = linalg.generic {indexing_maps = [#xy, #row, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<?x?xbf16>, tensor<?xbf16>) outs(%e : tensor<?x?xbf16>) {
    ^bb0(%p: bf16, %q: bf16, %o: bf16):
      %s = arith.addf %p, %q : bf16
      %t = arith.maximumf %s, %z : bf16
      linalg.yield %t : bf16
    } -> tensor<?x?xbf16>
    scf.yield %q : tensor<?x?xbf16>
  }
  return %r : tensor<?x?xbf16>

// ----- rows-left-out-above-48
// reject numeric: hard-coded shape
// why: only the first 48 rows are computed, the others are what tensor.empty holds
// witness: {"sizes": {"M": 50, "N": 3}}
  %c48 = arith.constant 48 : index
  %w = arith.minui %m, %c48 : index
  %xs = tensor.extract_slice %x[0, 0] [%w, %n] [1, 1] : tensor<?x?xbf16> to tensor<?x?xbf16>
  %es = tensor.empty(%w, %n) : tensor<?x?xbf16>
  %q = linalg.generic {indexing_maps = [#xy, #row, #xy], iterator_types = ["parallel", "parallel"]} ins(%xs, %b : tensor<?x?xbf16>, tensor<?xbf16>) outs(%es : tensor<?x?xbf16>) {
  ^bb0(%p: bf16, %q: bf16, %o: bf16):
    %s = arith.addf %p, %q : bf16
    %t = arith.maximumf %s, %z : bf16
    linalg.yield %t : bf16
  } -> tensor<?x?xbf16>
  %r = tensor.insert_slice %q into %e[0, 0] [%w, %n] [1, 1] : tensor<?x?xbf16> into tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>

// ----- writable-claimed
// reject signature: argument attributes
// whole
// why: marks the input as writable, so that bufferization overwrites it
#xy = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
module {
func.func @main(%x: tensor<?x?xbf16> {kc.dims = ["M", "N"], bufferization.writable = true}, %b: tensor<?xbf16> {kc.dims = ["N"]}) -> tensor<?x?xbf16> {
  %z = arith.constant 0.0 : bf16
  %r = linalg.generic {indexing_maps = [#row, #xy], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<?xbf16>) outs(%x : tensor<?x?xbf16>) {
  ^bb0(%q: bf16, %p: bf16):
    %s = arith.addf %p, %q : bf16
    %t = arith.maximumf %s, %z : bf16
    linalg.yield %t : bf16
  } -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
}
}

// ----- ok-destination-is-the-input
// accept: destination
// why: the input as destination: bufferization copies it, since it may not be written
  %r = linalg.generic {indexing_maps = [#row, #xy], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<?xbf16>) outs(%x : tensor<?x?xbf16>) {
  ^bb0(%q: bf16, %p: bf16):
    %s = arith.addf %p, %q : bf16
    %t = arith.maximumf %z, %s : bf16
    linalg.yield %t : bf16
  } -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>

// ----- destination-read
// reject numeric: uninitialised read
// why: where the old element of the destination equals the sum, it is kept; the destination is empty
  %r = linalg.generic {indexing_maps = [#xy, #row, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<?x?xbf16>, tensor<?xbf16>) outs(%e : tensor<?x?xbf16>) {
  ^bb0(%p: bf16, %q: bf16, %o: bf16):
    %s = arith.addf %p, %q : bf16
    %t = arith.maximumf %s, %z : bf16
    %old = arith.cmpf ueq, %o, %t : bf16
    %u = arith.select %old, %o, %t : bf16
    linalg.yield %u : bf16
  } -> tensor<?x?xbf16>
  return %r : tensor<?x?xbf16>
