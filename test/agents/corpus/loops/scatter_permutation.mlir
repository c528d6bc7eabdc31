// y[p[i]] = x[i] with p a permutation of 0..31 by contract.
func.func @main(%x: memref<32xi16>, %p: memref<32xi32> {kc.range = array<i64: 0, 31>}, %y: memref<32xi16> {kc.out}) attributes {kc.facts = ["unique(arg1)"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  // common above
  scf.for %i = %c0 to %c32 step %c1 {
    %v = memref.load %x[%i] : memref<32xi16>
    %k = memref.load %p[%i] : memref<32xi32>
    %j = arith.index_cast %k : i32 to index
    memref.store %v, %y[%j] : memref<32xi16>
  }
  return
}

// ----- ok-parallel
// accept: parallel
// why: no two iterations write one cell, since p is a permutation
// assumes: unique(arg1)
  scf.parallel (%i) = (%c0) to (%c32) step (%c1) {
    %v = memref.load %x[%i] : memref<32xi16>
    %k = memref.load %p[%i] : memref<32xi32>
    %j = arith.index_cast %k : i32 to index
    memref.store %v, %y[%j] : memref<32xi16>
    scf.reduce
  }

// ----- ok-inverted
// accept: gather
// why: the inverse permutation first, then a gather
  %q = memref.alloc() : memref<32xi8>
  scf.for %i = %c0 to %c32 step %c1 {
    %k = memref.load %p[%i] : memref<32xi32>
    %j = arith.index_cast %k : i32 to index
    %b = arith.index_cast %i : index to i8
    memref.store %b, %q[%j] : memref<32xi8>
  }
  scf.for %j = %c0 to %c32 step %c1 {
    %b = memref.load %q[%j] : memref<32xi8>
    %i = arith.index_cast %b : i8 to index
    %v = memref.load %x[%i] : memref<32xi16>
    memref.store %v, %y[%j] : memref<32xi16>
  }
  memref.dealloc %q : memref<32xi8>

// ----- as-gather
// reject numeric: operation order
// why: y[i] = x[p[i]] is the inverse permutation
  scf.for %i = %c0 to %c32 step %c1 {
    %k = memref.load %p[%i] : memref<32xi32>
    %j = arith.index_cast %k : i32 to index
    %v = memref.load %x[%j] : memref<32xi16>
    memref.store %v, %y[%i] : memref<32xi16>
  }

// ----- parallel-shifted
// reject determinism: race
// why: the value is first put at p[i] / 2, which two iterations share
  scf.parallel (%i) = (%c0) to (%c32) step (%c1) {
    %v = memref.load %x[%i] : memref<32xi16>
    %k = memref.load %p[%i] : memref<32xi32>
    %one = arith.constant 1 : i32
    %h = arith.shrui %k, %one : i32
    %j = arith.index_cast %k : i32 to index
    %jh = arith.index_cast %h : i32 to index
    %low = arith.cmpi eq, %j, %jh : index
    scf.if %low {
      memref.store %v, %y[%jh] : memref<32xi16>
    } else {
      memref.store %v, %y[%j] : memref<32xi16>
      %back = memref.load %y[%jh] : memref<32xi16>
      memref.store %back, %y[%jh] : memref<32xi16>
    }
    scf.reduce
  }
// schedule
  %zero = arith.constant 0 : i16
  scf.for %i = %c0 to %c32 step %c1 {
    memref.store %zero, %y[%i] : memref<32xi16>
  }
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c32 step %c1 {
    %v = memref.load %x[%i] : memref<32xi16>
    %k = memref.load %p[%i] : memref<32xi32>
    %j = arith.index_cast %k : i32 to index
    %high = arith.cmpi uge, %j, %c16 : index
    scf.if %high {
      memref.store %v, %y[%j] : memref<32xi16>
    }
  }

// ----- assumes-identity
// reject assumption: false assumption
// why: claims that p is sorted
// assumes: sorted(arg1)
  memref.copy %x, %y : memref<32xi16> to memref<32xi16>
