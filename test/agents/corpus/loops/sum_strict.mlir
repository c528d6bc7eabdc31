// Sum of squares of a float vector; nothing may be assumed.
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<1xf32> {kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %z = arith.constant 0.0 : f32
  // common above
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %b = arith.addf %a, %q : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>
  return
}

// ----- fma
// reject numeric: contraction
// why: fused multiply-add rounds once; contraction is not granted
// witness: {"sizes": {"N": 60}}
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = math.fma %v, %v, %a : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- contract-flag
// reject assumption: false assumption
// why: fastmath<contract> on both ops lets LLVM fuse them
// witness: {"sizes": {"N": 60}}
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v fastmath<contract> : f32
    %b = arith.addf %a, %q fastmath<contract> : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>
// schedule
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %b = math.fma %v, %v, %a : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- two-sums
// reject numeric: reassociation
// why: even and odd elements apart
// witness: {"sizes": {"N": 61}}
  %s:2 = scf.for %i = %c0 to %n step %c2 iter_args(%a = %z, %e = %z) -> (f32, f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %b = arith.addf %a, %q : f32
    %i1 = arith.addi %i, %c1 : index
    %in = arith.cmpi ult, %i1, %n : index
    %f = scf.if %in -> (f32) {
      %w = memref.load %x[%i1] : memref<?xf32>
      %p = arith.mulf %w, %w : f32
      %g = arith.addf %e, %p : f32
      scf.yield %g : f32
    } else {
      scf.yield %e : f32
    }
    scf.yield %b, %f : f32, f32
  }
  %t = arith.addf %s#0, %s#1 : f32
  memref.store %t, %y[%c0] : memref<1xf32>

// ----- parallel-reduce
// reject assumption: reassociation
// why: scf.reduce may combine in any order; the serial lowering hides it
// assumes: reassoc
  %s = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> f32 {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    scf.reduce(%q : f32) {
    ^bb0(%a: f32, %b: f32):
      %t = arith.addf %a, %b : f32
      scf.reduce.return %t : f32
    }
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- reduce-of-products
// reject determinism: race
// why: the region of scf.reduce, a + b * b, is not associative: two partial results cannot be combined by it
  %s = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> f32 {
    %v = memref.load %x[%i] : memref<?xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %q = arith.mulf %b, %b : f32
      %t = arith.addf %a, %q : f32
      scf.reduce.return %t : f32
    }
  }
  memref.store %s, %y[%c0] : memref<1xf32>
// schedule
  %h = arith.divui %n, %c2 : index
  %s = scf.for %i = %c0 to %h step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %b = arith.addf %a, %q : f32
    scf.yield %b : f32
  }
  %r = scf.for %i = %h to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %b = arith.addf %a, %q : f32
    scf.yield %b : f32
  }
  %rr = arith.mulf %r, %r : f32
  %t = arith.addf %s, %rr : f32
  memref.store %t, %y[%c0] : memref<1xf32>

// ----- ok-peeled
// accept: algebraic identity
// why: the first square is the sum so far: squares are never -0, so 0 + q = q
  %some = arith.cmpi ne, %n, %c0 : index
  %s = scf.if %some -> (f32) {
    %v0 = memref.load %x[%c0] : memref<?xf32>
    %q0 = arith.mulf %v0, %v0 : f32
    %r = scf.for %i = %c1 to %n step %c1 iter_args(%a = %q0) -> (f32) {
      %v = memref.load %x[%i] : memref<?xf32>
      %q = arith.mulf %v, %v : f32
      %b = arith.addf %a, %q : f32
      scf.yield %b : f32
    }
    scf.yield %r : f32
  } else {
    scf.yield %z : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>

// ----- ok-abs-first
// accept: algebraic identity
// why: |x| * |x| is x * x, and unrolling by two in the same order changes nothing
  %r = arith.remui %n, %c2 : index
  %m = arith.subi %n, %r : index
  %s = scf.for %i = %c0 to %m step %c2 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = math.absf %v : f32
    %q = arith.mulf %w, %w : f32
    %b = arith.addf %a, %q : f32
    %i1 = arith.addi %i, %c1 : index
    %v1 = memref.load %x[%i1] : memref<?xf32>
    %q1 = arith.mulf %v1, %v1 : f32
    %b1 = arith.addf %b, %q1 : f32
    scf.yield %b1 : f32
  }
  %t = scf.for %i = %m to %n step %c1 iter_args(%a = %s) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %b = arith.addf %a, %q : f32
    scf.yield %b : f32
  }
  memref.store %t, %y[%c0] : memref<1xf32>

// ----- accumulates-in-output
// reject numeric: unwritten elements
// why: accumulates in the output cell without clearing it: right where the buffer happens to be zero
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %a = memref.load %y[%c0] : memref<1xf32>
    %b = arith.addf %a, %q : f32
    memref.store %b, %y[%c0] : memref<1xf32>
  }

// ----- written-in-loop-only
// reject numeric: zero size
// why: the cell is written inside the loop, so never for N = 0
// witness: {"sizes": {"N": 0}}
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %b = arith.addf %a, %q : f32
    memref.store %b, %y[%c0] : memref<1xf32>
    scf.yield %b : f32
  }

// ----- stops-at-inf
// reject numeric: early exit
// why: stops when the sum is infinite; a NaN behind it is not seen
// witness: {"sizes": {"N": 8}, "set": {"0": [[2, "inf"], [5, "nan"]]}}
  %inf = arith.constant 0x7F800000 : f32
  %s:2 = scf.while (%i = %c0, %a = %z) : (index, f32) -> (index, f32) {
    %more = arith.cmpi ult, %i, %n : index
    %fin = arith.cmpf one, %a, %inf : f32
    %isnan = arith.cmpf uno, %a, %a : f32
    %go = arith.ori %fin, %isnan : i1
    %both = arith.andi %more, %go : i1
    scf.condition(%both) %i, %a : index, f32
  } do {
  ^bb0(%i: index, %a: f32):
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %b = arith.addf %a, %q : f32
    %i1 = arith.addi %i, %c1 : index
    scf.yield %i1, %b : index, f32
  }
  memref.store %s#1, %y[%c0] : memref<1xf32>

// ----- flushes-denormal-squares
// reject numeric: denormal
// why: squares below the smallest normal number are dropped
// witness: {"sizes": {"N": 2}, "values": {"0": [1e-20, 2e-20]}}
  %tiny = arith.constant 1.17549435e-38 : f32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
    %v = memref.load %x[%i] : memref<?xf32>
    %q = arith.mulf %v, %v : f32
    %small = arith.cmpf olt, %q, %tiny : f32
    %w = arith.select %small, %z, %q : f32
    %b = arith.addf %a, %w : f32
    scf.yield %b : f32
  }
  memref.store %s, %y[%c0] : memref<1xf32>
