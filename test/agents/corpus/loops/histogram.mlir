// Counts of 16 bins; the indices are in range by contract.
func.func @main(%b: memref<?xi32> {kc.dims = ["N"], kc.range = array<i64: 0, 15>}, %h: memref<16xi32> {kc.out}) attributes {kc.sizes = {N = array<i64: 0, 200>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %b, %c0 : memref<?xi32>
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // common above
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %z, %h[%i] : memref<16xi32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %b[%i] : memref<?xi32>
    %k = arith.index_cast %v : i32 to index
    %o = memref.load %h[%k] : memref<16xi32>
    %p = arith.addi %o, %one : i32
    memref.store %p, %h[%k] : memref<16xi32>
  }
  return
}

// ----- ok-atomic
// accept: atomic
// why: integer atomic additions commute
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    memref.store %z, %h[%i] : memref<16xi32>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %b[%i] : memref<?xi32>
    %k = arith.index_cast %v : i32 to index
    %o = memref.atomic_rmw addi %one, %h[%k] : (i32, memref<16xi32>) -> i32
    scf.reduce
  }

// ----- ok-gather-form
// accept: parallel
// why: one iteration per bin, which counts by itself; no scatter is left
  scf.parallel (%k) = (%c0) to (%c16) step (%c1) {
    %ki = arith.index_cast %k : index to i32
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (i32) {
      %v = memref.load %b[%i] : memref<?xi32>
      %e = arith.cmpi eq, %v, %ki : i32
      %d = arith.extui %e : i1 to i32
      %a1 = arith.addi %a, %d : i32
      scf.yield %a1 : i32
    }
    memref.store %s, %h[%k] : memref<16xi32>
    scf.reduce
  }

// ----- ok-privatised
// accept: parallel
// why: four workers with a histogram each, added up at the end
  %c4 = arith.constant 4 : index
  %p = memref.alloc() : memref<4x16xi32>
  scf.parallel (%w) = (%c0) to (%c4) step (%c1) {
    scf.for %k = %c0 to %c16 step %c1 {
      memref.store %z, %p[%w, %k] : memref<4x16xi32>
    }
    scf.for %i = %w to %n step %c4 {
      %v = memref.load %b[%i] : memref<?xi32>
      %k = arith.index_cast %v : i32 to index
      %o = memref.load %p[%w, %k] : memref<4x16xi32>
      %q = arith.addi %o, %one : i32
      memref.store %q, %p[%w, %k] : memref<4x16xi32>
    }
    scf.reduce
  }
  scf.for %k = %c0 to %c16 step %c1 {
    %s = scf.for %w = %c0 to %c4 step %c1 iter_args(%a = %z) -> (i32) {
      %o = memref.load %p[%w, %k] : memref<4x16xi32>
      %a1 = arith.addi %a, %o : i32
      scf.yield %a1 : i32
    }
    memref.store %s, %h[%k] : memref<16xi32>
  }
  memref.dealloc %p : memref<4x16xi32>

// ----- parallel-lost-counts
// reject determinism: race
// why: load, add and store of a bin are not one step
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %z, %h[%i] : memref<16xi32>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %b[%i] : memref<?xi32>
    %k = arith.index_cast %v : i32 to index
    %o = memref.load %h[%k] : memref<16xi32>
    %p = arith.addi %o, %one : i32
    memref.store %p, %h[%k] : memref<16xi32>
    scf.reduce
  }
// schedule
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %z, %h[%i] : memref<16xi32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %b[%i] : memref<?xi32>
    %k = arith.index_cast %v : i32 to index
    memref.store %one, %h[%k] : memref<16xi32>
  }

// ----- workers-share-a-row
// reject determinism: race
// why: five workers, four private rows: the fifth shares the first one's
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %p = memref.alloc() : memref<4x16xi32>
  scf.for %w = %c0 to %c4 step %c1 {
    scf.for %k = %c0 to %c16 step %c1 {
      memref.store %z, %p[%w, %k] : memref<4x16xi32>
    }
  }
  scf.parallel (%w) = (%c0) to (%c5) step (%c1) {
    %r = arith.remui %w, %c4 : index
    scf.for %i = %w to %n step %c5 {
      %v = memref.load %b[%i] : memref<?xi32>
      %k = arith.index_cast %v : i32 to index
      %o = memref.load %p[%r, %k] : memref<4x16xi32>
      %q = arith.addi %o, %one : i32
      memref.store %q, %p[%r, %k] : memref<4x16xi32>
    }
    scf.reduce
  }
  scf.for %k = %c0 to %c16 step %c1 {
    %s = scf.for %w = %c0 to %c4 step %c1 iter_args(%a = %z) -> (i32) {
      %o = memref.load %p[%w, %k] : memref<4x16xi32>
      %a1 = arith.addi %a, %o : i32
      scf.yield %a1 : i32
    }
    memref.store %s, %h[%k] : memref<16xi32>
  }
  memref.dealloc %p : memref<4x16xi32>
// schedule
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %z, %h[%i] : memref<16xi32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %b[%i] : memref<?xi32>
    %k = arith.index_cast %v : i32 to index
    %o = memref.load %h[%k] : memref<16xi32>
    %p = arith.addi %o, %one : i32
    %w = arith.remui %i, %c5 : index
    %lost = arith.cmpi eq, %w, %c4 : index
    %q = arith.select %lost, %o, %p : i32
    memref.store %q, %h[%k] : memref<16xi32>
  }

// ----- i8-counters
// reject numeric: integer overflow
// why: counts above 255 wrap in the 8-bit private counters (127 is not enough to show it: they are unsigned)
// witness: {"calls": [{"sizes": {"N": 200}, "fill": "zeros"}]}
  %t = memref.alloc() : memref<16xi8>
  %z8 = arith.constant 0 : i8
  %one8 = arith.constant 1 : i8
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %z8, %t[%i] : memref<16xi8>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %b[%i] : memref<?xi32>
    %k = arith.index_cast %v : i32 to index
    %o = memref.load %t[%k] : memref<16xi8>
    %p = arith.addi %o, %one8 : i8
    memref.store %p, %t[%k] : memref<16xi8>
  }
  scf.for %i = %c0 to %c16 step %c1 {
    %o = memref.load %t[%i] : memref<16xi8>
    %e = arith.extsi %o : i8 to i32
    memref.store %e, %h[%i] : memref<16xi32>
  }
  memref.dealloc %t : memref<16xi8>

// ----- ok-u8-counters
// accept: index width
// why: N is at most 200, so unsigned 8-bit counters hold every count
  %t = memref.alloc() : memref<16xi8>
  %z8 = arith.constant 0 : i8
  %one8 = arith.constant 1 : i8
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %z8, %t[%i] : memref<16xi8>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %b[%i] : memref<?xi32>
    %k = arith.index_cast %v : i32 to index
    %o = memref.load %t[%k] : memref<16xi8>
    %p = arith.addi %o, %one8 : i8
    memref.store %p, %t[%k] : memref<16xi8>
  }
  scf.for %i = %c0 to %c16 step %c1 {
    %o = memref.load %t[%i] : memref<16xi8>
    %e = arith.extui %o : i8 to i32
    memref.store %e, %h[%i] : memref<16xi32>
  }
  memref.dealloc %t : memref<16xi8>

// ----- narrower-range-claimed
// reject assumption: false assumption
// whole
// why: the proposal's own contract says that only bins 0..7 occur; its code is right
module {
func.func @main(%b: memref<?xi32> {kc.dims = ["N"], kc.range = array<i64: 0, 7>}, %h: memref<16xi32> {kc.out}) attributes {kc.sizes = {N = array<i64: 0, 200>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %b, %c0 : memref<?xi32>
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %z, %h[%i] : memref<16xi32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %b[%i] : memref<?xi32>
    %k = arith.index_cast %v : i32 to index
    %o = memref.load %h[%k] : memref<16xi32>
    %p = arith.addi %o, %one : i32
    memref.store %p, %h[%k] : memref<16xi32>
  }
  return
}
}

// ----- 128-entries
// reject numeric: hard-coded shape
// why: never more than 128 elements are counted
// witness: {"sizes": {"N": 150}}
  %c128 = arith.constant 128 : index
  %m = arith.minui %n, %c128 : index
  scf.for %i = %c0 to %c16 step %c1 {
    memref.store %z, %h[%i] : memref<16xi32>
  }
  scf.for %i = %c0 to %m step %c1 {
    %v = memref.load %b[%i] : memref<?xi32>
    %k = arith.index_cast %v : i32 to index
    %o = memref.load %h[%k] : memref<16xi32>
    %p = arith.addi %o, %one : i32
    memref.store %p, %h[%k] : memref<16xi32>
  }
