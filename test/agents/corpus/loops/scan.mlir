// Inclusive prefix sum of bytes, wrapping in 8 bits.
func.func @main(%x: memref<?xi8> {kc.dims = ["N"]}, %y: memref<?xi8> {kc.dims = ["N"], kc.out}) attributes {kc.sizes = {N = array<i64: 0, 150>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?xi8>
  %z = arith.constant 0 : i8
  // common above
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (i8) {
    %v = memref.load %x[%i] : memref<?xi8>
    %b = arith.addi %a, %v : i8
    memref.store %b, %y[%i] : memref<?xi8>
    scf.yield %b : i8
  }
  return
}

// ----- exclusive
// reject numeric: boundary
// why: the sum before the element instead of with it
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (i8) {
    %v = memref.load %x[%i] : memref<?xi8>
    %b = arith.addi %a, %v : i8
    memref.store %a, %y[%i] : memref<?xi8>
    scf.yield %b : i8
  }

// ----- ok-in-i32
// accept: integer identity
// why: summed in 32 bits and cut down: the low byte is the same
  %z32 = arith.constant 0 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z32) -> (i32) {
    %v = memref.load %x[%i] : memref<?xi8>
    %e = arith.extui %v : i8 to i32
    %b = arith.addi %a, %e : i32
    %t = arith.trunci %b : i32 to i8
    memref.store %t, %y[%i] : memref<?xi8>
    scf.yield %b : i32
  }

// ----- saturating
// reject numeric: saturation
// why: stops at 127 and -128
// witness: {"fill": "equal", "sizes": {"N": 40}, "set": {"0": [[0, 100], [1, 100]]}}
  %lo = arith.constant -128 : i32
  %hi = arith.constant 127 : i32
  %z32 = arith.constant 0 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z32) -> (i32) {
    %v = memref.load %x[%i] : memref<?xi8>
    %e = arith.extsi %v : i8 to i32
    %b = arith.addi %a, %e : i32
    %b1 = arith.maxsi %b, %lo : i32
    %b2 = arith.minsi %b1, %hi : i32
    %t = arith.trunci %b2 : i32 to i8
    memref.store %t, %y[%i] : memref<?xi8>
    scf.yield %b2 : i32
  }

// ----- ok-blocked
// accept: parallel
// why: sums of blocks of 32 in parallel, a scan over the blocks, and the offsets added in parallel
  %c32 = arith.constant 32 : index
  %c31 = arith.constant 31 : index
  %n31 = arith.addi %n, %c31 : index
  %nb = arith.divui %n31, %c32 : index
  %t = memref.alloc(%nb) : memref<?xi8>
  scf.parallel (%b) = (%c0) to (%nb) step (%c1) {
    %lo = arith.muli %b, %c32 : index
    %e = arith.addi %lo, %c32 : index
    %hi = arith.minui %e, %n : index
    %s = scf.for %i = %lo to %hi step %c1 iter_args(%a = %z) -> (i8) {
      %v = memref.load %x[%i] : memref<?xi8>
      %q = arith.addi %a, %v : i8
      memref.store %q, %y[%i] : memref<?xi8>
      scf.yield %q : i8
    }
    memref.store %s, %t[%b] : memref<?xi8>
    scf.reduce
  }
  %all = scf.for %b = %c0 to %nb step %c1 iter_args(%a = %z) -> (i8) {
    %v = memref.load %t[%b] : memref<?xi8>
    memref.store %a, %t[%b] : memref<?xi8>
    %q = arith.addi %a, %v : i8
    scf.yield %q : i8
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %b = arith.divui %i, %c32 : index
    %o = memref.load %t[%b] : memref<?xi8>
    %v = memref.load %y[%i] : memref<?xi8>
    %q = arith.addi %o, %v : i8
    memref.store %q, %y[%i] : memref<?xi8>
    scf.reduce
  }
  memref.dealloc %t : memref<?xi8>

// ----- blocked-without-second-level
// reject numeric: hard-coded shape
// why: the offsets of blocks are those of the block before alone: right up to two blocks of 64
// witness: {"sizes": {"N": 140}}
  %c64 = arith.constant 64 : index
  scf.for %b = %c0 to %n step %c64 {
    %e = arith.addi %b, %c64 : index
    %hi = arith.minui %e, %n : index
    %first = arith.cmpi eq, %b, %c0 : index
    %lo = arith.subi %b, %c64 : index
    %from = arith.select %first, %c0, %lo : index
    %off = scf.for %i = %from to %b step %c1 iter_args(%a = %z) -> (i8) {
      %v = memref.load %x[%i] : memref<?xi8>
      %q = arith.addi %a, %v : i8
      scf.yield %q : i8
    }
    %s = scf.for %i = %b to %hi step %c1 iter_args(%a = %off) -> (i8) {
      %v = memref.load %x[%i] : memref<?xi8>
      %q = arith.addi %a, %v : i8
      memref.store %q, %y[%i] : memref<?xi8>
      scf.yield %q : i8
    }
  }

// ----- doubling-in-place
// reject determinism: race
// why: Hillis-Steele steps in place and in parallel: y[i - d] may already be the next step's
// witness: {"sizes": {"N": 9}}
  memref.copy %x, %y : memref<?xi8> to memref<?xi8>
  %r = scf.while (%d = %c1) : (index) -> index {
    %go = arith.cmpi ult, %d, %n : index
    scf.condition(%go) %d : index
  } do {
  ^bb0(%d: index):
    scf.parallel (%j) = (%d) to (%n) step (%c1) {
      %k0 = arith.subi %n, %c1 : index
      %k1 = arith.subi %k0, %j : index
      %i = arith.addi %k1, %d : index
      %l = arith.subi %i, %d : index
      %a = memref.load %y[%l] : memref<?xi8>
      %b = memref.load %y[%i] : memref<?xi8>
      %q = arith.addi %a, %b : i8
      memref.store %q, %y[%i] : memref<?xi8>
      scf.reduce
    }
    %d2 = arith.muli %d, %c2 : index
    scf.yield %d2 : index
  }
// schedule
  memref.copy %x, %y : memref<?xi8> to memref<?xi8>
  %r = scf.while (%d = %c1) : (index) -> index {
    %go = arith.cmpi ult, %d, %n : index
    scf.condition(%go) %d : index
  } do {
  ^bb0(%d: index):
    scf.for %i = %d to %n step %c1 {
      %l = arith.subi %i, %d : index
      %a = memref.load %y[%l] : memref<?xi8>
      %b = memref.load %y[%i] : memref<?xi8>
      %q = arith.addi %a, %b : i8
      memref.store %q, %y[%i] : memref<?xi8>
    }
    %d2 = arith.muli %d, %c2 : index
    scf.yield %d2 : index
  }

// ----- ok-doubling-two-buffers
// accept: parallel
// why: the same steps from one buffer into another
  %t = memref.alloc(%n) : memref<?xi8>
  memref.copy %x, %y : memref<?xi8> to memref<?xi8>
  %r = scf.while (%d = %c1) : (index) -> index {
    %go = arith.cmpi ult, %d, %n : index
    scf.condition(%go) %d : index
  } do {
  ^bb0(%d: index):
    memref.copy %y, %t : memref<?xi8> to memref<?xi8>
    scf.parallel (%i) = (%d) to (%n) step (%c1) {
      %l = arith.subi %i, %d : index
      %a = memref.load %t[%l] : memref<?xi8>
      %b = memref.load %t[%i] : memref<?xi8>
      %q = arith.addi %a, %b : i8
      memref.store %q, %y[%i] : memref<?xi8>
      scf.reduce
    }
    %d2 = arith.muli %d, %c2 : index
    scf.yield %d2 : index
  }
  memref.dealloc %t : memref<?xi8>
