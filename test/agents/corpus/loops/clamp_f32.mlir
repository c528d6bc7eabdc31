// y = min(max(x, -1), 1); NaN stays NaN.
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %lo = arith.constant -1.0 : f32
  %hi = arith.constant 1.0 : f32
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %a = arith.maximumf %v, %lo : f32
    %u = arith.minimumf %a, %hi : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  return
}

// ----- ordered-compares
// reject numeric: nan/inf
// why: ordered comparisons turn NaN into the lower bound
// witness: {"set": {"0": [[5, "nan"]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %g = arith.cmpf ogt, %v, %lo : f32
    %a = arith.select %g, %v, %lo : f32
    %l = arith.cmpf olt, %a, %hi : f32
    %u = arith.select %l, %a, %hi : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- ok-unordered-compares
// accept: comparison
// why: the comparisons keep x when it is NaN
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %g = arith.cmpf olt, %v, %lo : f32
    %a = arith.select %g, %lo, %v : f32
    %l = arith.cmpf ogt, %a, %hi : f32
    %u = arith.select %l, %hi, %a : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- maxnum
// reject numeric: nan/inf
// why: maxnumf drops NaN
// witness: {"set": {"0": [[0, "nan"]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %a = arith.maxnumf %v, %lo : f32
    %u = arith.minnumf %a, %hi : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- ok-order-changed
// accept: algebraic identity
// why: minimum first, then maximum: the same since -1 < 1
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %a = arith.minimumf %hi, %v : f32
    %u = arith.maximumf %lo, %a : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- odd-function
// reject numeric: nan/inf
// why: copysign(min(|x|, 1), x), but with a comparison that gives 1 for NaN
// witness: {"set": {"0": [[0, "nan"]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %a = math.absf %v : f32
    %l = arith.cmpf olt, %a, %hi : f32
    %m = arith.select %l, %a, %hi : f32
    %u = math.copysign %m, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- ok-odd-function
// accept: algebraic identity
// why: copysign(minimum(|x|, 1), x): NaN stays, -0 stays
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %a = math.absf %v : f32
    %m = arith.minimumf %a, %hi : f32
    %u = math.copysign %m, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- half-difference-of-abs
// reject numeric: nan/inf
// why: (|x + 1| - |x - 1|) / 2 is the clamp on paper; for inf it is inf - inf
// witness: {"set": {"0": [[0, "inf"]]}}
// tolerance: close 1e-4 1e-5
  %h = arith.constant 0.5 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %p = arith.addf %v, %hi : f32
    %q = arith.subf %v, %hi : f32
    %pa = math.absf %p : f32
    %qa = math.absf %q : f32
    %d = arith.subf %pa, %qa : f32
    %u = arith.mulf %d, %h : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- bits-as-integers
// reject numeric: negative numbers
// why: compares the bits as signed integers, which orders negative floats the wrong way round
  %lob = arith.bitcast %lo : f32 to i32
  %hib = arith.bitcast %hi : f32 to i32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.bitcast %v : f32 to i32
    %a = arith.maxsi %b, %lob : i32
    %m = arith.minsi %a, %hib : i32
    %u = arith.bitcast %m : i32 to f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
