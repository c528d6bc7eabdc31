// Stable insertion sort of keys with their payloads, ascending.
func.func @main(%k: memref<?xi32> {kc.dims = ["N"]}, %v: memref<?xi32> {kc.dims = ["N"]}, %sk: memref<?xi32> {kc.dims = ["N"], kc.out}, %sv: memref<?xi32> {kc.dims = ["N"], kc.out}) attributes {kc.sizes = {N = array<i64: 0, 40>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %k, %c0 : memref<?xi32>
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %key = memref.load %k[%i] : memref<?xi32>
    %val = memref.load %v[%i] : memref<?xi32>
    %p = scf.while (%j = %i) : (index) -> index {
      %some = arith.cmpi ugt, %j, %c0 : index
      %go = scf.if %some -> (i1) {
        %l = arith.subi %j, %c1 : index
        %o = memref.load %sk[%l] : memref<?xi32>
        %g = arith.cmpi sgt, %o, %key : i32
        scf.yield %g : i1
      } else {
        scf.yield %some : i1
      }
      scf.condition(%go) %j : index
    } do {
    ^bb0(%j: index):
      %l = arith.subi %j, %c1 : index
      %o = memref.load %sk[%l] : memref<?xi32>
      %q = memref.load %sv[%l] : memref<?xi32>
      memref.store %o, %sk[%j] : memref<?xi32>
      memref.store %q, %sv[%j] : memref<?xi32>
      scf.yield %l : index
    }
    memref.store %key, %sk[%p] : memref<?xi32>
    memref.store %val, %sv[%p] : memref<?xi32>
  }
  return
}

// ----- ok-by-rank
// accept: sorting
// why: the place of each key is the number of smaller ones and of equal ones before it; all places in parallel
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %key = memref.load %k[%i] : memref<?xi32>
    %val = memref.load %v[%i] : memref<?xi32>
    %p = scf.for %j = %c0 to %n step %c1 iter_args(%a = %c0) -> (index) {
      %o = memref.load %k[%j] : memref<?xi32>
      %lt = arith.cmpi slt, %o, %key : i32
      %eq = arith.cmpi eq, %o, %key : i32
      %before = arith.cmpi ult, %j, %i : index
      %both = arith.andi %eq, %before : i1
      %c = arith.ori %lt, %both : i1
      %d = arith.select %c, %c1, %c0 : index
      %b = arith.addi %a, %d : index
      scf.yield %b : index
    }
    memref.store %key, %sk[%p] : memref<?xi32>
    memref.store %val, %sv[%p] : memref<?xi32>
    scf.reduce
  }

// ----- unstable-rank
// reject numeric: unstable sort
// why: equal keys are put in reverse order
// witness: {"sizes": {"N": 3}, "values": {"0": [5, 5, 1], "1": [1, 2, 3]}}
  scf.for %i = %c0 to %n step %c1 {
    %key = memref.load %k[%i] : memref<?xi32>
    %val = memref.load %v[%i] : memref<?xi32>
    %p = scf.for %j = %c0 to %n step %c1 iter_args(%a = %c0) -> (index) {
      %o = memref.load %k[%j] : memref<?xi32>
      %lt = arith.cmpi slt, %o, %key : i32
      %eq = arith.cmpi eq, %o, %key : i32
      %after = arith.cmpi ugt, %j, %i : index
      %both = arith.andi %eq, %after : i1
      %c = arith.ori %lt, %both : i1
      %d = arith.select %c, %c1, %c0 : index
      %b = arith.addi %a, %d : index
      scf.yield %b : index
    }
    memref.store %key, %sk[%p] : memref<?xi32>
    memref.store %val, %sv[%p] : memref<?xi32>
  }

// ----- rank-of-distinct-keys
// reject numeric: repeated index
// why: counts smaller keys only: equal keys share a place and leave one unwritten
// witness: {"sizes": {"N": 3}, "values": {"0": [5, 5, 1], "1": [1, 2, 3]}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %key = memref.load %k[%i] : memref<?xi32>
    %val = memref.load %v[%i] : memref<?xi32>
    %p = scf.for %j = %c0 to %n step %c1 iter_args(%a = %c0) -> (index) {
      %o = memref.load %k[%j] : memref<?xi32>
      %c = arith.cmpi slt, %o, %key : i32
      %d = arith.select %c, %c1, %c0 : index
      %b = arith.addi %a, %d : index
      scf.yield %b : index
    }
    memref.store %key, %sk[%p] : memref<?xi32>
    memref.store %val, %sv[%p] : memref<?xi32>
    scf.reduce
  }

// ----- by-subtraction
// reject numeric: integer overflow
// why: the keys are compared by the sign of their difference
// witness: {"sizes": {"N": 2}, "values": {"0": [2000000000, -2000000000], "1": [1, 2]}}
  %z = arith.constant 0 : i32
  scf.for %i = %c0 to %n step %c1 {
    %key = memref.load %k[%i] : memref<?xi32>
    %val = memref.load %v[%i] : memref<?xi32>
    %p = scf.for %j = %c0 to %n step %c1 iter_args(%a = %c0) -> (index) {
      %o = memref.load %k[%j] : memref<?xi32>
      %df = arith.subi %o, %key : i32
      %lt = arith.cmpi slt, %df, %z : i32
      %eq = arith.cmpi eq, %o, %key : i32
      %before = arith.cmpi ult, %j, %i : index
      %both = arith.andi %eq, %before : i1
      %c = arith.ori %lt, %both : i1
      %d = arith.select %c, %c1, %c0 : index
      %b = arith.addi %a, %d : index
      scf.yield %b : index
    }
    memref.store %key, %sk[%p] : memref<?xi32>
    memref.store %val, %sv[%p] : memref<?xi32>
  }
