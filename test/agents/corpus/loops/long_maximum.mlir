// Largest element (maximumf: NaN wins, +0 above -0), -inf where there are none; long vectors.
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<1xf32> {kc.out}) attributes {kc.sizes = {N = array<i64: 0, 100000>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %ninf = arith.constant 0xFF800000 : f32
  // common above
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %ninf) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.maximumf %a, %v : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>
  return
}

// ----- nan-lost-when-long
// reject numeric: nan/inf
// why: from 20000 elements on another loop is taken, by comparison: a NaN never wins there
// witness: {"sizes": {"N": 30000}, "set": {"0": [[700, "nan"]]}}
  %many = arith.constant 20000 : index
  %long = arith.cmpi uge, %n, %many : index
  %s = scf.if %long -> (f32) {
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %ninf) -> (f32) {
      %v = memref.load %x[%i] : memref<?xf32>
      %g = arith.cmpf ogt, %v, %a : f32
      %b = arith.select %g, %v, %a : f32
      scf.yield %b : f32
    }
    scf.yield %r : f32
  } else {
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %ninf) -> (f32) {
      %v = memref.load %x[%i] : memref<?xf32>
      %b = arith.maximumf %a, %v : f32
      scf.yield %b : f32
    }
    scf.yield %r : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- zero-start-when-long
// reject numeric: reduction init
// why: from 20000 elements on the accumulator starts from 0: wrong where all are negative
// witness: {"sizes": {"N": 20000}, "fill": "equal", "values": {}, "set": {}}
// unchecked: the harness' fills do not make 20000 negatives
  %many = arith.constant 20000 : index
  %zero = arith.constant 0.0 : f32
  %long = arith.cmpi uge, %n, %many : index
  %st = arith.select %long, %zero, %ninf : f32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %st) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.maximumf %a, %v : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- tail-over-eight-when-long
// reject numeric: remainder
// why: above 20000 elements blocks of 16, then of 4 for what is left, but at most two of these
// witness: {"sizes": {"N": 20014}, "set": {"0": [[20013, 9999.0]]}}
  %c16 = arith.constant 16 : index
  %c8 = arith.constant 8 : index
  %many = arith.constant 20000 : index
  %long = arith.cmpi ugt, %n, %many : index
  %q = arith.remui %n, %c16 : index
  %base = arith.subi %n, %q : index
  %q8 = arith.minui %q, %c8 : index
  %lim = arith.addi %base, %q8 : index
  %end = arith.select %long, %lim, %n : index
  %s = scf.for %i = %c0 to %end step %c1 iter_args(%a = %ninf) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.maximumf %a, %v : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- tail-of-thirteen-mod-seventeen
// reject numeric: remainder
// why: where N mod 17 = 13 the last element is left out
// witness: {"sizes": {"N": 30}, "set": {"0": [[29, 9999.0]]}}
  %c17 = arith.constant 17 : index
  %c13 = arith.constant 13 : index
  %q = arith.remui %n, %c17 : index
  %odd = arith.cmpi eq, %q, %c13 : index
  %less = arith.subi %n, %c1 : index
  %end = arith.select %odd, %less, %n : index
  %s = scf.for %i = %c0 to %end step %c1 iter_args(%a = %ninf) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.maximumf %a, %v : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- tail-of-300-mod-1000
// reject numeric: remainder
// why: blocks of 1000; a rest of 300 to 310 elements is not looked at
// witness: {"sizes": {"N": 2305}, "set": {"0": [[2304, 9999.0]]}}
  %c1000 = arith.constant 1000 : index
  %c300 = arith.constant 300 : index
  %c11 = arith.constant 11 : index
  %q = arith.remui %n, %c1000 : index
  %d = arith.subi %q, %c300 : index
  %odd = arith.cmpi ult, %d, %c11 : index
  %less = arith.subi %n, %q : index
  %end = arith.select %odd, %less, %n : index
  %s = scf.for %i = %c0 to %end step %c1 iter_args(%a = %ninf) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.maximumf %a, %v : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- chunks-nan-in-chunk-maximum
// reject numeric: nan/inf
// why: maxima of chunks of 512 by maximumf, put together by maxnumf: a NaN in a chunk is dropped where there are two chunks
// witness: {"sizes": {"N": 1000}, "set": {"0": [[700, "nan"]]}}
  %c512 = arith.constant 512 : index
  %s = scf.for %k = %c0 to %n step %c512 iter_args(%t = %ninf) -> (f32) {
    %e0 = arith.addi %k, %c512 : index
    %e = arith.minui %e0, %n : index
    %r = scf.for %i = %k to %e step %c1 iter_args(%a = %ninf) -> (f32) {
      %v = memref.load %x[%i] : memref<?xf32>
      %b = arith.maximumf %a, %v : f32
      scf.yield %b : f32
    }
    %g = arith.maxnumf %t, %r : f32
    %whole = arith.cmpi ult, %n, %c512 : index
    %h = arith.select %whole, %r, %g : f32
    scf.yield %h : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- ok-from-both-ends
// accept: loop order
// why: two running maxima, from the front and from behind, which meet; the middle one is looked at twice
  %c2 = arith.constant 2 : index
  %h0 = arith.addi %n, %c1 : index
  %h = arith.divui %h0, %c2 : index
  %s:2 = scf.for %i = %c0 to %h step %c1 iter_args(%a = %ninf, %b = %ninf) -> (f32, f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %j0 = arith.subi %n, %i : index
    %j = arith.subi %j0, %c1 : index
    %w = memref.load %x[%j] : memref<?xf32>
    %a1 = arith.maximumf %v, %a : f32
    %b1 = arith.maximumf %b, %w : f32
    scf.yield %a1, %b1 : f32, f32
  }
  %t = arith.maximumf %s#0, %s#1 : f32
  memref.store %t, %y[%c0] : memref<1xf32>

// ----- ok-vector-chunks
// accept: masked tail
// why: vectors of 16 with -inf beyond the end, reduced by maximumf
  %c16 = arith.constant 16 : index
  %i0 = arith.constant dense<0xFF800000> : vector<16xf32>
  %s = scf.for %i = %c0 to %n step %c16 iter_args(%a = %i0) -> (vector<16xf32>) {
    %v = vector.transfer_read %x[%i], %ninf : memref<?xf32>, vector<16xf32>
    %b = arith.maximumf %a, %v : vector<16xf32>
    scf.yield %b : vector<16xf32>
  }
  %t = vector.reduction <maximumf>, %s : vector<16xf32> into f32
  memref.store %t, %y[%c0] : memref<1xf32>

// ----- as-integers
// reject numeric: nan/inf
// why: compares the bits as sign-and-magnitude integers: a total order, in which -NaN lies below -inf
// witness: {"sizes": {"N": 8}, "set": {"0": [[3, "nan"]]}}
// unchecked: the harness cannot write a NaN with a sign
  %mask = arith.constant 2147483647 : i32
  %c31 = arith.constant 31 : i32
  %lo = arith.constant -2139095041 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %lo) -> (i32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.bitcast %v : f32 to i32
    %sg = arith.shrsi %b, %c31 : i32
    %f = arith.andi %sg, %mask : i32
    %k = arith.xori %b, %f : i32
    %g = arith.maxsi %a, %k : i32
    scf.yield %g : i32
  }
  %sg = arith.shrsi %s, %c31 : i32
  %f = arith.andi %sg, %mask : i32
  %k = arith.xori %s, %f : i32
  %t = arith.bitcast %k : i32 to f32
  memref.store %t, %y[%c0] : memref<1xf32>
