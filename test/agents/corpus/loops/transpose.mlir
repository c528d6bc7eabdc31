// y = transpose of x.
func.func @main(%x: memref<?x?xf64> {kc.dims = ["M", "N"]}, %y: memref<?x?xf64> {kc.dims = ["N", "M"], kc.out}) attributes {kc.sizes = {M = array<i64: 0, 40>, N = array<i64: 0, 40>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf64>
  %n = memref.dim %x, %c1 : memref<?x?xf64>
  // common above
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xf64>
      memref.store %v, %y[%j, %i] : memref<?x?xf64>
    }
  }
  return
}

// ----- tiles-of-full-size
// reject aliasing/bounds: out-of-bounds write
// why: tiles of 8 by 8 without a remainder check
// witness: {"sizes": {"M": 9, "N": 10}}
  %c8 = arith.constant 8 : index
  scf.for %ti = %c0 to %m step %c8 {
    scf.for %tj = %c0 to %n step %c8 {
      %ei = arith.addi %ti, %c8 : index
      %ej = arith.addi %tj, %c8 : index
      scf.for %i = %ti to %ei step %c1 {
        scf.for %j = %tj to %ej step %c1 {
          %v = memref.load %x[%i, %j] : memref<?x?xf64>
          memref.store %v, %y[%j, %i] : memref<?x?xf64>
        }
      }
    }
  }

// ----- rows-for-columns-in-the-tail
// reject numeric: remainder
// why: the last tile's width is taken from the other dimension
// witness: {"sizes": {"M": 20, "N": 11}}
  %c8 = arith.constant 8 : index
  scf.for %ti = %c0 to %m step %c8 {
    scf.for %tj = %c0 to %n step %c8 {
      %ei0 = arith.addi %ti, %c8 : index
      %ej0 = arith.addi %tj, %c8 : index
      %ei1 = arith.minui %ei0, %n : index
      %ei = arith.minui %ei1, %m : index
      %ej = arith.minui %ej0, %n : index
      scf.for %i = %ti to %ei step %c1 {
        scf.for %j = %tj to %ej step %c1 {
          %v = memref.load %x[%i, %j] : memref<?x?xf64>
          memref.store %v, %y[%j, %i] : memref<?x?xf64>
        }
      }
    }
  }

// ----- ok-tiled-parallel
// accept: parallel
// why: tiles of 8 by 8 in parallel, cut off at both edges
  %c8 = arith.constant 8 : index
  scf.parallel (%ti, %tj) = (%c0, %c0) to (%m, %n) step (%c8, %c8) {
    %ei0 = arith.addi %ti, %c8 : index
    %ej0 = arith.addi %tj, %c8 : index
    %ei = arith.minui %ei0, %m : index
    %ej = arith.minui %ej0, %n : index
    scf.for %j = %tj to %ej step %c1 {
      scf.for %i = %ti to %ei step %c1 {
        %v = memref.load %x[%i, %j] : memref<?x?xf64>
        memref.store %v, %y[%j, %i] : memref<?x?xf64>
      }
    }
    scf.reduce
  }

// ----- copied-when-square
// reject numeric: transposed result
// why: a square matrix is copied as it is
// witness: {"sizes": {"M": 6, "N": 6}}
  %sq = arith.cmpi eq, %m, %n : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xf64>
      %a = arith.select %sq, %i, %j : index
      %b = arith.select %sq, %j, %i : index
      memref.store %v, %y[%a, %b] : memref<?x?xf64>
    }
  }

// ----- ok-view
// accept: layout
// why: a transposed view of the output, filled by one copy
  %t = memref.transpose %y (i, j) -> (j, i) : memref<?x?xf64> to memref<?x?xf64, affine_map<(d0, d1)[s0] -> (d1 * s0 + d0)>>
  memref.copy %x, %t : memref<?x?xf64> to memref<?x?xf64, affine_map<(d0, d1)[s0] -> (d1 * s0 + d0)>>

// ----- flat-i8-index
// reject numeric: index overflow
// why: the flat index is computed in 10 bits: right up to 1,024 elements
// witness: {"sizes": {"M": 40, "N": 30}}
  %mn = arith.muli %m, %n : index
  %mask = arith.constant 1023 : index
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %a = arith.muli %j, %m : index
      %b = arith.addi %a, %i : index
      %k = arith.andi %b, %mask : index
      %r = arith.divui %k, %m : index
      %s = arith.remui %k, %m : index
      %v = memref.load %x[%i, %j] : memref<?x?xf64>
      memref.store %v, %y[%r, %s] : memref<?x?xf64>
    }
  }
