// C = A B, each element summed in the order of k.
func.func @main(%a: memref<?x?xf32> {kc.dims = ["M", "K"]}, %b: memref<?x?xf32> {kc.dims = ["K", "N"]}, %c: memref<?x?xf32> {kc.dims = ["M", "N"], kc.out}) attributes {kc.sizes = {M = array<i64: 0, 40>, N = array<i64: 0, 40>, K = array<i64: 0, 40>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %k = memref.dim %a, %c1 : memref<?x?xf32>
  %n = memref.dim %b, %c1 : memref<?x?xf32>
  %z = arith.constant 0.0 : f32
  // common above
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %s = scf.for %p = %c0 to %k step %c1 iter_args(%t = %z) -> (f32) {
        %u = memref.load %a[%i, %p] : memref<?x?xf32>
        %v = memref.load %b[%p, %j] : memref<?x?xf32>
        %w = arith.mulf %u, %v : f32
        %r = arith.addf %t, %w : f32
        scf.yield %r : f32
      }
      memref.store %s, %c[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// ----- first-k-peeled
// reject numeric: zero size
// why: the first product starts the sum, and nothing is written for K = 0
// witness: {"sizes": {"M": 3, "N": 2, "K": 0}}
  scf.for %p = %c0 to %k step %c1 {
    %first = arith.cmpi eq, %p, %c0 : index
    scf.for %i = %c0 to %m step %c1 {
      %u = memref.load %a[%i, %p] : memref<?x?xf32>
      scf.for %j = %c0 to %n step %c1 {
        %v = memref.load %b[%p, %j] : memref<?x?xf32>
        %w = arith.mulf %u, %v : f32
        %o = memref.load %c[%i, %j] : memref<?x?xf32>
        %o1 = arith.select %first, %z, %o : f32
        %r = arith.addf %o1, %w : f32
        memref.store %r, %c[%i, %j] : memref<?x?xf32>
      }
    }
  }

// ----- ok-interchanged
// accept: loop order
// why: k outermost; each element still sums in the order of k
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %z, %c[%i, %j] : memref<?x?xf32>
    }
  }
  scf.for %p = %c0 to %k step %c1 {
    scf.for %i = %c0 to %m step %c1 {
      %u = memref.load %a[%i, %p] : memref<?x?xf32>
      scf.for %j = %c0 to %n step %c1 {
        %v = memref.load %b[%p, %j] : memref<?x?xf32>
        %w = arith.mulf %u, %v : f32
        %o = memref.load %c[%i, %j] : memref<?x?xf32>
        %r = arith.addf %o, %w : f32
        memref.store %r, %c[%i, %j] : memref<?x?xf32>
      }
    }
  }

// ----- parallel-over-k
// reject determinism: race
// why: the loop over k is the parallel one: updates of an element are lost
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %z, %c[%i, %j] : memref<?x?xf32>
    }
  }
  scf.parallel (%p) = (%c0) to (%k) step (%c1) {
    scf.for %i = %c0 to %m step %c1 {
      %u = memref.load %a[%i, %p] : memref<?x?xf32>
      scf.for %j = %c0 to %n step %c1 {
        %v = memref.load %b[%p, %j] : memref<?x?xf32>
        %w = arith.mulf %u, %v : f32
        %o = memref.load %c[%i, %j] : memref<?x?xf32>
        %r = arith.addf %o, %w : f32
        memref.store %r, %c[%i, %j] : memref<?x?xf32>
      }
    }
    scf.reduce
  }
// schedule
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      memref.store %z, %c[%i, %j] : memref<?x?xf32>
    }
  }

// ----- ok-parallel-two-dims
// accept: parallel
// why: one iteration per element, in steps of rows and columns
  %c3 = arith.constant 3 : index
  scf.parallel (%ti, %j) = (%c0, %c0) to (%m, %n) step (%c3, %c1) {
    %e = arith.addi %ti, %c3 : index
    %hi = arith.minui %e, %m : index
    scf.for %i = %ti to %hi step %c1 {
      %s = scf.for %p = %c0 to %k step %c1 iter_args(%t = %z) -> (f32) {
        %u = memref.load %a[%i, %p] : memref<?x?xf32>
        %v = memref.load %b[%p, %j] : memref<?x?xf32>
        %w = arith.mulf %v, %u : f32
        %r = arith.addf %w, %t : f32
        scf.yield %r : f32
      }
      memref.store %s, %c[%i, %j] : memref<?x?xf32>
    }
    scf.reduce
  }

// ----- tile-remainder-rows
// reject numeric: remainder
// why: rows in tiles of 4; the last M % 4 rows are never written
// witness: {"sizes": {"M": 6, "N": 8, "K": 8}}
  %c4 = arith.constant 4 : index
  %q = arith.divui %m, %c4 : index
  %mm = arith.muli %q, %c4 : index
  scf.for %ti = %c0 to %mm step %c4 {
    %e = arith.addi %ti, %c4 : index
    scf.for %i = %ti to %e step %c1 {
      scf.for %j = %c0 to %n step %c1 {
        %s = scf.for %p = %c0 to %k step %c1 iter_args(%t = %z) -> (f32) {
          %u = memref.load %a[%i, %p] : memref<?x?xf32>
          %v = memref.load %b[%p, %j] : memref<?x?xf32>
          %w = arith.mulf %u, %v : f32
          %r = arith.addf %t, %w : f32
          scf.yield %r : f32
        }
        memref.store %s, %c[%i, %j] : memref<?x?xf32>
      }
    }
  }

// ----- square-shortcut
// reject numeric: transposed result
// why: where M = N the result is written transposed
// witness: {"sizes": {"M": 7, "N": 7, "K": 3}}
  %sq = arith.cmpi eq, %m, %n : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %s = scf.for %p = %c0 to %k step %c1 iter_args(%t = %z) -> (f32) {
        %u = memref.load %a[%i, %p] : memref<?x?xf32>
        %v = memref.load %b[%p, %j] : memref<?x?xf32>
        %w = arith.mulf %u, %v : f32
        %r = arith.addf %t, %w : f32
        scf.yield %r : f32
      }
      %i2 = arith.select %sq, %j, %i : index
      %j2 = arith.select %sq, %i, %j : index
      memref.store %s, %c[%i2, %j2] : memref<?x?xf32>
    }
  }

// ----- one-more-row-than-columns
// reject numeric: one size
// why: wrong where M = N + 1 alone: the last row is written over by the one before
// witness: {"sizes": {"M": 8, "N": 7, "K": 3}}
  %n1 = arith.addi %n, %c1 : index
  %odd = arith.cmpi eq, %m, %n1 : index
  scf.for %i = %c0 to %m step %c1 {
    %last = arith.cmpi eq, %i, %n : index
    %both = arith.andi %odd, %last : i1
    %im = arith.subi %i, %c1 : index
    %nz = arith.cmpi ne, %i, %c0 : index
    %both2 = arith.andi %both, %nz : i1
    %ir = arith.select %both2, %im, %i : index
    scf.for %j = %c0 to %n step %c1 {
      %s = scf.for %p = %c0 to %k step %c1 iter_args(%t = %z) -> (f32) {
        %u = memref.load %a[%ir, %p] : memref<?x?xf32>
        %v = memref.load %b[%p, %j] : memref<?x?xf32>
        %w = arith.mulf %u, %v : f32
        %r = arith.addf %t, %w : f32
        scf.yield %r : f32
      }
      memref.store %s, %c[%i, %j] : memref<?x?xf32>
    }
  }

// ----- skips-zero-factors
// reject numeric: nan/inf
// why: rows of A that are zero are skipped; 0 * inf is NaN
// witness: {"set": {"0": [[0, 0.0]], "1": [[0, "inf"]]}}
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %s = scf.for %p = %c0 to %k step %c1 iter_args(%t = %z) -> (f32) {
        %u = memref.load %a[%i, %p] : memref<?x?xf32>
        %zero = arith.cmpf oeq, %u, %z : f32
        %r = scf.if %zero -> (f32) {
          scf.yield %t : f32
        } else {
          %v = memref.load %b[%p, %j] : memref<?x?xf32>
          %w = arith.mulf %u, %v : f32
          %r1 = arith.addf %t, %w : f32
          scf.yield %r1 : f32
        }
        scf.yield %r : f32
      }
      memref.store %s, %c[%i, %j] : memref<?x?xf32>
    }
  }

// ----- k-tile-of-8-unpadded
// reject aliasing/bounds: out-of-bounds read
// why: B is read in rows of 8 columns; at the end of the last row that is outside (the surplus lanes are not stored)
// witness: {"sizes": {"M": 2, "N": 3, "K": 5}}
  %c8 = arith.constant 8 : index
  %zv = arith.constant dense<0.0> : vector<8xf32>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c8 {
      %s = scf.for %p = %c0 to %k step %c1 iter_args(%t = %zv) -> (vector<8xf32>) {
        %u = memref.load %a[%i, %p] : memref<?x?xf32>
        %ub = vector.broadcast %u : f32 to vector<8xf32>
        %v = vector.load %b[%p, %j] : memref<?x?xf32>, vector<8xf32>
        %w = arith.mulf %ub, %v : vector<8xf32>
        %r = arith.addf %t, %w : vector<8xf32>
        scf.yield %r : vector<8xf32>
      }
      %left = arith.subi %n, %j : index
      %mask = vector.create_mask %left : vector<8xi1>
      vector.maskedstore %c[%i, %j], %mask, %s : memref<?x?xf32>, vector<8xi1>, vector<8xf32>
    }
  }
// schedule
  %b8 = memref.load %b[%c0, %c0] : memref<?x?xf32>
  memref.store %b8, %b[%k, %c0] : memref<?x?xf32>

// ----- ok-masked-columns
// accept: masked tail
// why: eight columns at a time under a mask, rows of A broadcast
  %c8 = arith.constant 8 : index
  %zv = arith.constant dense<0.0> : vector<8xf32>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c8 {
      %left = arith.subi %n, %j : index
      %mask = vector.create_mask %left : vector<8xi1>
      %s = scf.for %p = %c0 to %k step %c1 iter_args(%t = %zv) -> (vector<8xf32>) {
        %u = memref.load %a[%i, %p] : memref<?x?xf32>
        %ub = vector.broadcast %u : f32 to vector<8xf32>
        %v = vector.maskedload %b[%p, %j], %mask, %zv : memref<?x?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
        %w = arith.mulf %ub, %v : vector<8xf32>
        %r = arith.addf %t, %w : vector<8xf32>
        scf.yield %r : vector<8xf32>
      }
      vector.maskedstore %c[%i, %j], %mask, %s : memref<?x?xf32>, vector<8xi1>, vector<8xf32>
    }
  }

// ----- fma-vector
// reject numeric: contraction
// why: vector.fma rounds once; contraction is not granted
  %c8 = arith.constant 8 : index
  %zv = arith.constant dense<0.0> : vector<8xf32>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c8 {
      %left = arith.subi %n, %j : index
      %mask = vector.create_mask %left : vector<8xi1>
      %s = scf.for %p = %c0 to %k step %c1 iter_args(%t = %zv) -> (vector<8xf32>) {
        %u = memref.load %a[%i, %p] : memref<?x?xf32>
        %ub = vector.broadcast %u : f32 to vector<8xf32>
        %v = vector.maskedload %b[%p, %j], %mask, %zv : memref<?x?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
        %r = vector.fma %ub, %v, %t : vector<8xf32>
        scf.yield %r : vector<8xf32>
      }
      vector.maskedstore %c[%i, %j], %mask, %s : memref<?x?xf32>, vector<8xi1>, vector<8xf32>
    }
  }
