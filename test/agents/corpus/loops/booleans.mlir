// Running parity of a row of booleans (exclusive or of all up to here), and whether any is set, as i1 and i8.
func.func @main(%x: memref<?xi1> {kc.dims = ["N"]}, %y: memref<?xi1> {kc.dims = ["N"], kc.out}, %a: memref<1xi8> {kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xi1>
  %f = arith.constant false
  %z8 = arith.constant 0 : i8
  // common above
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %f, %o = %f) -> (i1, i1) {
    %v = memref.load %x[%i] : memref<?xi1>
    %q = arith.xori %p, %v : i1
    memref.store %q, %y[%i] : memref<?xi1>
    %w = arith.ori %o, %v : i1
    scf.yield %q, %w : i1, i1
  }
  %e = arith.extui %r#1 : i1 to i8
  memref.store %e, %a[%c0] : memref<1xi8>
  return
}

// ----- ok-addition-is-parity
// accept: integer identity
// why: addition of i1 wraps: it is the exclusive or; the maximum unsigned is or
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %f, %o = %f) -> (i1, i1) {
    %v = memref.load %x[%i] : memref<?xi1>
    %q = arith.addi %p, %v : i1
    memref.store %q, %y[%i] : memref<?xi1>
    %w = arith.maxui %o, %v : i1
    scf.yield %q, %w : i1, i1
  }
  %e = arith.extui %r#1 : i1 to i8
  memref.store %e, %a[%c0] : memref<1xi8>

// ----- signed-maximum
// reject numeric: boolean as integer
// why: true is -1 as a signed number: the signed maximum is and, not or
// witness: {"sizes": {"N": 3}, "values": {"0": [true, false, true]}}
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %f, %o = %f) -> (i1, i1) {
    %v = memref.load %x[%i] : memref<?xi1>
    %q = arith.xori %p, %v : i1
    memref.store %q, %y[%i] : memref<?xi1>
    %w = arith.maxsi %o, %v : i1
    scf.yield %q, %w : i1, i1
  }
  %e = arith.extui %r#1 : i1 to i8
  memref.store %e, %a[%c0] : memref<1xi8>

// ----- ok-signed-minimum
// accept: integer identity
// why: the signed minimum of 0 and -1 is or
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %f, %o = %f) -> (i1, i1) {
    %v = memref.load %x[%i] : memref<?xi1>
    %q = arith.subi %p, %v : i1
    memref.store %q, %y[%i] : memref<?xi1>
    %w = arith.minsi %o, %v : i1
    scf.yield %q, %w : i1, i1
  }
  %e = arith.extui %r#1 : i1 to i8
  memref.store %e, %a[%c0] : memref<1xi8>

// ----- any-sign-extended
// reject numeric: boolean as integer
// why: any set gives -1
// witness: {"sizes": {"N": 3}, "values": {"0": [true, false, true]}}
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %f, %o = %f) -> (i1, i1) {
    %v = memref.load %x[%i] : memref<?xi1>
    %q = arith.xori %p, %v : i1
    memref.store %q, %y[%i] : memref<?xi1>
    %w = arith.ori %o, %v : i1
    scf.yield %q, %w : i1, i1
  }
  %e = arith.extsi %r#1 : i1 to i8
  memref.store %e, %a[%c0] : memref<1xi8>

// ----- counts-in-i8
// reject numeric: integer overflow
// why: any is the count in 2 bits: zero again for four set ones
// witness: {"sizes": {"N": 4}, "values": {"0": [true, true, true, true]}}
  %z2 = arith.constant 0 : i2
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %f, %o = %z2) -> (i1, i2) {
    %v = memref.load %x[%i] : memref<?xi1>
    %q = arith.xori %p, %v : i1
    memref.store %q, %y[%i] : memref<?xi1>
    %ve = arith.extui %v : i1 to i2
    %w = arith.addi %o, %ve : i2
    scf.yield %q, %w : i1, i2
  }
  %some = arith.cmpi ne, %r#1, %z2 : i2
  %e = arith.extui %some : i1 to i8
  memref.store %e, %a[%c0] : memref<1xi8>

// ----- counts-in-i6
// reject numeric: integer overflow
// why: any is the count in 6 bits: zero again for all 64 set
// witness: {"sizes": {"N": 64}, "fill": "equal"}
  %z2 = arith.constant 0 : i6
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %f, %o = %z2) -> (i1, i6) {
    %v = memref.load %x[%i] : memref<?xi1>
    %q = arith.xori %p, %v : i1
    memref.store %q, %y[%i] : memref<?xi1>
    %ve = arith.extui %v : i1 to i6
    %w = arith.addi %o, %ve : i6
    scf.yield %q, %w : i1, i6
  }
  %some = arith.cmpi ne, %r#1, %z2 : i6
  %e = arith.extui %some : i1 to i8
  memref.store %e, %a[%c0] : memref<1xi8>
