// y[i] = y[i-1] + 2 y[i] + y[i+1] inside, on a buffer that is updated; the ends stay.
func.func @main(%y: memref<?xf32> {kc.dims = ["N"], kc.inout}) attributes {kc.sizes = {N = array<i64: 2, 70>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %y, %c0 : memref<?xf32>
  %e = arith.subi %n, %c1 : index
  // common above
  %t = memref.alloc(%n) : memref<?xf32>
  memref.copy %y, %t : memref<?xf32> to memref<?xf32>
  scf.for %i = %c1 to %e step %c1 {
    %l = arith.subi %i, %c1 : index
    %r = arith.addi %i, %c1 : index
    %a = memref.load %t[%l] : memref<?xf32>
    %b = memref.load %t[%i] : memref<?xf32>
    %c = memref.load %t[%r] : memref<?xf32>
    %b2 = arith.addf %b, %b : f32
    %s = arith.addf %a, %b2 : f32
    %u = arith.addf %s, %c : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  memref.dealloc %t : memref<?xf32>
  return
}

// ----- no-copy
// reject numeric: in-place update
// why: the left neighbour has already been replaced
  scf.for %i = %c1 to %e step %c1 {
    %l = arith.subi %i, %c1 : index
    %r = arith.addi %i, %c1 : index
    %a = memref.load %y[%l] : memref<?xf32>
    %b = memref.load %y[%i] : memref<?xf32>
    %c = memref.load %y[%r] : memref<?xf32>
    %b2 = arith.addf %b, %b : f32
    %s = arith.addf %a, %b2 : f32
    %u = arith.addf %s, %c : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- ok-registers
// accept: private in-place
// why: the old left neighbour is carried in a register
  %y0 = memref.load %y[%c0] : memref<?xf32>
  %y1 = memref.load %y[%c1] : memref<?xf32>
  %w:2 = scf.for %i = %c1 to %e step %c1 iter_args(%a = %y0, %b = %y1) -> (f32, f32) {
    %r = arith.addi %i, %c1 : index
    %c = memref.load %y[%r] : memref<?xf32>
    %b2 = arith.addf %b, %b : f32
    %s = arith.addf %a, %b2 : f32
    %u = arith.addf %s, %c : f32
    memref.store %u, %y[%i] : memref<?xf32>
    scf.yield %b, %c : f32, f32
  }

// ----- ok-copy-then-parallel
// accept: parallel
// why: all reads come from the copy
  %t = memref.alloc(%n) : memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %y[%i] : memref<?xf32>
    memref.store %v, %t[%i] : memref<?xf32>
    scf.reduce
  }
  scf.parallel (%i) = (%c1) to (%e) step (%c1) {
    %l = arith.subi %i, %c1 : index
    %r = arith.addi %i, %c1 : index
    %a = memref.load %t[%l] : memref<?xf32>
    %b = memref.load %t[%i] : memref<?xf32>
    %c = memref.load %t[%r] : memref<?xf32>
    %b2 = arith.addf %b, %b : f32
    %s = arith.addf %a, %b2 : f32
    %u = arith.addf %s, %c : f32
    memref.store %u, %y[%i] : memref<?xf32>
    scf.reduce
  }
  memref.dealloc %t : memref<?xf32>

// ----- parallel-half-copied
// reject determinism: race
// why: the copy serves the left neighbour only; the right one is read from the buffer that others write
// witness: {"sizes": {"N": 20}}
  %t = memref.alloc(%n) : memref<?xf32>
  memref.copy %y, %t : memref<?xf32> to memref<?xf32>
  scf.parallel (%i) = (%c1) to (%e) step (%c1) {
    %l = arith.subi %i, %c1 : index
    %r = arith.addi %i, %c1 : index
    %a = memref.load %t[%l] : memref<?xf32>
    %b = memref.load %t[%i] : memref<?xf32>
    %c = memref.load %y[%r] : memref<?xf32>
    %b2 = arith.addf %b, %b : f32
    %s = arith.addf %a, %b2 : f32
    %u = arith.addf %s, %c : f32
    memref.store %u, %y[%i] : memref<?xf32>
    scf.reduce
  }
  memref.dealloc %t : memref<?xf32>
// schedule
  %t = memref.alloc(%n) : memref<?xf32>
  memref.copy %y, %t : memref<?xf32> to memref<?xf32>
  scf.for %j = %c1 to %e step %c1 {
    %i = arith.subi %e, %j : index
    %l = arith.subi %i, %c1 : index
    %r = arith.addi %i, %c1 : index
    %a = memref.load %t[%l] : memref<?xf32>
    %b = memref.load %t[%i] : memref<?xf32>
    %c = memref.load %y[%r] : memref<?xf32>
    %b2 = arith.addf %b, %b : f32
    %s = arith.addf %a, %b2 : f32
    %u = arith.addf %s, %c : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  memref.dealloc %t : memref<?xf32>

// ----- parallel-tiles-read-halo
// reject determinism: race
// why: serial inside tiles of 32 with carried registers, but the halo of a tile is written by its neighbour
// witness: {"sizes": {"N": 70}}
  %c32 = arith.constant 32 : index
  scf.parallel (%t) = (%c1) to (%e) step (%c32) {
    %q = arith.addi %t, %c32 : index
    %hi = arith.minui %q, %e : index
    %l = arith.subi %t, %c1 : index
    %y0 = memref.load %y[%l] : memref<?xf32>
    %y1 = memref.load %y[%t] : memref<?xf32>
    %w:2 = scf.for %i = %t to %hi step %c1 iter_args(%a = %y0, %b = %y1) -> (f32, f32) {
      %r = arith.addi %i, %c1 : index
      %c = memref.load %y[%r] : memref<?xf32>
      %b2 = arith.addf %b, %b : f32
      %s = arith.addf %a, %b2 : f32
      %u = arith.addf %s, %c : f32
      memref.store %u, %y[%i] : memref<?xf32>
      scf.yield %b, %c : f32, f32
    }
    scf.reduce
  }

// ----- reassociated
// reject numeric: reassociation
// why: (a + c) + 2b rounds otherwise, and the contract allows no reassociation
// witness: {"sizes": {"N": 60}}
  %y0 = memref.load %y[%c0] : memref<?xf32>
  %y1 = memref.load %y[%c1] : memref<?xf32>
  %w:2 = scf.for %i = %c1 to %e step %c1 iter_args(%a = %y0, %b = %y1) -> (f32, f32) {
    %r = arith.addi %i, %c1 : index
    %c = memref.load %y[%r] : memref<?xf32>
    %b2 = arith.addf %b, %b : f32
    %s = arith.addf %a, %c : f32
    %u = arith.addf %s, %b2 : f32
    memref.store %u, %y[%i] : memref<?xf32>
    scf.yield %b, %c : f32, f32
  }

// ----- ends-touched
// reject numeric: boundary
// why: the last element is replaced by a sum with itself
  %y0 = memref.load %y[%c0] : memref<?xf32>
  %y1 = memref.load %y[%c1] : memref<?xf32>
  %w:2 = scf.for %i = %c1 to %n step %c1 iter_args(%a = %y0, %b = %y1) -> (f32, f32) {
    %r0 = arith.addi %i, %c1 : index
    %r = arith.minui %r0, %e : index
    %c = memref.load %y[%r] : memref<?xf32>
    %b2 = arith.addf %b, %b : f32
    %s = arith.addf %a, %b2 : f32
    %u = arith.addf %s, %c : f32
    memref.store %u, %y[%i] : memref<?xf32>
    scf.yield %b, %c : f32, f32
  }

// ----- ok-doubled
// accept: algebraic identity
// why: 2 * b is b + b, bit for bit, and additions commute
  %two = arith.constant 2.0 : f32
  %y0 = memref.load %y[%c0] : memref<?xf32>
  %y1 = memref.load %y[%c1] : memref<?xf32>
  %w:2 = scf.for %i = %c1 to %e step %c1 iter_args(%a = %y0, %b = %y1) -> (f32, f32) {
    %r = arith.addi %i, %c1 : index
    %c = memref.load %y[%r] : memref<?xf32>
    %b2 = arith.mulf %two, %b : f32
    %s = arith.addf %b2, %a : f32
    %u = arith.addf %c, %s : f32
    memref.store %u, %y[%i] : memref<?xf32>
    scf.yield %b, %c : f32, f32
  }
