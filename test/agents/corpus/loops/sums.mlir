// Sum of a float vector from the front; sums may be reassociated.
// tolerance: ref64 1e-6 1e-5 8
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<1xf32> {kc.out}) attributes {kc.allow = ["reassoc"], kc.sizes = {N = array<i64: 0, 3000>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %z = arith.constant 0.0 : f32
  // common above
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.addf %a, %v : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>
  return
}

// ----- ok-four-lanes
// accept: reassociation
// why: four partial sums over strided elements, added at the end
// assumes: reassoc
// specials: "no_huge"
  %p = memref.alloc() : memref<4xf32>
  scf.parallel (%w) = (%c0) to (%c4) step (%c1) {
    %s = scf.for %i = %w to %n step %c4 iter_args(%a = %z) -> (f32) {
      %v = memref.load %x[%i] : memref<?xf32>
      %b = arith.addf %a, %v : f32
      scf.yield %b : f32
    }
    memref.store %s, %p[%w] : memref<4xf32>
    scf.reduce
  }
  %s = scf.for %w = %c0 to %c4 step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %p[%w] : memref<4xf32>
    %b = arith.addf %a, %v : f32
    scf.yield %b : f32
  }
  memref.dealloc %p : memref<4xf32>
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- ok-in-f64
// accept: more precise
// why: summed in double precision and rounded once: other bits, never farther from the truth
// assumes: reassoc
// specials: "no_huge"
  %z64 = arith.constant 0.0 : f64
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z64) -> (f64) {
    %v = memref.load %x[%i] : memref<?xf32>
    %e = arith.extf %v : f32 to f64
    %b = arith.addf %a, %e : f64
    scf.yield %b : f64
  }
  %t = arith.truncf %s : f64 to f32
  memref.store %t, %y[%c0] : memref<1xf32>

// ----- ok-backwards
// accept: reassociation
// why: from the back
// assumes: reassoc
// specials: "no_huge"
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %j0 = arith.subi %n, %i : index
    %j = arith.subi %j0, %c1 : index
    %v = memref.load %x[%j] : memref<?xf32>
    %b = arith.addf %a, %v : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- lanes-lost-update
// reject determinism: race
// why: the four workers add their partial sums into one cell without an atomic
// assumes: reassoc
  memref.store %z, %y[%c0] : memref<1xf32>
  scf.parallel (%w) = (%c0) to (%c4) step (%c1) {
    %s = scf.for %i = %w to %n step %c4 iter_args(%a = %z) -> (f32) {
      %v = memref.load %x[%i] : memref<?xf32>
      %b = arith.addf %a, %v : f32
      scf.yield %b : f32
    }
    %o = memref.load %y[%c0] : memref<1xf32>
    %q = arith.addf %o, %s : f32
    memref.store %q, %y[%c0] : memref<1xf32>
    scf.reduce
  }
// schedule
  %s = scf.for %i = %c0 to %n step %c4 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.addf %a, %v : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- one-past-lanes
// reject numeric: remainder
// why: above 1000 elements the last one is left out where N mod 3 is 2
// assumes: reassoc
// witness: {"sizes": {"N": 1004}, "set": {"0": [[1003, 50.0]]}}
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %k = arith.constant 1000 : index
  %big = arith.cmpi ugt, %n, %k : index
  %r = arith.remui %n, %c3 : index
  %two = arith.cmpi eq, %r, %c2 : index
  %both = arith.andi %big, %two : i1
  %m1 = arith.subi %n, %c1 : index
  %m = arith.select %both, %m1, %n : index
  %s = scf.for %i = %c0 to %m step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.addf %a, %v : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- in-f16
// reject numeric: precision
// why: accumulated in half precision: reassociation does not cover that
// assumes: reassoc
// witness: {"sizes": {"N": 1000}}
  %zh = arith.constant 0.0 : f16
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zh) -> (f16) {
    %v = memref.load %x[%i] : memref<?xf32>
    %e = arith.truncf %v : f32 to f16
    %b = arith.addf %a, %e : f16
    scf.yield %b : f16
  }
  %t = arith.extf %s : f16 to f32
  memref.store %t, %y[%c0] : memref<1xf32>

// ----- skips-small-terms
// reject numeric: dropped terms
// why: terms below 1e-6 are taken for zero, also when all are that small
// assumes: reassoc
// witness: {"sizes": {"N": 4}, "values": {"0": [9e-7, 9e-7, 9e-7, 9e-7]}}
// tolerance: ref64 1e-6 0 8
  %eps = arith.constant 1.0e-6 : f32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %m = math.absf %v : f32
    %small = arith.cmpf olt, %m, %eps : f32
    %w = arith.select %small, %z, %v : f32
    %b = arith.addf %a, %w : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- nan-skipped
// reject numeric: nan/inf
// why: an element that is not equal to itself is skipped
// assumes: reassoc
// witness: {"set": {"0": [[7, "nan"]]}}
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %ok = arith.cmpf oeq, %v, %v : f32
    %w = arith.select %ok, %v, %z : f32
    %b = arith.addf %a, %w : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- fastmath-nnan
// reject assumption: false assumption
// why: the flags of the additions promise that no NaN or infinity occurs, and the contract grants reassociation only
// assumes: reassoc
// witness: {"set": {"0": [[7, "nan"]]}}
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.addf %a, %v fastmath<reassoc,nnan,ninf> : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>
// schedule
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %ok = arith.cmpf oeq, %v, %v : f32
    %w = arith.select %ok, %v, %z : f32
    %b = arith.addf %a, %w : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- fastmath-fast
// reject assumption: false assumption
// why: fastmath<fast> on the sum, of which only reassoc is granted
// assumes: reassoc
// witness: {"set": {"0": [[7, "nan"]]}}
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.addf %a, %v fastmath<fast> : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>
// schedule
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %ok = arith.cmpf oeq, %v, %v : f32
    %w = arith.select %ok, %v, %z : f32
    %b = arith.addf %a, %w : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- ok-fastmath-reassoc
// accept: granted assumption
// why: the flag says no more than the contract grants
// assumes: reassoc
// specials: "no_huge"
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.addf %v, %a fastmath<reassoc> : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- assumes-nnan
// reject assumption: false assumption
// why: claims nnan beside the granted reassoc
// assumes: reassoc; nnan
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.addf %a, %v : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- assumes-facts
// reject assumption: false assumption
// why: claims a fact about N that the contract does not have, and has no tail
// assumes: reassoc; N % 4 == 0
// witness: {"sizes": {"N": 7}}
  %zv = arith.constant dense<0.0> : vector<4xf32>
  %r = arith.remui %n, %c4 : index
  %m = arith.subi %n, %r : index
  %s = scf.for %i = %c0 to %m step %c4 iter_args(%a = %zv) -> (vector<4xf32>) {
    %v = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
    %b = arith.addf %a, %v : vector<4xf32>
    scf.yield %b : vector<4xf32>
  }
  %t = vector.reduction <add>, %s : vector<4xf32> into f32
  memref.store %t, %y[%c0] : memref<1xf32>

// ----- ok-vector-with-tail
// accept: reassociation
// why: a vector of partial sums, a horizontal addition, a scalar tail
// assumes: reassoc
// specials: "no_huge"
  %zv = arith.constant dense<0.0> : vector<4xf32>
  %r = arith.remui %n, %c4 : index
  %m = arith.subi %n, %r : index
  %s = scf.for %i = %c0 to %m step %c4 iter_args(%a = %zv) -> (vector<4xf32>) {
    %v = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
    %b = arith.addf %a, %v : vector<4xf32>
    scf.yield %b : vector<4xf32>
  }
  %t = vector.reduction <add>, %s : vector<4xf32> into f32
  %u = scf.for %i = %m to %n step %c1 iter_args(%a = %t) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = arith.addf %a, %v : f32
    scf.yield %b : f32
  }
  memref.store %u, %y[%c0] : memref<1xf32>
