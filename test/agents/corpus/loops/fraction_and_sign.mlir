// y = x - floor(x) and w = the sign of x as -1, 0 or 1 (0 for zeros of either sign, NaN for NaN).
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"], kc.out}, %w: memref<?xf32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %m1 = arith.constant -1.0 : f32
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %f = math.floor %v : f32
    %d = arith.subf %v, %f : f32
    memref.store %d, %y[%i] : memref<?xf32>
    %p = arith.cmpf ogt, %v, %z : f32
    %q = arith.cmpf olt, %v, %z : f32
    %u = arith.cmpf uno, %v, %v : f32
    %a = arith.select %p, %one, %z : f32
    %b = arith.select %q, %m1, %a : f32
    %c = arith.select %u, %v, %b : f32
    memref.store %c, %w[%i] : memref<?xf32>
  }
  return
}

// ----- floor-through-i32
// reject numeric: overflow
// why: the floor by conversion to 32 bits: numbers beyond 2^31 and infinities
// witness: {"set": {"0": [[1, 3e9]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %k = arith.fptosi %v : f32 to i32
    %g = arith.sitofp %k : i32 to f32
    %gt = arith.cmpf ogt, %g, %v : f32
    %g1 = arith.subf %g, %one : f32
    %f = arith.select %gt, %g1, %g : f32
    %d = arith.subf %v, %f : f32
    memref.store %d, %y[%i] : memref<?xf32>
    %p = arith.cmpf ogt, %v, %z : f32
    %q = arith.cmpf olt, %v, %z : f32
    %u = arith.cmpf uno, %v, %v : f32
    %a = arith.select %p, %one, %z : f32
    %b = arith.select %q, %m1, %a : f32
    %c = arith.select %u, %v, %b : f32
    memref.store %c, %w[%i] : memref<?xf32>
  }

// ----- remainder-by-one
// reject numeric: negative numbers
// why: remf by 1, plus 1 for negative ones: 1 instead of 0 for negative whole numbers
// witness: {"set": {"0": [[1, -3.0]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %r = arith.remf %v, %one : f32
    %lt = arith.cmpf olt, %v, %z : f32
    %r1 = arith.addf %r, %one : f32
    %d = arith.select %lt, %r1, %r : f32
    memref.store %d, %y[%i] : memref<?xf32>
    %p = arith.cmpf ogt, %v, %z : f32
    %q = arith.cmpf olt, %v, %z : f32
    %u = arith.cmpf uno, %v, %v : f32
    %a = arith.select %p, %one, %z : f32
    %b = arith.select %q, %m1, %a : f32
    %c = arith.select %u, %v, %b : f32
    memref.store %c, %w[%i] : memref<?xf32>
  }

// ----- remainder-careful
// reject numeric: rounding
// why: remf by 1, plus 1 where that is negative: -2^-30 gives 1 in both; but x - floor(x) of -0 is +0, not -0
// witness: {"set": {"0": [[1, -0.0]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %r = arith.remf %v, %one : f32
    %lt = arith.cmpf olt, %r, %z : f32
    %r1 = arith.addf %r, %one : f32
    %d = arith.select %lt, %r1, %r : f32
    memref.store %d, %y[%i] : memref<?xf32>
    %p = arith.cmpf ogt, %v, %z : f32
    %q = arith.cmpf olt, %v, %z : f32
    %u = arith.cmpf uno, %v, %v : f32
    %a = arith.select %p, %one, %z : f32
    %b = arith.select %q, %m1, %a : f32
    %c = arith.select %u, %v, %b : f32
    memref.store %c, %w[%i] : memref<?xf32>
  }

// ----- capped-below-one
// reject numeric: rounding
// why: the fraction is capped at the largest number below 1, as GPU libraries do: the original gives 1 for tiny negatives
// witness: {"set": {"0": [[1, -1e-10]]}}
  %cap = arith.constant 0.99999994 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %f = math.floor %v : f32
    %d0 = arith.subf %v, %f : f32
    %d = arith.minimumf %d0, %cap : f32
    memref.store %d, %y[%i] : memref<?xf32>
    %p = arith.cmpf ogt, %v, %z : f32
    %q = arith.cmpf olt, %v, %z : f32
    %u = arith.cmpf uno, %v, %v : f32
    %a = arith.select %p, %one, %z : f32
    %b = arith.select %q, %m1, %a : f32
    %c = arith.select %u, %v, %b : f32
    memref.store %c, %w[%i] : memref<?xf32>
  }

// ----- sign-by-copysign
// reject numeric: signed zero
// why: copysign(1, x) where x is not 0, else x itself: -0 stays -0
// witness: {"set": {"0": [[1, -0.0]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %f = math.floor %v : f32
    %d = arith.subf %v, %f : f32
    memref.store %d, %y[%i] : memref<?xf32>
    %s = math.copysign %one, %v : f32
    %a = arith.cmpf one, %v, %z : f32
    %c = arith.select %a, %s, %v : f32
    memref.store %c, %w[%i] : memref<?xf32>
  }

// ----- ok-sign-by-copysign
// accept: algebraic identity
// why: copysign(1, x) where x is not 0 and a number; x + 0 else, which is +0 for -0 and NaN for NaN; the fraction by ceil of -x
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %nv = arith.negf %v : f32
    %g = math.ceil %nv : f32
    %d = arith.addf %v, %g : f32
    memref.store %d, %y[%i] : memref<?xf32>
    %s = math.copysign %one, %v : f32
    %a = arith.cmpf one, %v, %z : f32
    %e = arith.addf %v, %z : f32
    %c = arith.select %a, %s, %e : f32
    memref.store %c, %w[%i] : memref<?xf32>
  }

// ----- sign-by-clamp
// reject numeric: rare values
// why: clamps x * 1e30 to -1..1: denormals stay below
// witness: {"set": {"0": [[1, 1e-38]]}}
  %big = arith.constant 1.0e30 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %f = math.floor %v : f32
    %d = arith.subf %v, %f : f32
    memref.store %d, %y[%i] : memref<?xf32>
    %s = arith.mulf %v, %big : f32
    %a = arith.minimumf %s, %one : f32
    %b = arith.maximumf %a, %m1 : f32
    %c = arith.addf %b, %z : f32
    memref.store %c, %w[%i] : memref<?xf32>
  }

// ----- sign-by-quotient
// reject numeric: nan/inf
// why: x / |x| with 0 made 1: inf / inf is NaN
// witness: {"set": {"0": [[1, "inf"]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %f = math.floor %v : f32
    %d = arith.subf %v, %f : f32
    memref.store %d, %y[%i] : memref<?xf32>
    %a = math.absf %v : f32
    %eq = arith.cmpf oeq, %a, %z : f32
    %g = arith.select %eq, %one, %a : f32
    %s = arith.divf %v, %g : f32
    %c = arith.addf %s, %z : f32
    memref.store %c, %w[%i] : memref<?xf32>
  }
