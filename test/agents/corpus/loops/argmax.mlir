// Index of the largest element; the first of equal ones; the first NaN wins over everything.
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<1xindex> {kc.out}) attributes {kc.sizes = {N = array<i64: 1, 64>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %v0 = memref.load %x[%c0] : memref<?xf32>
  // common above
  %r:2 = scf.for %i = %c1 to %n step %c1 iter_args(%m = %v0, %k = %c0) -> (f32, index) {
    %v = memref.load %x[%i] : memref<?xf32>
    %g = arith.cmpf ugt, %v, %m : f32
    %mok = arith.cmpf oeq, %m, %m : f32
    %t = arith.andi %g, %mok : i1
    %m1 = arith.select %t, %v, %m : f32
    %k1 = arith.select %t, %i, %k : index
    scf.yield %m1, %k1 : f32, index
  }
  memref.store %r#1, %y[%c0] : memref<1xindex>
  return
}

// ----- last-of-equal
// reject numeric: tie-break
// why: greater or equal: the last of equal elements
// witness: {"fill": "equal"}
  %r:2 = scf.for %i = %c1 to %n step %c1 iter_args(%m = %v0, %k = %c0) -> (f32, index) {
    %v = memref.load %x[%i] : memref<?xf32>
    %g = arith.cmpf uge, %v, %m : f32
    %mok = arith.cmpf oeq, %m, %m : f32
    %t = arith.andi %g, %mok : i1
    %m1 = arith.select %t, %v, %m : f32
    %k1 = arith.select %t, %i, %k : index
    scf.yield %m1, %k1 : f32, index
  }
  memref.store %r#1, %y[%c0] : memref<1xindex>

// ----- last-nan
// reject numeric: nan/inf
// why: a NaN replaces a NaN: the last one wins
// witness: {"sizes": {"N": 8}, "set": {"0": [[2, "nan"], [5, "nan"]]}}
  %r:2 = scf.for %i = %c1 to %n step %c1 iter_args(%m = %v0, %k = %c0) -> (f32, index) {
    %v = memref.load %x[%i] : memref<?xf32>
    %g = arith.cmpf ogt, %v, %m : f32
    %vn = arith.cmpf uno, %v, %v : f32
    %t = arith.ori %g, %vn : i1
    %m1 = arith.select %t, %v, %m : f32
    %k1 = arith.select %t, %i, %k : index
    scf.yield %m1, %k1 : f32, index
  }
  memref.store %r#1, %y[%c0] : memref<1xindex>

// ----- ordered
// reject numeric: nan/inf
// why: NaN is never greater: it is passed over
// witness: {"sizes": {"N": 8}, "set": {"0": [[6, "nan"]]}}
  %r:2 = scf.for %i = %c1 to %n step %c1 iter_args(%m = %v0, %k = %c0) -> (f32, index) {
    %v = memref.load %x[%i] : memref<?xf32>
    %t = arith.cmpf ogt, %v, %m : f32
    %m1 = arith.select %t, %v, %m : f32
    %k1 = arith.select %t, %i, %k : index
    scf.yield %m1, %k1 : f32, index
  }
  memref.store %r#1, %y[%c0] : memref<1xindex>

// ----- starts-at-lowest
// reject numeric: reduction init
// why: starts from -1 with index 0: wrong where all elements are smaller
// witness: {"sizes": {"N": 4}, "values": {"0": [-5.0, -3.0, -2.0, -4.0]}}
  %low = arith.constant -1.0 : f32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%m = %low, %k = %c0) -> (f32, index) {
    %v = memref.load %x[%i] : memref<?xf32>
    %g = arith.cmpf ugt, %v, %m : f32
    %mok = arith.cmpf oeq, %m, %m : f32
    %t = arith.andi %g, %mok : i1
    %m1 = arith.select %t, %v, %m : f32
    %k1 = arith.select %t, %i, %k : index
    scf.yield %m1, %k1 : f32, index
  }
  memref.store %r#1, %y[%c0] : memref<1xindex>

// ----- ok-from-minus-infinity
// accept: reduction init
// why: from -inf and index 0: rows of -inf give index 0 too, and NaN still wins
  %low = arith.constant 0xFF800000 : f32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%m = %low, %k = %c0) -> (f32, index) {
    %v = memref.load %x[%i] : memref<?xf32>
    %g = arith.cmpf ugt, %v, %m : f32
    %mok = arith.cmpf oeq, %m, %m : f32
    %t = arith.andi %g, %mok : i1
    %m1 = arith.select %t, %v, %m : f32
    %k1 = arith.select %t, %i, %k : index
    scf.yield %m1, %k1 : f32, index
  }
  memref.store %r#1, %y[%c0] : memref<1xindex>

// ----- ok-parallel-pairs
// accept: parallel
// why: two halves in parallel, then the second one only when it is greater (or NaN where the first is not)
  %c2 = arith.constant 2 : index
  %n1 = arith.addi %n, %c1 : index
  %h = arith.divui %n1, %c2 : index
  %p = memref.alloc() : memref<2xindex>
  scf.parallel (%w) = (%c0) to (%c2) step (%c1) {
    %lo0 = arith.muli %w, %h : index
    %e = arith.addi %lo0, %h : index
    %hi = arith.minui %e, %n : index
    %last = arith.subi %n, %c1 : index
    %lo = arith.minui %lo0, %last : index
    %s = memref.load %x[%lo] : memref<?xf32>
    %r:2 = scf.for %i = %lo to %hi step %c1 iter_args(%m = %s, %k = %lo) -> (f32, index) {
      %v = memref.load %x[%i] : memref<?xf32>
      %g = arith.cmpf ugt, %v, %m : f32
      %mok = arith.cmpf oeq, %m, %m : f32
      %t = arith.andi %g, %mok : i1
      %m1 = arith.select %t, %v, %m : f32
      %k1 = arith.select %t, %i, %k : index
      scf.yield %m1, %k1 : f32, index
    }
    memref.store %r#1, %p[%w] : memref<2xindex>
    scf.reduce
  }
  %ka = memref.load %p[%c0] : memref<2xindex>
  %kb = memref.load %p[%c1] : memref<2xindex>
  memref.dealloc %p : memref<2xindex>
  %a = memref.load %x[%ka] : memref<?xf32>
  %b = memref.load %x[%kb] : memref<?xf32>
  %g = arith.cmpf ugt, %b, %a : f32
  %aok = arith.cmpf oeq, %a, %a : f32
  %t = arith.andi %g, %aok : i1
  %k = arith.select %t, %kb, %ka : index
  memref.store %k, %y[%c0] : memref<1xindex>
