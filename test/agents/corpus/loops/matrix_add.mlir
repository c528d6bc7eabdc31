// c = a + b per element of two matrices; the sizes are free of each other.
func.func @main(%a: memref<?x?xf32> {kc.dims = ["M", "N"]}, %b: memref<?x?xf32> {kc.dims = ["M", "N"]}, %c: memref<?x?xf32> {kc.dims = ["M", "N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %a, %c0 : memref<?x?xf32>
  %n = memref.dim %a, %c1 : memref<?x?xf32>
  // common above
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %a[%i, %j] : memref<?x?xf32>
      %v = memref.load %b[%i, %j] : memref<?x?xf32>
      %s = arith.addf %u, %v : f32
      memref.store %s, %c[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// ----- rows-one-more-than-columns
// reject numeric: small size
// why: the last row is left out where M = N + 1
// witness: {"sizes": {"M": 6, "N": 5}}
  %n1 = arith.addi %n, %c1 : index
  %is = arith.cmpi eq, %m, %n1 : index
  %m1 = arith.subi %m, %c1 : index
  %me = arith.select %is, %m1, %m : index
  scf.for %i = %c0 to %me step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %a[%i, %j] : memref<?x?xf32>
      %v = memref.load %b[%i, %j] : memref<?x?xf32>
      %s = arith.addf %u, %v : f32
      memref.store %s, %c[%i, %j] : memref<?x?xf32>
    }
  }

// ----- twice-as-wide
// reject numeric: hard-coded shape
// why: where N = 2M the halves of a row are exchanged
// witness: {"sizes": {"M": 9, "N": 18}}
  %m2 = arith.addi %m, %m : index
  %is = arith.cmpi eq, %m2, %n : index
  %z = arith.cmpi ne, %n, %c0 : index
  %h = arith.select %is, %m, %c0 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %k0 = arith.addi %j, %h : index
      %k = arith.remui %k0, %n : index
      %u = memref.load %a[%i, %k] : memref<?x?xf32>
      %v = memref.load %b[%i, %j] : memref<?x?xf32>
      %s = arith.addf %u, %v : f32
      memref.store %s, %c[%i, %j] : memref<?x?xf32>
    }
  }

// ----- corner-of-both-tails
// reject numeric: remainder
// why: tiles of 4 by 8; the corner is left out where both rests are as large as can be
// witness: {"sizes": {"M": 7, "N": 15}}
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %rm = arith.remui %m, %c4 : index
  %rn = arith.remui %n, %c8 : index
  %e3 = arith.cmpi eq, %rm, %c3 : index
  %e7 = arith.cmpi eq, %rn, %c7 : index
  %both = arith.andi %e3, %e7 : i1
  %lm = arith.subi %m, %c1 : index
  %ln = arith.subi %n, %c1 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %li = arith.cmpi eq, %i, %lm : index
      %lj = arith.cmpi eq, %j, %ln : index
      %cor = arith.andi %li, %lj : i1
      %no = arith.andi %cor, %both : i1
      %u = memref.load %a[%i, %j] : memref<?x?xf32>
      %v = memref.load %b[%i, %j] : memref<?x?xf32>
      %s = arith.addf %u, %v : f32
      %t = arith.select %no, %u, %s : f32
      memref.store %t, %c[%i, %j] : memref<?x?xf32>
    }
  }

// ----- thirteen-by-twenty-nine
// reject numeric: one size
// why: wrong at M = 13 and N = 29 only
// witness: {"sizes": {"M": 13, "N": 29}}
  %c13 = arith.constant 13 : index
  %c29 = arith.constant 29 : index
  %e3 = arith.cmpi eq, %m, %c13 : index
  %e7 = arith.cmpi eq, %n, %c29 : index
  %both = arith.andi %e3, %e7 : i1
  %st = arith.select %both, %c1, %c0 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %k0 = arith.addi %j, %st : index
      %k = arith.remui %k0, %n : index
      %u = memref.load %a[%i, %k] : memref<?x?xf32>
      %v = memref.load %b[%i, %j] : memref<?x?xf32>
      %s = arith.addf %u, %v : f32
      memref.store %s, %c[%i, %j] : memref<?x?xf32>
    }
  }

// ----- flat-blocks-rest-of-eleven
// reject numeric: remainder
// why: flat blocks of 16 over M * N elements; a rest of 11 to 13 is not done
// witness: {"sizes": {"M": 3, "N": 9}}
  %c11 = arith.constant 11 : index
  %c16 = arith.constant 16 : index
  %c3 = arith.constant 3 : index
  %mn = arith.muli %m, %n : index
  %r = arith.remui %mn, %c16 : index
  %d = arith.subi %r, %c11 : index
  %odd = arith.cmpi ult, %d, %c3 : index
  %b0 = arith.subi %mn, %r : index
  %e = arith.select %odd, %b0, %mn : index
  scf.for %p = %c0 to %e step %c1 {
    %i = arith.divui %p, %n : index
    %j = arith.remui %p, %n : index
    %u = memref.load %a[%i, %j] : memref<?x?xf32>
    %v = memref.load %b[%i, %j] : memref<?x?xf32>
    %s = arith.addf %u, %v : f32
    memref.store %s, %c[%i, %j] : memref<?x?xf32>
  }

// ----- last-row-of-a-long-column
// reject numeric: one size
// why: where M is more than twice N plus 20, the last row gets a twice
// witness: {"sizes": {"M": 40, "N": 3}}
  %c20 = arith.constant 20 : index
  %n2 = arith.addi %n, %n : index
  %n3 = arith.addi %n2, %c20 : index
  %is = arith.cmpi ugt, %m, %n3 : index
  %lm = arith.subi %m, %c1 : index
  scf.for %i = %c0 to %m step %c1 {
    %li = arith.cmpi eq, %i, %lm : index
    %no = arith.andi %li, %is : i1
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %a[%i, %j] : memref<?x?xf32>
      %v0 = memref.load %b[%i, %j] : memref<?x?xf32>
      %v = arith.select %no, %u, %v0 : f32
      %s = arith.addf %u, %v : f32
      memref.store %s, %c[%i, %j] : memref<?x?xf32>
    }
  }

// ----- coprime-walk
// reject numeric: hard-coded shape
// why: walks over the flat index in steps of 5: all elements are met only where 5 does not divide M * N
// witness: {"sizes": {"M": 5, "N": 3}}
  %c5 = arith.constant 5 : index
  %mn = arith.muli %m, %n : index
  scf.for %p0 = %c0 to %mn step %c1 {
    %p1 = arith.muli %p0, %c5 : index
    %p = arith.remui %p1, %mn : index
    %i = arith.divui %p, %n : index
    %j = arith.remui %p, %n : index
    %u = memref.load %a[%i, %j] : memref<?x?xf32>
    %v = memref.load %b[%i, %j] : memref<?x?xf32>
    %s = arith.addf %u, %v : f32
    memref.store %s, %c[%i, %j] : memref<?x?xf32>
  }

// ----- coprime-walk-eleven-thirteen
// reject numeric: hard-coded shape
// why: steps of 143: all elements are met only where neither 11 nor 13 divides M * N, which is shown by few sizes
// witness: {"sizes": {"M": 3, "N": 26}}
  %c143 = arith.constant 143 : index
  %mn = arith.muli %m, %n : index
  scf.for %p0 = %c0 to %mn step %c1 {
    %p1 = arith.muli %p0, %c143 : index
    %p = arith.remui %p1, %mn : index
    %i = arith.divui %p, %n : index
    %j = arith.remui %p, %n : index
    %u = memref.load %a[%i, %j] : memref<?x?xf32>
    %v = memref.load %b[%i, %j] : memref<?x?xf32>
    %s = arith.addf %u, %v : f32
    memref.store %s, %c[%i, %j] : memref<?x?xf32>
  }

// ----- ok-coprime-walk
// accept: loop order
// why: steps of 67, a prime larger than both sizes: every element is met once
  %c67 = arith.constant 67 : index
  %mn = arith.muli %m, %n : index
  scf.for %p0 = %c0 to %mn step %c1 {
    %p1 = arith.muli %p0, %c67 : index
    %p = arith.remui %p1, %mn : index
    %i = arith.divui %p, %n : index
    %j = arith.remui %p, %n : index
    %u = memref.load %a[%i, %j] : memref<?x?xf32>
    %v = memref.load %b[%i, %j] : memref<?x?xf32>
    %s = arith.addf %v, %u : f32
    memref.store %s, %c[%i, %j] : memref<?x?xf32>
  }

// ----- ok-affine-tiles
// accept: tiling
// why: affine tiles of 5 by 7 with minima at the ends, columns outside
  affine.for %jj = 0 to %n step 7 {
    affine.for %ii = 0 to %m step 5 {
      affine.for %i = affine_map<(d0) -> (d0)>(%ii) to min affine_map<(d0)[s0] -> (d0 + 5, s0)>(%ii)[%m] {
        affine.for %j = affine_map<(d0) -> (d0)>(%jj) to min affine_map<(d0)[s0] -> (d0 + 7, s0)>(%jj)[%n] {
          %u = affine.load %a[%i, %j] : memref<?x?xf32>
          %v = affine.load %b[%i, %j] : memref<?x?xf32>
          %s = arith.addf %u, %v : f32
          affine.store %s, %c[%i, %j] : memref<?x?xf32>
        }
      }
    }
  }

// ----- ok-delinearized
// accept: loop form
// why: one loop, the index taken apart by affine.delinearize_index
  %mn = arith.muli %m, %n : index
  scf.for %p = %c0 to %mn step %c1 {
    %ij:2 = affine.delinearize_index %p into (%m, %n) : index, index
    %u = memref.load %a[%ij#0, %ij#1] : memref<?x?xf32>
    %v = memref.load %b[%ij#0, %ij#1] : memref<?x?xf32>
    %s = arith.addf %u, %v : f32
    memref.store %s, %c[%ij#0, %ij#1] : memref<?x?xf32>
  }

// ----- race-between-two-rows
// reject determinism: race
// why: rows in parallel; row 3 also writes the first element of row 7, a value that is right
// witness: {"sizes": {"M": 9, "N": 4}}
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %more = arith.cmpi ugt, %m, %c7 : index
  %some = arith.cmpi ne, %n, %c0 : index
  %ok = arith.andi %more, %some : i1
  scf.parallel (%i) = (%c0) to (%m) step (%c1) {
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %a[%i, %j] : memref<?x?xf32>
      %v = memref.load %b[%i, %j] : memref<?x?xf32>
      %s = arith.addf %u, %v : f32
      memref.store %s, %c[%i, %j] : memref<?x?xf32>
    }
    %three = arith.cmpi eq, %i, %c3 : index
    %go = arith.andi %three, %ok : i1
    scf.if %go {
      %u = memref.load %a[%c7, %c0] : memref<?x?xf32>
      %v = memref.load %b[%c7, %c0] : memref<?x?xf32>
      %s = arith.addf %u, %v : f32
      memref.store %s, %c[%c7, %c0] : memref<?x?xf32>
    }
    scf.reduce
  }
// schedule
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %a[%i, %j] : memref<?x?xf32>
      memref.store %u, %c[%i, %j] : memref<?x?xf32>
    }
  }

// ----- race-where-equal-values
// reject determinism: race
// why: rows in parallel; a row in which a = b = 2.5 in the first place also writes the first element of the next one
// witness: {"sizes": {"M": 9, "N": 4}, "set": {"0": [[8, 2.5]], "1": [[8, 2.5]]}}
  %k = arith.constant 2.5 : f32
  %some = arith.cmpi ne, %n, %c0 : index
  scf.parallel (%i) = (%c0) to (%m) step (%c1) {
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %a[%i, %j] : memref<?x?xf32>
      %v = memref.load %b[%i, %j] : memref<?x?xf32>
      %s = arith.addf %u, %v : f32
      memref.store %s, %c[%i, %j] : memref<?x?xf32>
    }
    %i1 = arith.addi %i, %c1 : index
    %last = arith.cmpi ult, %i1, %m : index
    %in = arith.andi %some, %last : i1
    scf.if %in {
      %u = memref.load %a[%i, %c0] : memref<?x?xf32>
      %v = memref.load %b[%i, %c0] : memref<?x?xf32>
      %eu = arith.cmpf oeq, %u, %k : f32
      %ev = arith.cmpf oeq, %v, %k : f32
      %e = arith.andi %eu, %ev : i1
      scf.if %e {
        %w = memref.load %a[%i1, %c0] : memref<?x?xf32>
        %x = memref.load %b[%i1, %c0] : memref<?x?xf32>
        %s = arith.addf %w, %x : f32
        memref.store %s, %c[%i1, %c0] : memref<?x?xf32>
      }
    }
    scf.reduce
  }
// schedule
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %u = memref.load %a[%i, %j] : memref<?x?xf32>
      memref.store %u, %c[%i, %j] : memref<?x?xf32>
    }
  }
