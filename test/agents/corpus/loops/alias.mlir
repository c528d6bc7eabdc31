// z[i] = x[i] + y[N-1-i]; the output may be the very buffer x.
func.func @main(%x: memref<?xi32> {kc.dims = ["N"]}, %y: memref<?xi32> {kc.dims = ["N"]}, %z: memref<?xi32> {kc.dims = ["N"], kc.out, kc.may_alias = 0 : i64}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  %e = arith.subi %n, %c1 : index
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %j = arith.subi %e, %i : index
    %a = memref.load %x[%i] : memref<?xi32>
    %b = memref.load %y[%j] : memref<?xi32>
    %s = arith.addi %a, %b : i32
    memref.store %s, %z[%i] : memref<?xi32>
  }
  return
}

// ----- y-copied-to-output-first
// reject numeric: aliasing
// why: the output is filled with y first, and x is read after that
// witness: {"sizes": {"N": 8}, "alias": [[0, 2]]}
  scf.for %i = %c0 to %n step %c1 {
    %j = arith.subi %e, %i : index
    %b = memref.load %y[%j] : memref<?xi32>
    memref.store %b, %z[%i] : memref<?xi32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.load %x[%i] : memref<?xi32>
    %b = memref.load %z[%i] : memref<?xi32>
    %s = arith.addi %a, %b : i32
    memref.store %s, %z[%i] : memref<?xi32>
  }

// ----- ok-x-copied-to-output-first
// accept: aliasing
// why: a copy of x into the output is nothing when they are one, and then only the output is read
  memref.copy %x, %z : memref<?xi32> to memref<?xi32>
  scf.for %j = %c0 to %n step %c1 {
    %i = arith.subi %e, %j : index
    %a = memref.load %z[%i] : memref<?xi32>
    %b = memref.load %y[%j] : memref<?xi32>
    %s = arith.addi %b, %a : i32
    memref.store %s, %z[%i] : memref<?xi32>
  }

// ----- ok-parallel
// accept: parallel
// why: each iteration reads and writes its own element of x and z
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %j = arith.subi %e, %i : index
    %a = memref.load %x[%i] : memref<?xi32>
    %b = memref.load %y[%j] : memref<?xi32>
    %s = arith.addi %a, %b : i32
    memref.store %s, %z[%i] : memref<?xi32>
    scf.reduce
  }

// ----- y-then-x-again
// reject numeric: aliasing
// why: reads x a second time after the store, to check itself
// witness: {"sizes": {"N": 8}, "alias": [[0, 2]]}
  scf.for %i = %c0 to %n step %c1 {
    %j = arith.subi %e, %i : index
    %b = memref.load %y[%j] : memref<?xi32>
    memref.store %b, %z[%i] : memref<?xi32>
    %a = memref.load %x[%i] : memref<?xi32>
    %s = arith.addi %a, %b : i32
    memref.store %s, %z[%i] : memref<?xi32>
  }

// ----- parallel-by-two-ends
// reject determinism: race
// why: iteration i stores z[i] and clears z[N-1-i] for the next pass, which another one may have stored
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %j = arith.subi %e, %i : index
    %late = arith.cmpi ugt, %j, %i : index
    %zero = arith.constant 0 : i32
    %a = memref.load %x[%i] : memref<?xi32>
    %b = memref.load %y[%j] : memref<?xi32>
    %a2 = memref.load %x[%j] : memref<?xi32>
    scf.if %late {
      memref.store %a2, %z[%j] : memref<?xi32>
    }
    %s = arith.addi %a, %b : i32
    memref.store %s, %z[%i] : memref<?xi32>
    scf.reduce
  }
// schedule
  scf.for %i = %c0 to %n step %c1 {
    %j = arith.subi %e, %i : index
    %a = memref.load %x[%i] : memref<?xi32>
    %b = memref.load %y[%j] : memref<?xi32>
    %s = arith.addi %a, %b : i32
    %late = arith.cmpi ugt, %i, %j : index
    %r = arith.select %late, %a, %s : i32
    memref.store %r, %z[%i] : memref<?xi32>
  }
