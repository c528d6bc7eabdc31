// y[i] = x[i] + x[N-1-i] (a palindrome); y may be the very buffer x.
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"], kc.out, kc.may_alias = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %h0 = arith.addi %n, %c1 : index
  %h = arith.divui %h0, %c2 : index
  // common above
  scf.for %i = %c0 to %h step %c1 {
    %j0 = arith.subi %n, %i : index
    %j = arith.subi %j0, %c1 : index
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %x[%j] : memref<?xf32>
    %s = arith.addf %u, %v : f32
    memref.store %s, %y[%i] : memref<?xf32>
    memref.store %s, %y[%j] : memref<?xf32>
  }
  return
}

// ----- whole-range
// reject numeric: aliasing
// why: one loop over all elements: in place the second half reads sums
// witness: {"sizes": {"N": 5}, "alias": [[0, 1]]}
  scf.for %i = %c0 to %n step %c1 {
    %j0 = arith.subi %n, %i : index
    %j = arith.subi %j0, %c1 : index
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %x[%j] : memref<?xf32>
    %s = arith.addf %u, %v : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }

// ----- middle-twice
// reject numeric: aliasing
// why: the middle of an odd N is done once more at the end, from a buffer that may hold the sum by then
// witness: {"sizes": {"N": 5}, "alias": [[0, 1]]}
  scf.for %i = %c0 to %h step %c1 {
    %j0 = arith.subi %n, %i : index
    %j = arith.subi %j0, %c1 : index
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %x[%j] : memref<?xf32>
    %s = arith.addf %u, %v : f32
    memref.store %s, %y[%i] : memref<?xf32>
    memref.store %s, %y[%j] : memref<?xf32>
  }
  %r = arith.remui %n, %c2 : index
  %odd = arith.cmpi eq, %r, %c1 : index
  scf.if %odd {
    %m = arith.divui %n, %c2 : index
    %u = memref.load %x[%m] : memref<?xf32>
    %s = arith.addf %u, %u : f32
    memref.store %s, %y[%m] : memref<?xf32>
  }

// ----- store-between-loads
// reject numeric: aliasing
// why: the store of the first comes before the second load, which is the same element in the middle only
// witness: {"sizes": {"N": 5}, "alias": [[0, 1]]}
  scf.for %i = %c0 to %h step %c1 {
    %j0 = arith.subi %n, %i : index
    %j = arith.subi %j0, %c1 : index
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %x[%j] : memref<?xf32>
    %s = arith.addf %u, %v : f32
    memref.store %s, %y[%i] : memref<?xf32>
    %v2 = memref.load %x[%j] : memref<?xf32>
    %s2 = arith.addf %u, %v2 : f32
    memref.store %s2, %y[%j] : memref<?xf32>
  }

// ----- ok-two-loads-first
// accept: aliasing
// why: vectors of two from both ends, all loads before the stores; the rest one by one
  %c4 = arith.constant 4 : index
  %q = arith.divui %n, %c4 : index
  scf.for %k = %c0 to %q step %c1 {
    %i = arith.muli %k, %c2 : index
    %j0 = arith.subi %n, %i : index
    %j = arith.subi %j0, %c2 : index
    %u = vector.load %x[%i] : memref<?xf32>, vector<2xf32>
    %v = vector.load %x[%j] : memref<?xf32>, vector<2xf32>
    %vr = vector.shuffle %v, %v [1, 0] : vector<2xf32>, vector<2xf32>
    %s = arith.addf %u, %vr : vector<2xf32>
    %sr = vector.shuffle %s, %s [1, 0] : vector<2xf32>, vector<2xf32>
    vector.store %s, %y[%i] : memref<?xf32>, vector<2xf32>
    vector.store %sr, %y[%j] : memref<?xf32>, vector<2xf32>
  }
  %st = arith.muli %q, %c2 : index
  scf.for %i = %st to %h step %c1 {
    %j0 = arith.subi %n, %i : index
    %j = arith.subi %j0, %c1 : index
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %x[%j] : memref<?xf32>
    %s = arith.addf %u, %v : f32
    memref.store %s, %y[%i] : memref<?xf32>
    memref.store %s, %y[%j] : memref<?xf32>
  }

// ----- ok-copied-first
// accept: aliasing
// why: a copy of x is taken before anything is written
  %t = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %t : memref<?xf32> to memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %j0 = arith.subi %n, %i : index
    %j = arith.subi %j0, %c1 : index
    %u = memref.load %t[%i] : memref<?xf32>
    %v = memref.load %t[%j] : memref<?xf32>
    %s = arith.addf %v, %u : f32
    memref.store %s, %y[%i] : memref<?xf32>
  }
  memref.dealloc %t : memref<?xf32>

// ----- ok-parallel-halves
// accept: parallel
// why: the halves in parallel: each iteration reads and writes its own pair
  scf.parallel (%i) = (%c0) to (%h) step (%c1) {
    %j0 = arith.subi %n, %i : index
    %j = arith.subi %j0, %c1 : index
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %x[%j] : memref<?xf32>
    %s = arith.addf %u, %v : f32
    memref.store %s, %y[%i] : memref<?xf32>
    memref.store %s, %y[%j] : memref<?xf32>
    scf.reduce
  }
