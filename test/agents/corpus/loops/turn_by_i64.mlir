// y[i] = x[(i + k) mod N] for any 64-bit k (floor remainder), also negative.
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %k: i64, %y: memref<?xf32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %z = arith.constant 0 : i64
  %n6 = arith.index_cast %n : index to i64
  // common above
  %empty = arith.cmpi eq, %n, %c0 : index
  scf.if %empty {
  } else {
    %r = arith.remsi %k, %n6 : i64
    %neg = arith.cmpi slt, %r, %z : i64
    %rn = arith.addi %r, %n6 : i64
    %s = arith.select %neg, %rn, %r : i64
    %s0 = arith.index_cast %s : i64 to index
    scf.for %i = %c0 to %n step %c1 {
      %j0 = arith.addi %i, %s0 : index
      %j = arith.remui %j0, %n : index
      %v = memref.load %x[%j] : memref<?xf32>
      memref.store %v, %y[%i] : memref<?xf32>
    }
  }
  return
}

// ----- cut-to-32-bits
// reject numeric: index overflow
// why: k is cut to 32 bits: 2^32 is no multiple of N
// witness: {"sizes": {"N": 5}, "values": {"1": 4294967296}}
  %empty = arith.cmpi eq, %n, %c0 : index
  scf.if %empty {
  } else {
    %k3 = arith.trunci %k : i64 to i32
    %kk = arith.extsi %k3 : i32 to i64
    %r = arith.remsi %kk, %n6 : i64
    %neg = arith.cmpi slt, %r, %z : i64
    %rn = arith.addi %r, %n6 : i64
    %s = arith.select %neg, %rn, %r : i64
    %s0 = arith.index_cast %s : i64 to index
    scf.for %i = %c0 to %n step %c1 {
      %j0 = arith.addi %i, %s0 : index
      %j = arith.remui %j0, %n : index
      %v = memref.load %x[%j] : memref<?xf32>
      memref.store %v, %y[%i] : memref<?xf32>
    }
  }

// ----- remainder-of-sum
// reject numeric: integer overflow
// why: takes the remainder of i + k, which wraps for the largest k
// witness: {"sizes": {"N": 5}, "values": {"1": 9223372036854775807}}
// unchecked: NumPy draws it through f64
  scf.for %i = %c0 to %n step %c1 {
    %i6 = arith.index_cast %i : index to i64
    %t = arith.addi %i6, %k : i64
    %r = arith.remsi %t, %n6 : i64
    %neg = arith.cmpi slt, %r, %z : i64
    %rn = arith.addi %r, %n6 : i64
    %s = arith.select %neg, %rn, %r : i64
    %j = arith.index_cast %s : i64 to index
    %v = memref.load %x[%j] : memref<?xf32>
    memref.store %v, %y[%i] : memref<?xf32>
  }

// ----- ok-two-copies
// accept: loop form
// why: two plain copies around the turning point
  %empty = arith.cmpi eq, %n, %c0 : index
  scf.if %empty {
  } else {
    %q = arith.floordivsi %k, %n6 : i64
    %b = arith.muli %q, %n6 : i64
    %s = arith.subi %k, %b : i64
    %s0 = arith.index_cast %s : i64 to index
    %l = arith.subi %n, %s0 : index
    %xa = memref.subview %x[%s0] [%l] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    %ya = memref.subview %y[0] [%l] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
    memref.copy %xa, %ya : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1]>>
    %xb = memref.subview %x[0] [%s0] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
    %yb = memref.subview %y[%l] [%s0] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    memref.copy %xb, %yb : memref<?xf32, strided<[1]>> to memref<?xf32, strided<[1], offset: ?>>
  }

// ----- one-period-only
// reject aliasing/bounds: out-of-range index
// why: adds or takes off N once: k may be further out
// witness: {"sizes": {"N": 5}, "values": {"1": 17}}
// unchecked: reads far outside
  %empty = arith.cmpi eq, %n, %c0 : index
  scf.if %empty {
  } else {
    %s0 = arith.index_cast %k : i64 to index
    scf.for %i = %c0 to %n step %c1 {
      %j0 = arith.addi %i, %s0 : index
      %hi = arith.cmpi sge, %j0, %n : index
      %lo = arith.cmpi slt, %j0, %c0 : index
      %jm = arith.subi %j0, %n : index
      %jp = arith.addi %j0, %n : index
      %j1 = arith.select %hi, %jm, %j0 : index
      %j = arith.select %lo, %jp, %j1 : index
      %v = memref.load %x[%j] : memref<?xf32>
      memref.store %v, %y[%i] : memref<?xf32>
    }
  }

// ----- ok-magnitude-of-k
// accept: integer identity
// why: for negative k turns the other way by |k|, unsigned; a remainder of 0 gives N, which is taken off again
  %empty = arith.cmpi eq, %n, %c0 : index
  scf.if %empty {
  } else {
    %a = math.absi %k : i64
    %r = arith.remui %a, %n6 : i64
    %neg = arith.cmpi slt, %k, %z : i64
    %rn = arith.subi %n6, %r : i64
    %s = arith.select %neg, %rn, %r : i64
    %s0 = arith.index_cast %s : i64 to index
    scf.for %i = %c0 to %n step %c1 {
      %j0 = arith.addi %i, %s0 : index
      %ge = arith.cmpi uge, %j0, %n : index
      %jm = arith.subi %j0, %n : index
      %j = arith.select %ge, %jm, %j0 : index
      %v = memref.load %x[%j] : memref<?xf32>
      memref.store %v, %y[%i] : memref<?xf32>
    }
  }

// ----- ok-magnitude-careful
// accept: integer identity
// why: the magnitude of INT_MIN read as unsigned is right, and N - 0 turns once round
  %empty = arith.cmpi eq, %n, %c0 : index
  scf.if %empty {
  } else {
    %a = math.absi %k : i64
    %r = arith.remui %a, %n6 : i64
    %neg = arith.cmpi slt, %k, %z : i64
    %rn = arith.subi %n6, %r : i64
    %s = arith.select %neg, %rn, %r : i64
    %s0 = arith.index_cast %s : i64 to index
    scf.for %i = %c0 to %n step %c1 {
      %j0 = arith.addi %i, %s0 : index
      %j = arith.remui %j0, %n : index
      %v = memref.load %x[%j] : memref<?xf32>
      memref.store %v, %y[%i] : memref<?xf32>
    }
  }
