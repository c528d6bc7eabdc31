// p[i] = number of elements of the sorted table that are less than q[i] (lower bound); tables up to 200.
func.func @main(%t: memref<?xi32> {kc.dims = ["T"]}, %q: memref<?xi32> {kc.dims = ["N"]}, %p: memref<?xi32> {kc.dims = ["N"], kc.out}) attributes {kc.facts = ["sorted(arg0)"], kc.sizes = {T = array<i64: 0, 200>, N = array<i64: 0, 40>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %t, %c0 : memref<?xi32>
  %n = memref.dim %q, %c0 : memref<?xi32>
  %z = arith.constant 0 : i32
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %q[%i] : memref<?xi32>
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%a = %z) -> (i32) {
      %v = memref.load %t[%j] : memref<?xi32>
      %l = arith.cmpi slt, %v, %x : i32
      %e = arith.extui %l : i1 to i32
      %b = arith.addi %a, %e : i32
      scf.yield %b : i32
    }
    memref.store %s, %p[%i] : memref<?xi32>
  }
  return
}

// ----- ok-binary-search
// accept: granted assumption
// unchecked: the harness draws no sorted tables
// why: the table is sorted: halves
// assumes: sorted(arg0)
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %q[%i] : memref<?xi32>
    %r:2 = scf.while (%lo = %c0, %hi = %m) : (index, index) -> (index, index) {
      %go = arith.cmpi ult, %lo, %hi : index
      scf.condition(%go) %lo, %hi : index, index
    } do {
    ^bb0(%lo: index, %hi: index):
      %s = arith.addi %lo, %hi : index
      %mid = arith.shrui %s, %c1 : index
      %v = memref.load %t[%mid] : memref<?xi32>
      %l = arith.cmpi slt, %v, %x : i32
      %m1 = arith.addi %mid, %c1 : index
      %lo2 = arith.select %l, %m1, %lo : index
      %hi2 = arith.select %l, %hi, %mid : index
      scf.yield %lo2, %hi2 : index, index
    }
    %s = arith.index_cast %r#0 : index to i32
    memref.store %s, %p[%i] : memref<?xi32>
  }

// ----- upper-bound
// reject numeric: tie-break
// why: less or equal: elements that are equal are counted
// witness: {"sizes": {"T": 3, "N": 1}, "values": {"0": [1, 2, 3], "1": [2]}}
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %q[%i] : memref<?xi32>
    %r:2 = scf.while (%lo = %c0, %hi = %m) : (index, index) -> (index, index) {
      %go = arith.cmpi ult, %lo, %hi : index
      scf.condition(%go) %lo, %hi : index, index
    } do {
    ^bb0(%lo: index, %hi: index):
      %s = arith.addi %lo, %hi : index
      %mid = arith.shrui %s, %c1 : index
      %v = memref.load %t[%mid] : memref<?xi32>
      %l = arith.cmpi sle, %v, %x : i32
      %m1 = arith.addi %mid, %c1 : index
      %lo2 = arith.select %l, %m1, %lo : index
      %hi2 = arith.select %l, %hi, %mid : index
      scf.yield %lo2, %hi2 : index, index
    }
    %s = arith.index_cast %r#0 : index to i32
    memref.store %s, %p[%i] : memref<?xi32>
  }

// ----- seven-rounds
// reject numeric: hard-coded bound
// why: seven rounds of halving are enough for 127 elements
// witness: {"sizes": {"T": 200, "N": 1}, "fill": "equal"}
// unchecked: the harness draws no sorted tables
  %c7 = arith.constant 7 : index
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %q[%i] : memref<?xi32>
    %r:2 = scf.for %k = %c0 to %c7 step %c1 iter_args(%lo = %c0, %hi = %m) -> (index, index) {
      %go = arith.cmpi ult, %lo, %hi : index
      %lo3, %hi3 = scf.if %go -> (index, index) {
        %s = arith.addi %lo, %hi : index
        %mid = arith.shrui %s, %c1 : index
        %v = memref.load %t[%mid] : memref<?xi32>
        %l = arith.cmpi slt, %v, %x : i32
        %m1 = arith.addi %mid, %c1 : index
        %lo2 = arith.select %l, %m1, %lo : index
        %hi2 = arith.select %l, %hi, %mid : index
        scf.yield %lo2, %hi2 : index, index
      } else {
        scf.yield %lo, %hi : index, index
      }
      scf.yield %lo3, %hi3 : index, index
    }
    %s = arith.index_cast %r#0 : index to i32
    memref.store %s, %p[%i] : memref<?xi32>
  }

// ----- compares-by-difference
// reject numeric: integer overflow
// why: v - x < 0 for v < x: wraps for far apart
// witness: {"sizes": {"T": 1, "N": 1}, "values": {"0": [-2147483648], "1": [5]}}
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %q[%i] : memref<?xi32>
    %s = scf.for %j = %c0 to %m step %c1 iter_args(%a = %z) -> (i32) {
      %v = memref.load %t[%j] : memref<?xi32>
      %d = arith.subi %v, %x : i32
      %l = arith.cmpi slt, %d, %z : i32
      %e = arith.extui %l : i1 to i32
      %b = arith.addi %a, %e : i32
      scf.yield %b : i32
    }
    memref.store %s, %p[%i] : memref<?xi32>
  }

// ----- never-ends-on-a-tie
// reject resource: endless loop
// why: where the middle element equals what is sought, the halves stay as they are
// witness: {"sizes": {"T": 3, "N": 1}, "values": {"0": [1, 2, 3], "1": [2]}}
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %q[%i] : memref<?xi32>
    %r:2 = scf.while (%lo = %c0, %hi = %m) : (index, index) -> (index, index) {
      %go = arith.cmpi ult, %lo, %hi : index
      scf.condition(%go) %lo, %hi : index, index
    } do {
    ^bb0(%lo: index, %hi: index):
      %s = arith.addi %lo, %hi : index
      %mid = arith.shrui %s, %c1 : index
      %v = memref.load %t[%mid] : memref<?xi32>
      %l = arith.cmpi slt, %v, %x : i32
      %g = arith.cmpi sgt, %v, %x : i32
      %m1 = arith.addi %mid, %c1 : index
      %lo2 = arith.select %l, %m1, %lo : index
      %hi2 = arith.select %g, %mid, %hi : index
      scf.yield %lo2, %hi2 : index, index
    }
    %s = arith.index_cast %r#0 : index to i32
    memref.store %s, %p[%i] : memref<?xi32>
  }

// ----- interpolated
// reject resource: trap
// why: a first guess by interpolation divides by the difference of the ends: zero where all are equal
// unchecked: the run dies
// witness: {"sizes": {"T": 3, "N": 1}, "values": {"0": [2, 2, 2], "1": [2]}}
  %some = arith.cmpi ne, %m, %c0 : index
  %l1 = arith.subi %m, %c1 : index
  %last = arith.select %some, %l1, %c0 : index
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %q[%i] : memref<?xi32>
    scf.if %some {
      %a0 = memref.load %t[%c0] : memref<?xi32>
      %b0 = memref.load %t[%last] : memref<?xi32>
      %a6 = arith.extsi %a0 : i32 to i64
      %b6 = arith.extsi %b0 : i32 to i64
      %x6 = arith.extsi %x : i32 to i64
      %d = arith.subi %b6, %a6 : i64
      %u = arith.subi %x6, %a6 : i64
      %l6 = arith.index_cast %last : index to i64
      %w = arith.muli %u, %l6 : i64
      %g = arith.divsi %w, %d : i64
      %zz = arith.constant 0 : i64
      %g1 = arith.maxsi %g, %zz : i64
      %g2 = arith.minsi %g1, %l6 : i64
      %gi = arith.index_cast %g2 : i64 to index
      %gv = memref.load %t[%gi] : memref<?xi32>
      %below = arith.cmpi slt, %gv, %x : i32
      %st = arith.select %below, %gi, %c0 : index
      %si = arith.index_cast %st : index to i32
      %s = scf.for %j = %st to %m step %c1 iter_args(%a = %si) -> (i32) {
        %v = memref.load %t[%j] : memref<?xi32>
        %l = arith.cmpi slt, %v, %x : i32
        %e = arith.extui %l : i1 to i32
        %b = arith.addi %a, %e : i32
        scf.yield %b : i32
      }
      memref.store %s, %p[%i] : memref<?xi32>
    } else {
      memref.store %z, %p[%i] : memref<?xi32>
    }
  }
