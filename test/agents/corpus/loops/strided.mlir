// Column sums into a strided output; both buffers are views with unknown strides.
func.func @main(%x: memref<?x?xi32, strided<[?, ?], offset: ?>> {kc.dims = ["M", "N"]}, %y: memref<?xi32, strided<[?], offset: ?>> {kc.dims = ["N"], kc.out}) attributes {kc.sizes = {M = array<i64: 0, 30>, N = array<i64: 0, 30>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xi32, strided<[?, ?], offset: ?>>
  %n = memref.dim %x, %c1 : memref<?x?xi32, strided<[?, ?], offset: ?>>
  %z = arith.constant 0 : i32
  // common above
  scf.for %j = %c0 to %n step %c1 {
    %s = scf.for %i = %c0 to %m step %c1 iter_args(%a = %z) -> (i32) {
      %v = memref.load %x[%i, %j] : memref<?x?xi32, strided<[?, ?], offset: ?>>
      %b = arith.addi %a, %v : i32
      scf.yield %b : i32
    }
    memref.store %s, %y[%j] : memref<?xi32, strided<[?], offset: ?>>
  }
  return
}

// ----- output-taken-for-contiguous
// reject aliasing/bounds: layout
// why: the output's base pointer with stride 1
// witness: {"sizes": {"M": 3, "N": 5}}
  %q = memref.reinterpret_cast %y to offset: [0], sizes: [%n], strides: [1] : memref<?xi32, strided<[?], offset: ?>> to memref<?xi32>
  scf.for %j = %c0 to %n step %c1 {
    %s = scf.for %i = %c0 to %m step %c1 iter_args(%a = %z) -> (i32) {
      %v = memref.load %x[%i, %j] : memref<?x?xi32, strided<[?, ?], offset: ?>>
      %b = arith.addi %a, %v : i32
      scf.yield %b : i32
    }
    memref.store %s, %q[%j] : memref<?xi32>
  }

// ----- rows-taken-for-dense
// reject numeric: layout
// why: the input is read as M * N consecutive elements
// witness: {"sizes": {"M": 3, "N": 5}}
  %mn = arith.muli %m, %n : index
  %q = memref.reinterpret_cast %x to offset: [0], sizes: [%mn], strides: [1] : memref<?x?xi32, strided<[?, ?], offset: ?>> to memref<?xi32>
  scf.for %j = %c0 to %n step %c1 {
    %s = scf.for %i = %j to %mn step %n iter_args(%a = %z) -> (i32) {
      %v = memref.load %q[%i] : memref<?xi32>
      %b = arith.addi %a, %v : i32
      scf.yield %b : i32
    }
    memref.store %s, %y[%j] : memref<?xi32, strided<[?], offset: ?>>
  }

// ----- ok-strides-asked
// accept: layout
// why: the strides are taken from the view's metadata
  %base, %off, %sizes:2, %st:2 = memref.extract_strided_metadata %x : memref<?x?xi32, strided<[?, ?], offset: ?>> -> memref<i32>, index, index, index, index, index
  scf.for %j = %c0 to %n step %c1 {
    %k = arith.muli %j, %st#1 : index
    %o = arith.addi %off, %k : index
    %col = memref.reinterpret_cast %base to offset: [%o], sizes: [%m], strides: [%st#0] : memref<i32> to memref<?xi32, strided<[?], offset: ?>>
    %s = scf.for %i = %c0 to %m step %c1 iter_args(%a = %z) -> (i32) {
      %v = memref.load %col[%i] : memref<?xi32, strided<[?], offset: ?>>
      %b = arith.addi %v, %a : i32
      scf.yield %b : i32
    }
    memref.store %s, %y[%j] : memref<?xi32, strided<[?], offset: ?>>
  }

// ----- ok-row-by-row
// accept: loop order
// why: rows are added into the output; integer sums may be taken in any order
  scf.for %j = %c0 to %n step %c1 {
    memref.store %z, %y[%j] : memref<?xi32, strided<[?], offset: ?>>
  }
  scf.for %i = %c0 to %m step %c1 {
    scf.parallel (%j) = (%c0) to (%n) step (%c1) {
      %v = memref.load %x[%i, %j] : memref<?x?xi32, strided<[?, ?], offset: ?>>
      %a = memref.load %y[%j] : memref<?xi32, strided<[?], offset: ?>>
      %b = arith.addi %a, %v : i32
      memref.store %b, %y[%j] : memref<?xi32, strided<[?], offset: ?>>
      scf.reduce
    }
  }

// ----- rows-in-parallel
// reject determinism: race
// why: the rows are the parallel dimension, and all add into one output
  scf.for %j = %c0 to %n step %c1 {
    memref.store %z, %y[%j] : memref<?xi32, strided<[?], offset: ?>>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%m, %n) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x?xi32, strided<[?, ?], offset: ?>>
    %a = memref.load %y[%j] : memref<?xi32, strided<[?], offset: ?>>
    %b = arith.addi %a, %v : i32
    memref.store %b, %y[%j] : memref<?xi32, strided<[?], offset: ?>>
    scf.reduce
  }
// schedule
  scf.for %j = %c0 to %n step %c1 {
    memref.store %z, %y[%j] : memref<?xi32, strided<[?], offset: ?>>
  }

// ----- ok-atomic-rows
// accept: atomic
// why: the same with integer atomics
  scf.for %j = %c0 to %n step %c1 {
    memref.store %z, %y[%j] : memref<?xi32, strided<[?], offset: ?>>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%m, %n) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x?xi32, strided<[?, ?], offset: ?>>
    %o = memref.atomic_rmw addi %v, %y[%j] : (i32, memref<?xi32, strided<[?], offset: ?>>) -> i32
    scf.reduce
  }
