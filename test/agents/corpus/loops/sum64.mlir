// Sum of f64; another order is allowed.
// tolerance: close 1e-12 1e-12
func.func @main(%x: memref<?xf64> {kc.dims = ["N"]}, %y: memref<1xf64> {kc.out}) attributes {kc.allow = ["reassoc"], kc.sizes = {N = array<i64: 0, 500>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  %z = arith.constant 0.0 : f64
  // common above
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f64) {
    %v = memref.load %x[%i] : memref<?xf64>
    %b = arith.addf %a, %v : f64
    scf.yield %b : f64
  }
  memref.store %s, %y[%c0] : memref<1xf64>
  return
}

// ----- ok-four-lanes
// accept: reassociation
// why: four partial sums
  %c4 = arith.constant 4 : index
  %zv = arith.constant dense<0.0> : vector<4xf64>
  %s = scf.for %i = %c0 to %n step %c4 iter_args(%a = %zv) -> (vector<4xf64>) {
    %v = vector.transfer_read %x[%i], %z : memref<?xf64>, vector<4xf64>
    %b = arith.addf %a, %v : vector<4xf64>
    scf.yield %b : vector<4xf64>
  }
  %t = vector.reduction <add>, %s : vector<4xf64> into f64
  memref.store %t, %y[%c0] : memref<1xf64>

// ----- ok-backwards
// accept: reassociation
// why: from behind
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f64) {
    %k0 = arith.subi %n, %i : index
    %k = arith.subi %k0, %c1 : index
    %v = memref.load %x[%k] : memref<?xf64>
    %b = arith.addf %v, %a : f64
    scf.yield %b : f64
  }
  memref.store %s, %y[%c0] : memref<1xf64>

// ----- ok-parallel-reduce
// accept: parallel
// why: a parallel sum, which reassoc allows
  %s = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> f64 {
    %v = memref.load %x[%i] : memref<?xf64>
    scf.reduce(%v : f64) {
    ^bb0(%a: f64, %b: f64):
      %c = arith.addf %a, %b : f64
      scf.reduce.return %c : f64
    }
  }
  memref.store %s, %y[%c0] : memref<1xf64>

// ----- ok-atomic-sum
// accept: atomic
// why: atomic additions in any order, which reassoc allows
  memref.store %z, %y[%c0] : memref<1xf64>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf64>
    %o = memref.atomic_rmw addf %v, %y[%c0] : (f64, memref<1xf64>) -> f64
    scf.reduce
  }

// ----- blocks-in-f32
// reject numeric: precision
// why: blocks of 8 in f32
// witness: {"seed": 3, "sizes": {"N": 100}}
  %c8 = arith.constant 8 : index
  %zf = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %n step %c8 iter_args(%a = %z) -> (f64) {
    %e0 = arith.addi %i, %c8 : index
    %e = arith.minui %e0, %n : index
    %p = scf.for %j = %i to %e step %c1 iter_args(%q = %zf) -> (f32) {
      %v = memref.load %x[%j] : memref<?xf64>
      %w = arith.truncf %v : f64 to f32
      %b = arith.addf %q, %w : f32
      scf.yield %b : f32
    }
    %pd = arith.extf %p : f32 to f64
    %b = arith.addf %a, %pd : f64
    scf.yield %b : f64
  }
  memref.store %s, %y[%c0] : memref<1xf64>

// ----- starts-from-negative-zero
// reject numeric: zero size
// why: an empty sum is taken to be the smallest positive number, so that a division by it does not trap
// witness: {"sizes": {"N": 0}}
  %tiny = arith.constant 1.0e-300 : f64
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %tiny) -> (f64) {
    %v = memref.load %x[%i] : memref<?xf64>
    %b = arith.addf %a, %v : f64
    scf.yield %b : f64
  }
  memref.store %s, %y[%c0] : memref<1xf64>

// ----- differences-of-prefixes
// reject numeric: cancellation
// why: the sum of the second half as the whole less the first half, added up again
// witness: {"sizes": {"N": 4}, "values": {"0": [1e16, 1.0, 1.0, 1.0]}}
  %c2 = arith.constant 2 : index
  %h = arith.divui %n, %c2 : index
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f64) {
    %v = memref.load %x[%i] : memref<?xf64>
    %b = arith.addf %a, %v : f64
    scf.yield %b : f64
  }
  %p = scf.for %i = %c0 to %h step %c1 iter_args(%a = %z) -> (f64) {
    %v = memref.load %x[%i] : memref<?xf64>
    %b = arith.addf %a, %v : f64
    scf.yield %b : f64
  }
  %d = arith.subf %s, %p : f64
  %k = arith.constant 1024.0 : f64
  %pk = arith.mulf %p, %k : f64
  %d1 = arith.addf %d, %pk : f64
  %d2 = arith.subf %d1, %pk : f64
  %t = arith.addf %d2, %p : f64
  memref.store %t, %y[%c0] : memref<1xf64>
