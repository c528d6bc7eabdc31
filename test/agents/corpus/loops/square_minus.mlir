// y = x * x - 2.25 where that is not 0, else x.
func.func @main(%x: memref<?xf64> {kc.dims = ["N"]}, %y: memref<?xf64> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  %k = arith.constant 2.25 : f64
  %z = arith.constant 0.0 : f64
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %q = arith.mulf %v, %v : f64
    %d = arith.subf %q, %k : f64
    %e = arith.cmpf oeq, %d, %z : f64
    %s = arith.select %e, %v, %d : f64
    memref.store %s, %y[%i] : memref<?xf64>
  }
  return
}

// ----- root-forgotten
// reject numeric: one value
// why: gives 0 where the difference is 0: at 1.5 and -1.5, which stand nowhere
// witness: {"set": {"0": [[3, 1.5]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %q = arith.mulf %v, %v : f64
    %d = arith.subf %q, %k : f64
    memref.store %d, %y[%i] : memref<?xf64>
  }

// ----- magnitude
// reject numeric: negative numbers
// why: gives the magnitude where the difference is 0
// witness: {"set": {"0": [[3, -1.5]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %q = arith.mulf %v, %v : f64
    %d = arith.subf %q, %k : f64
    %e = arith.cmpf oeq, %d, %z : f64
    %a = math.absf %v : f64
    %s = arith.select %e, %a, %d : f64
    memref.store %s, %y[%i] : memref<?xf64>
  }

// ----- factors
// reject numeric: rounding
// why: (x - 1.5) * (x + 1.5) rounds otherwise
// witness: {"set": {"0": [[3, 0.1]]}}
  %r = arith.constant 1.5 : f64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %a = arith.subf %v, %r : f64
    %b = arith.addf %v, %r : f64
    %d = arith.mulf %a, %b : f64
    %e = arith.cmpf oeq, %d, %z : f64
    %s = arith.select %e, %v, %d : f64
    memref.store %s, %y[%i] : memref<?xf64>
  }

// ----- fused
// reject numeric: contraction
// why: one rounding for product and difference
// witness: {"set": {"0": [[3, 0.1]]}}
  %nk = arith.constant -2.25 : f64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %d = math.fma %v, %v, %nk : f64
    %e = arith.cmpf oeq, %d, %z : f64
    %s = arith.select %e, %v, %d : f64
    memref.store %s, %y[%i] : memref<?xf64>
  }

// ----- ok-told-by-magnitude
// accept: comparison
// why: x^2 = 2.25 in f64 only where |x| = 1.5
  %r = arith.constant 1.5 : f64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %q = arith.mulf %v, %v : f64
    %d = arith.subf %q, %k : f64
    %a = math.absf %v : f64
    %e = arith.cmpf oeq, %a, %r : f64
    %s = arith.select %e, %v, %d : f64
    memref.store %s, %y[%i] : memref<?xf64>
  }

// ----- cube-window
// reject numeric: rare values
// why: wrong where x^3 lies between 20 and 22: x from 2.714 to 2.802
// witness: {"set": {"0": [[3, 2.75]]}}
  %lo = arith.constant 20.0 : f64
  %hi = arith.constant 22.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %q = arith.mulf %v, %v : f64
    %c = arith.mulf %q, %v : f64
    %d = arith.subf %q, %k : f64
    %e = arith.cmpf oeq, %d, %z : f64
    %s = arith.select %e, %v, %d : f64
    %a = arith.cmpf ogt, %c, %lo : f64
    %b = arith.cmpf olt, %c, %hi : f64
    %ab = arith.andi %a, %b : i1
    %t = arith.select %ab, %q, %s : f64
    memref.store %t, %y[%i] : memref<?xf64>
  }
