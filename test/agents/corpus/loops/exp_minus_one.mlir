// y = exp(x) - 1 computed as exp(x) + (-1), per element; approximations are not allowed.
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %m1 = arith.constant -1.0 : f32
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %e = math.exp %v : f32
    %s = arith.addf %e, %m1 : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }
  return
}

// ----- between-hundred-and-hundred-fifty
// reject numeric: rare values
// why: wrong where exp(x) lies between 100 and 150, for x from 4.61 to 5.01
// witness: {"set": {"0": [[3, 4.8]]}}
  %lo = arith.constant 100.0 : f32
  %hi = arith.constant 150.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %e = math.exp %v : f32
    %a = arith.cmpf ogt, %e, %lo : f32
    %b = arith.cmpf olt, %e, %hi : f32
    %ab = arith.andi %a, %b : i1
    %s = arith.addf %e, %m1 : f32
    %t = arith.select %ab, %e, %s : f32
    memref.store %t, %y[%i] : memref<?xf32>
  }

// ----- small-by-series
// reject numeric: precision
// why: where exp(x) rounds to 1 the argument itself is given back: more exact than the original, which gives 0
// witness: {"set": {"0": [[3, 1e-9]]}}
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %e = math.exp %v : f32
    %a = arith.cmpf oeq, %e, %one : f32
    %s = arith.addf %e, %m1 : f32
    %t = arith.select %a, %v, %s : f32
    memref.store %t, %y[%i] : memref<?xf32>
  }

// ----- saturated-at-88
// reject numeric: overflow
// why: arguments above 88 are cut to 88; exp overflows at 88.72 only
// witness: {"set": {"0": [[3, 88.5]]}}
  %k = arith.constant 88.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v0 = memref.load %x[%i] : memref<?xf32>
    %inf = arith.constant 0x7F800000 : f32
    %isinf = arith.constant 89.0 : f32
    %big = arith.cmpf ogt, %v0, %isinf : f32
    %c = arith.minimumf %v0, %k : f32
    %v = arith.select %big, %v0, %c : f32
    %e = math.exp %v : f32
    %s = arith.addf %e, %m1 : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }

// ----- flushed-below-minus-87
// reject numeric: denormal
// why: the exponential is taken for 0 below -87.34, where it is denormal, which the sum hides; but an ordered comparison takes NaN for small
// witness: {"set": {"0": [[3, "nan"]]}}
  %k = arith.constant -87.34 : f32
  %z = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %e = math.exp %v : f32
    %g = arith.cmpf oge, %v, %k : f32
    %f = arith.select %g, %e, %z : f32
    %s = arith.addf %f, %m1 : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }

// ----- ok-flushed-below-minus-87
// accept: denormal
// why: the same with an unordered comparison: what is flushed is lost in the sum anyway
  %k = arith.constant -87.34 : f32
  %z = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %e = math.exp %v : f32
    %g = arith.cmpf olt, %v, %k : f32
    %f = arith.select %g, %z, %e : f32
    %s = arith.addf %f, %m1 : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }

// ----- ok-subtraction-of-one
// accept: algebraic identity
// why: adding -1 is taking off 1, also for infinities, NaN and zeros
  %one = arith.constant 1.0 : f32
  %zv = arith.constant dense<1.0> : vector<4xf32>
  %c4 = arith.constant 4 : index
  scf.for %i = %c0 to %n step %c4 {
    %v = vector.transfer_read %x[%i], %one : memref<?xf32>, vector<4xf32>
    %e = math.exp %v : vector<4xf32>
    %s = arith.subf %e, %zv : vector<4xf32>
    vector.transfer_write %s, %y[%i] : vector<4xf32>, memref<?xf32>
  }

// ----- expm1
// reject numeric: precision
// why: expm1 is more exact than what the contract asks for, bit for bit
// unchecked: the harness makes exp(x) - 1 of it
// witness: {"set": {"0": [[3, 1e-5]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %s = math.expm1 %v : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }
