// y[i] = x[i]^2 + 1 and z[i] = x[i] - 1, serially.
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"], kc.out}, %z: memref<?xf32> {kc.dims = ["N"], kc.out}) attributes {kc.sizes = {N = array<i64: 0, 100>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %one = arith.constant 1.0 : f32
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %u = arith.addf %q, %one : f32
    memref.store %u, %y[%i] : memref<?xf32>
    %w = arith.subf %v, %one : f32
    memref.store %w, %z[%i] : memref<?xf32>
  }
  return
}

// ----- ok-pairs
// accept: parallel
// why: iteration i writes 2i and 2i + 1, which no other one does
  %n1 = arith.addi %n, %c1 : index
  %h = arith.divui %n1, %c2 : index
  scf.parallel (%p) = (%c0) to (%h) step (%c1) {
    %a = arith.muli %p, %c2 : index
    %e = arith.addi %a, %c2 : index
    %b = arith.minui %e, %n : index
    scf.for %i = %a to %b step %c1 {
      %v = memref.load %x[%i] : memref<?xf32>
      %q = arith.mulf %v, %v : f32
      %u = arith.addf %q, %one : f32
      memref.store %u, %y[%i] : memref<?xf32>
      %w = arith.subf %v, %one : f32
      memref.store %w, %z[%i] : memref<?xf32>
    }
    scf.reduce
  }

// ----- ok-strided-tiles
// accept: parallel
// why: a parallel loop with step 16 and a serial one inside its tile
  %c16 = arith.constant 16 : index
  scf.parallel (%t) = (%c0) to (%n) step (%c16) {
    %e = arith.addi %t, %c16 : index
    %b = arith.minsi %e, %n : index
    scf.for %i = %t to %b step %c1 {
      %v = memref.load %x[%i] : memref<?xf32>
      %q = arith.mulf %v, %v : f32
      %u = arith.addf %q, %one : f32
      memref.store %u, %y[%i] : memref<?xf32>
      %w = arith.subf %v, %one : f32
      memref.store %w, %z[%i] : memref<?xf32>
    }
    scf.reduce
  }

// ----- ok-two-loops-reversed
// accept: parallel
// why: two parallel loops, one that runs through the buffer from behind
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %u = arith.addf %q, %one : f32
    memref.store %u, %y[%i] : memref<?xf32>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %a = arith.subi %n, %i : index
    %j = arith.subi %a, %c1 : index
    %v = memref.load %x[%j] : memref<?xf32>
    %w = arith.subf %v, %one : f32
    memref.store %w, %z[%j] : memref<?xf32>
    scf.reduce
  }

// ----- ok-private-scratch
// accept: parallel
// why: every iteration has a scratch buffer of its own, allocated inside
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %t = memref.alloc() : memref<2xf32>
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %w = arith.subf %v, %one : f32
    memref.store %q, %t[%c0] : memref<2xf32>
    memref.store %w, %t[%c1] : memref<2xf32>
    %q1 = memref.load %t[%c0] : memref<2xf32>
    %u = arith.addf %q1, %one : f32
    memref.store %u, %y[%i] : memref<?xf32>
    %w1 = memref.load %t[%c1] : memref<2xf32>
    memref.store %w1, %z[%i] : memref<?xf32>
    memref.dealloc %t : memref<2xf32>
    scf.reduce
  }

// ----- shared-scratch
// reject determinism: race
// why: one scratch cell for all iterations: another one may overwrite it between store and load
  %t = memref.alloc() : memref<1xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    memref.store %q, %t[%c0] : memref<1xf32>
    %w = arith.subf %v, %one : f32
    memref.store %w, %z[%i] : memref<?xf32>
    %q1 = memref.load %t[%c0] : memref<1xf32>
    %u = arith.addf %q1, %one : f32
    memref.store %u, %y[%i] : memref<?xf32>
    scf.reduce
  }
  memref.dealloc %t : memref<1xf32>
// schedule
  %t = memref.alloc() : memref<1xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    memref.store %q, %t[%c0] : memref<1xf32>
    %w = arith.subf %v, %one : f32
    memref.store %w, %z[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %q1 = memref.load %t[%c0] : memref<1xf32>
    %u = arith.addf %q1, %one : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  memref.dealloc %t : memref<1xf32>

// ----- through-neighbour-of-output
// reject determinism: race
// why: x[i] - 1 is first put into z[i + 1] (or z[0]), a cell that iteration i + 1 writes too
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xf32>
    %i1 = arith.addi %i, %c1 : index
    %j = arith.remui %i1, %n : index
    %w = arith.subf %v, %one : f32
    memref.store %w, %z[%j] : memref<?xf32>
    %w1 = memref.load %z[%j] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %u = arith.addf %q, %one : f32
    memref.store %u, %y[%i] : memref<?xf32>
    %f = arith.subf %v, %one : f32
    memref.store %f, %z[%i] : memref<?xf32>
    scf.reduce
  }
// schedule
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %u = arith.addf %q, %one : f32
    memref.store %u, %y[%i] : memref<?xf32>
    %f = arith.subf %v, %one : f32
    memref.store %f, %z[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %i1 = arith.addi %i, %c1 : index
    %j = arith.remui %i1, %n : index
    %w = arith.subf %v, %one : f32
    memref.store %w, %z[%j] : memref<?xf32>
  }

// ----- overlapping-tiles
// reject determinism: race
// why: tiles of 17 elements at a distance of 16: the one that does an element second reads what the first one made of it
  %c16 = arith.constant 16 : index
  %c17 = arith.constant 17 : index
  memref.copy %x, %y : memref<?xf32> to memref<?xf32>
  memref.copy %x, %z : memref<?xf32> to memref<?xf32>
  scf.parallel (%t) = (%c0) to (%n) step (%c16) {
    %e = arith.addi %t, %c17 : index
    %b = arith.minsi %e, %n : index
    scf.for %i = %t to %b step %c1 {
      %v = memref.load %x[%i] : memref<?xf32>
      %z0 = memref.load %z[%i] : memref<?xf32>
      %q = arith.mulf %v, %v : f32
      %u = arith.addf %q, %one : f32
      memref.store %u, %y[%i] : memref<?xf32>
      %first = arith.cmpf oeq, %z0, %v : f32
      %w = arith.subf %z0, %one : f32
      %w1 = arith.select %first, %w, %z0 : f32
      memref.store %w1, %z[%i] : memref<?xf32>
    }
    scf.reduce
  }
// schedule
  memref.copy %x, %z : memref<?xf32> to memref<?xf32>
  scf.for %k = %c0 to %c2 step %c1 {
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %z[%i] : memref<?xf32>
      %w = arith.subf %v, %one : f32
      memref.store %w, %z[%i] : memref<?xf32>
      %q = arith.mulf %v, %v : f32
      %u = arith.addf %q, %one : f32
      memref.store %u, %y[%i] : memref<?xf32>
    }
  }

// ----- race-when-long
// reject determinism: race
// why: index i mod 64: free of races up to N = 64, and two iterations write one cell beyond
// witness: {"sizes": {"N": 90}}
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %m = arith.minui %n, %c64 : index
  scf.for %i = %m to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %u = arith.addf %q, %one : f32
    memref.store %u, %y[%i] : memref<?xf32>
    %w = arith.subf %v, %one : f32
    memref.store %w, %z[%i] : memref<?xf32>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %a = arith.subi %n, %c1 : index
    %b = arith.subi %a, %i : index
    %j = arith.andi %b, %c63 : index
    %v = memref.load %x[%j] : memref<?xf32>
    memref.store %v, %y[%j] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %u = arith.addf %q, %one : f32
    memref.store %u, %y[%j] : memref<?xf32>
    %w = arith.subf %v, %one : f32
    memref.store %w, %z[%j] : memref<?xf32>
    scf.reduce
  }
// schedule
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %u = arith.addf %q, %one : f32
    memref.store %u, %y[%i] : memref<?xf32>
    %w = arith.subf %v, %one : f32
    memref.store %w, %z[%i] : memref<?xf32>
  }
  scf.for %i = %c64 to %n step %c1 {
    %j = arith.subi %i, %c64 : index
    %v = memref.load %x[%j] : memref<?xf32>
    memref.store %v, %y[%j] : memref<?xf32>
  }

// ----- pairs-share-a-cell
// reject determinism: race
// why: i / 2 as index of a scratch buffer: pairs of iterations share a cell
  %n1 = arith.addi %n, %c1 : index
  %h = arith.divui %n1, %c2 : index
  %t = memref.alloc(%h) : memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %p = arith.divui %i, %c2 : index
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    memref.store %q, %t[%p] : memref<?xf32>
    %w = arith.subf %v, %one : f32
    memref.store %w, %z[%i] : memref<?xf32>
    %q1 = memref.load %t[%p] : memref<?xf32>
    %u = arith.addf %q1, %one : f32
    memref.store %u, %y[%i] : memref<?xf32>
    scf.reduce
  }
  memref.dealloc %t : memref<?xf32>
// schedule
  %n1 = arith.addi %n, %c1 : index
  %h = arith.divui %n1, %c2 : index
  %t = memref.alloc(%h) : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %p = arith.divui %i, %c2 : index
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    memref.store %q, %t[%p] : memref<?xf32>
    %w = arith.subf %v, %one : f32
    memref.store %w, %z[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %p = arith.divui %i, %c2 : index
    %q1 = memref.load %t[%p] : memref<?xf32>
    %u = arith.addf %q1, %one : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  memref.dealloc %t : memref<?xf32>
