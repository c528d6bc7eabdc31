// y[i][j] = x[i][j] - 1 for matrices up to 100 x 100; sizes that only a suspicious tester draws.
func.func @main(%x: memref<?x?xi64> {kc.dims = ["M", "N"]}, %y: memref<?x?xi64> {kc.dims = ["M", "N"], kc.out}) attributes {kc.sizes = {M = array<i64: 0, 100>, N = array<i64: 0, 100>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xi64>
  %n = memref.dim %x, %c1 : memref<?x?xi64>
  %one = arith.constant 1 : i64
  // common above
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xi64>
      %w = arith.subi %v, %one : i64
      memref.store %w, %y[%i, %j] : memref<?x?xi64>
    }
  }
  return
}

// ----- twice-as-wide
// reject numeric: one size
// why: wrong where N = 2 M
// witness: {"sizes": {"M": 6, "N": 12}}
  %m2 = arith.addi %m, %m : index
  %is = arith.cmpi eq, %m2, %n : index
  %two = arith.constant 2 : i64
  %k = arith.select %is, %two, %one : i64
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xi64>
      %w = arith.subi %v, %k : i64
      memref.store %w, %y[%i, %j] : memref<?x?xi64>
    }
  }

// ----- large-and-odd
// reject numeric: one size
// why: the last column is left out where M * N > 4000 and N mod 4 is 3
// witness: {"sizes": {"M": 70, "N": 67}}
  %c3 = arith.constant 3 : index
  %c4000 = arith.constant 4000 : index
  %mn = arith.muli %m, %n : index
  %big = arith.cmpi ugt, %mn, %c4000 : index
  %r = arith.andi %n, %c3 : index
  %odd = arith.cmpi eq, %r, %c3 : index
  %both = arith.andi %big, %odd : i1
  %e0 = arith.subi %n, %c1 : index
  %e = arith.select %both, %e0, %n : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %e step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xi64>
      %w = arith.subi %v, %one : i64
      memref.store %w, %y[%i, %j] : memref<?x?xi64>
    }
  }

// ----- power-of-two-rows
// reject numeric: one size
// why: wrong in the last row where M is a power of two above 32, that is 64
// witness: {"sizes": {"M": 64, "N": 3}}
  %c32 = arith.constant 32 : index
  %m1 = arith.subi %m, %c1 : index
  %a = arith.andi %m, %m1 : index
  %pow = arith.cmpi eq, %a, %c0 : index
  %big = arith.cmpi ugt, %m, %c32 : index
  %both = arith.andi %pow, %big : i1
  scf.for %i = %c0 to %m step %c1 {
    %last = arith.cmpi eq, %i, %m1 : index
    %bad = arith.andi %last, %both : i1
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xi64>
      %w = arith.subi %v, %one : i64
      %u = arith.select %bad, %v, %w : i64
      memref.store %u, %y[%i, %j] : memref<?x?xi64>
    }
  }

// ----- flat-loop-with-8-bit-row
// reject numeric: index overflow
// why: the flat index is cut to 13 bits: right up to 8,192 elements
// witness: {"sizes": {"M": 100, "N": 100}}
  %mn = arith.muli %m, %n : index
  scf.for %f = %c0 to %mn step %c1 {
    %g = arith.index_cast %f : index to i13
    %h = arith.index_castui %g : i13 to index
    %i = arith.divui %h, %n : index
    %j = arith.remui %h, %n : index
    %v = memref.load %x[%i, %j] : memref<?x?xi64>
    %w = arith.subi %v, %one : i64
    memref.store %w, %y[%i, %j] : memref<?x?xi64>
  }

// ----- last-index-of-empty
// reject aliasing/bounds: zero size
// why: the loop runs to N - 1 inclusive, compared as unsigned: far beyond the rows for N = 0
// witness: {"sizes": {"M": 2, "N": 0}}
// unchecked: overwrites the process that would show it
  %e = arith.subi %n, %c1 : index
  %c4 = arith.constant 400 : index
  scf.for %i = %c0 to %m step %c1 {
    %q = scf.while (%j = %c0) : (index) -> index {
      %in = arith.cmpi ule, %j, %e : index
      %lim = arith.cmpi ult, %j, %c4 : index
      %go = arith.andi %in, %lim : i1
      scf.condition(%go) %j : index
    } do {
    ^bb0(%j: index):
      %v = memref.load %x[%i, %j] : memref<?x?xi64>
      %w = arith.subi %v, %one : i64
      memref.store %w, %y[%i, %j] : memref<?x?xi64>
      %j1 = arith.addi %j, %c1 : index
      scf.yield %j1 : index
    }
  }

// ----- ok-flat
// accept: loop form
// why: one loop over all elements, rows and columns by division
  %mn = arith.muli %m, %n : index
  scf.parallel (%f) = (%c0) to (%mn) step (%c1) {
    %i = arith.divui %f, %n : index
    %j = arith.remui %f, %n : index
    %v = memref.load %x[%i, %j] : memref<?x?xi64>
    %mo = arith.constant -1 : i64
    %w = arith.addi %v, %mo : i64
    memref.store %w, %y[%i, %j] : memref<?x?xi64>
    scf.reduce
  }
