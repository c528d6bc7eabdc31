// y[p[i]] = x[i] in order: of equal indices the last one stays. No fact about p but its range.
func.func @main(%x: memref<?xi16> {kc.dims = ["N"]}, %p: memref<?xi8> {kc.dims = ["N"], kc.range = array<i64: 0, 9>}, %y: memref<10xi16> {kc.inout}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xi16>
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi16>
    %k = memref.load %p[%i] : memref<?xi8>
    %j = arith.index_cast %k : i8 to index
    memref.store %v, %y[%j] : memref<10xi16>
  }
  return
}

// ----- parallel
// reject determinism: race
// why: which of two equal indices comes last is open in a parallel loop
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xi16>
    %k = memref.load %p[%i] : memref<?xi8>
    %j = arith.index_cast %k : i8 to index
    memref.store %v, %y[%j] : memref<10xi16>
    scf.reduce
  }
// schedule
  scf.for %i = %c0 to %n step %c1 {
    %a = arith.subi %n, %i : index
    %b = arith.subi %a, %c1 : index
    %v = memref.load %x[%b] : memref<?xi16>
    %k = memref.load %p[%b] : memref<?xi8>
    %j = arith.index_cast %k : i8 to index
    memref.store %v, %y[%j] : memref<10xi16>
  }

// ----- backwards
// reject numeric: repeated index
// why: from the back, the first one stays
// witness: {"sizes": {"N": 3}, "values": {"1": [4, 4, 5]}}
  scf.for %i = %c0 to %n step %c1 {
    %a = arith.subi %n, %i : index
    %b = arith.subi %a, %c1 : index
    %v = memref.load %x[%b] : memref<?xi16>
    %k = memref.load %p[%b] : memref<?xi8>
    %j = arith.index_cast %k : i8 to index
    memref.store %v, %y[%j] : memref<10xi16>
  }

// ----- ok-per-cell
// accept: parallel
// why: one iteration per cell looks for the last of its indices
  %c10 = arith.constant 10 : index
  scf.parallel (%j) = (%c0) to (%c10) step (%c1) {
    %j8 = arith.index_cast %j : index to i8
    %o = memref.load %y[%j] : memref<10xi16>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %o) -> (i16) {
      %k = memref.load %p[%i] : memref<?xi8>
      %hit = arith.cmpi eq, %k, %j8 : i8
      %v = memref.load %x[%i] : memref<?xi16>
      %b = arith.select %hit, %v, %a : i16
      scf.yield %b : i16
    }
    memref.store %r, %y[%j] : memref<10xi16>
    scf.reduce
  }

// ----- claims-unique
// reject assumption: false assumption
// why: claims that indices are distinct
// assumes: unique(arg1)
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xi16>
    %k = memref.load %p[%i] : memref<?xi8>
    %j = arith.index_cast %k : i8 to index
    memref.store %v, %y[%j] : memref<10xi16>
    scf.reduce
  }

// ----- facts-added-in-ir
// reject assumption: false assumption
// whole
// why: the same claim, in the attributes of @main
module {
func.func @main(%x: memref<?xi16> {kc.dims = ["N"]}, %p: memref<?xi8> {kc.dims = ["N"], kc.range = array<i64: 0, 9>}, %y: memref<10xi16> {kc.inout}) attributes {kc.facts = ["unique(arg1)"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xi16>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %v = memref.load %x[%i] : memref<?xi16>
    %k = memref.load %p[%i] : memref<?xi8>
    %j = arith.index_cast %k : i8 to index
    memref.store %v, %y[%j] : memref<10xi16>
    scf.reduce
  }
  return
}
}

// ----- clears-first
// reject numeric: in-out buffer
// why: clears the cells that no index names
// witness: {"sizes": {"N": 1}}
  %z = arith.constant 0 : i16
  %c10 = arith.constant 10 : index
  scf.for %j = %c0 to %c10 step %c1 {
    memref.store %z, %y[%j] : memref<10xi16>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi16>
    %k = memref.load %p[%i] : memref<?xi8>
    %j = arith.index_cast %k : i8 to index
    memref.store %v, %y[%j] : memref<10xi16>
  }
