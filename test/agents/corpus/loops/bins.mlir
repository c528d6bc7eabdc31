// h[k] = how many x[i] have index k; indices beyond 0..B-1 are not counted; B bins.
func.func @main(%x: memref<?xi32> {kc.dims = ["N"]}, %h: memref<?xi32> {kc.dims = ["B"], kc.out}) attributes {kc.sizes = {B = array<i64: 1, 40>, N = array<i64: 0, 400>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  %b = memref.dim %h, %c0 : memref<?xi32>
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %bi = arith.index_cast %b : index to i32
  // common above
  scf.for %k = %c0 to %b step %c1 {
    memref.store %z, %h[%k] : memref<?xi32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %in = arith.cmpi ult, %v, %bi : i32
    scf.if %in {
      %k = arith.index_cast %v : i32 to index
      %o = memref.load %h[%k] : memref<?xi32>
      %p = arith.addi %o, %one : i32
      memref.store %p, %h[%k] : memref<?xi32>
    }
  }
  return
}

// ----- ok-atomic
// accept: atomic
// why: atomic additions of integers in a parallel loop
  scf.parallel (%k) = (%c0) to (%b) step (%c1) {
    memref.store %z, %h[%k] : memref<?xi32>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xi32>
    %in = arith.cmpi ult, %v, %bi : i32
    scf.if %in {
      %k = arith.index_cast %v : i32 to index
      %o = memref.atomic_rmw addi %one, %h[%k] : (i32, memref<?xi32>) -> i32
    }
    scf.reduce
  }

// ----- ok-bins-in-parallel
// accept: parallel
// why: each bin counts for itself
  scf.parallel (%k) = (%c0) to (%b) step (%c1) {
    %ki = arith.index_cast %k : index to i32
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (i32) {
      %v = memref.load %x[%i] : memref<?xi32>
      %e = arith.cmpi eq, %v, %ki : i32
      %w = arith.extui %e : i1 to i32
      %q = arith.addi %a, %w : i32
      scf.yield %q : i32
    }
    memref.store %s, %h[%k] : memref<?xi32>
    scf.reduce
  }

// ----- parallel-plain
// reject determinism: race
// why: parallel with plain loads and stores: repeated indices lose counts
// unchecked: a serial run does not show it
// witness: {"sizes": {"N": 20, "B": 3}}
  scf.for %k = %c0 to %b step %c1 {
    memref.store %z, %h[%k] : memref<?xi32>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xi32>
    %in = arith.cmpi ult, %v, %bi : i32
    scf.if %in {
      %k = arith.index_cast %v : i32 to index
      %o = memref.load %h[%k] : memref<?xi32>
      %p = arith.addi %o, %one : i32
      memref.store %p, %h[%k] : memref<?xi32>
    }
    scf.reduce
  }

// ----- byte-counters
// reject numeric: integer overflow
// why: counts in bytes: more than 255 of a kind
// witness: {"sizes": {"N": 400, "B": 1}, "fill": "zeros"}
  %t = memref.alloc(%b) : memref<?xi8>
  %z8 = arith.constant 0 : i8
  %one8 = arith.constant 1 : i8
  scf.for %k = %c0 to %b step %c1 {
    memref.store %z8, %t[%k] : memref<?xi8>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %in = arith.cmpi ult, %v, %bi : i32
    scf.if %in {
      %k = arith.index_cast %v : i32 to index
      %o = memref.load %t[%k] : memref<?xi8>
      %p = arith.addi %o, %one8 : i8
      memref.store %p, %t[%k] : memref<?xi8>
    }
  }
  scf.for %k = %c0 to %b step %c1 {
    %o = memref.load %t[%k] : memref<?xi8>
    %p = arith.extui %o : i8 to i32
    memref.store %p, %h[%k] : memref<?xi32>
  }
  memref.dealloc %t : memref<?xi8>

// ----- signed-comparison
// reject aliasing/bounds: negative integers
// why: a signed comparison lets negative indices through
// unchecked: writes anywhere
// witness: {"sizes": {"N": 2, "B": 3}, "values": {"0": [-1, 0]}}
  scf.for %k = %c0 to %b step %c1 {
    memref.store %z, %h[%k] : memref<?xi32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %in = arith.cmpi slt, %v, %bi : i32
    scf.if %in {
      %k = arith.index_cast %v : i32 to index
      %o = memref.load %h[%k] : memref<?xi32>
      %p = arith.addi %o, %one : i32
      memref.store %p, %h[%k] : memref<?xi32>
    }
  }

// ----- ok-extra-bin
// accept: memory
// why: a scratch with one more bin, into which everything else is counted
  %b1 = arith.addi %b, %c1 : index
  %t = memref.alloc(%b1) : memref<?xi32>
  scf.for %k = %c0 to %b1 step %c1 {
    memref.store %z, %t[%k] : memref<?xi32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %w = arith.minui %v, %bi : i32
    %k = arith.index_castui %w : i32 to index
    %o = memref.load %t[%k] : memref<?xi32>
    %p = arith.addi %o, %one : i32
    memref.store %p, %t[%k] : memref<?xi32>
  }
  %s = memref.subview %t[0] [%b] [1] : memref<?xi32> to memref<?xi32, strided<[1]>>
  memref.copy %s, %h : memref<?xi32, strided<[1]>> to memref<?xi32>
  memref.dealloc %t : memref<?xi32>

// ----- two-copies-merged-by-store
// reject numeric: repeated index
// why: two loads before two stores: a pair of equal indices counts once
// witness: {"sizes": {"N": 2, "B": 3}, "values": {"0": [1, 1]}}
  %c2 = arith.constant 2 : index
  %hn = arith.divui %n, %c2 : index
  scf.for %k = %c0 to %b step %c1 {
    memref.store %z, %h[%k] : memref<?xi32>
  }
  scf.for %q = %c0 to %hn step %c1 {
    %i = arith.muli %q, %c2 : index
    %i1 = arith.addi %i, %c1 : index
    %v = memref.load %x[%i] : memref<?xi32>
    %w = memref.load %x[%i1] : memref<?xi32>
    %in = arith.cmpi ult, %v, %bi : i32
    %jn = arith.cmpi ult, %w, %bi : i32
    %v0 = arith.select %in, %v, %z : i32
    %w0 = arith.select %jn, %w, %z : i32
    %k = arith.index_cast %v0 : i32 to index
    %l = arith.index_cast %w0 : i32 to index
    %ie = arith.extui %in : i1 to i32
    %je = arith.extui %jn : i1 to i32
    %o = memref.load %h[%k] : memref<?xi32>
    %p = memref.load %h[%l] : memref<?xi32>
    %o1 = arith.addi %o, %ie : i32
    memref.store %o1, %h[%k] : memref<?xi32>
    %same = arith.cmpi eq, %k, %l : index
    %never = arith.andi %same, %in : i1
    %p0 = arith.select %same, %p, %p : i32
    %p1 = arith.addi %p0, %je : i32
    memref.store %p1, %h[%l] : memref<?xi32>
  }
  %r = arith.muli %hn, %c2 : index
  scf.for %i = %r to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %in = arith.cmpi ult, %v, %bi : i32
    scf.if %in {
      %k = arith.index_cast %v : i32 to index
      %o = memref.load %h[%k] : memref<?xi32>
      %p = arith.addi %o, %one : i32
      memref.store %p, %h[%k] : memref<?xi32>
    }
  }
