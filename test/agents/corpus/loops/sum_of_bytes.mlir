// Sum of bytes in 32 bits; up to 300000 of them.
func.func @main(%x: memref<?xi8> {kc.dims = ["N"]}, %y: memref<1xi32> {kc.out}) attributes {kc.sizes = {N = array<i64: 0, 300000>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xi8>
  %z = arith.constant 0 : i32
  // common above
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (i32) {
    %v = memref.load %x[%i] : memref<?xi8>
    %e = arith.extsi %v : i8 to i32
    %b = arith.addi %a, %e : i32
    scf.yield %b : i32
  }
  memref.store %s, %y[%c0] : memref<1xi32>
  return
}

// ----- in-f32
// reject numeric: precision
// why: f32 is exact up to 2^24 only: 132105 times 127 is more, and 127 is odd
// unchecked: the harness cannot fill 300000 bytes with 127
// witness: {"sizes": {"N": 300000}}
  %zf = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zf) -> (f32) {
    %v = memref.load %x[%i] : memref<?xi8>
    %e = arith.sitofp %v : i8 to f32
    %b = arith.addf %a, %e : f32
    scf.yield %b : f32
  }
  %t = arith.fptosi %s : f32 to i32
  memref.store %t, %y[%c0] : memref<1xi32>

// ----- in-i24
// reject numeric: integer overflow
// why: 24 bits hold 8388607: 66052 times 127 is more
// unchecked: the harness cannot fill 300000 bytes with 127
// witness: {"sizes": {"N": 300000}}
  %zf = arith.constant 0 : i24
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zf) -> (i24) {
    %v = memref.load %x[%i] : memref<?xi8>
    %e = arith.extsi %v : i8 to i24
    %b = arith.addi %a, %e : i24
    scf.yield %b : i24
  }
  %t = arith.extsi %s : i24 to i32
  memref.store %t, %y[%c0] : memref<1xi32>

// ----- ok-in-f64
// accept: exact in floats
// why: f64 holds every partial sum
  %zf = arith.constant 0.0 : f64
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %zf) -> (f64) {
    %v = memref.load %x[%i] : memref<?xi8>
    %e = arith.sitofp %v : i8 to f64
    %b = arith.addf %a, %e : f64
    scf.yield %b : f64
  }
  %t = arith.fptosi %s : f64 to i32
  memref.store %t, %y[%c0] : memref<1xi32>

// ----- pairs-in-i16
// reject numeric: integer overflow
// why: blocks of 257 are summed in 16 bits: 257 times -128 does not fit
// witness: {"sizes": {"N": 300}, "values": {}, "set": {}}
// unchecked: the harness cannot fill 300 bytes with -128
  %c257 = arith.constant 257 : index
  %z16 = arith.constant 0 : i16
  %s = scf.for %k = %c0 to %n step %c257 iter_args(%t = %z) -> (i32) {
    %e0 = arith.addi %k, %c257 : index
    %e = arith.minui %e0, %n : index
    %r = scf.for %i = %k to %e step %c1 iter_args(%a = %z16) -> (i16) {
      %v = memref.load %x[%i] : memref<?xi8>
      %w = arith.extsi %v : i8 to i16
      %b = arith.addi %a, %w : i16
      scf.yield %b : i16
    }
    %r32 = arith.extsi %r : i16 to i32
    %u = arith.addi %t, %r32 : i32
    scf.yield %u : i32
  }
  memref.store %s, %y[%c0] : memref<1xi32>

// ----- ok-blocks-in-i16
// accept: integer reassociation
// why: blocks of 256: 256 times -128 is -32768
  %c256 = arith.constant 256 : index
  %z16 = arith.constant 0 : i16
  %s = scf.for %k = %c0 to %n step %c256 iter_args(%t = %z) -> (i32) {
    %e0 = arith.addi %k, %c256 : index
    %e = arith.minui %e0, %n : index
    %r = scf.for %i = %k to %e step %c1 iter_args(%a = %z16) -> (i16) {
      %v = memref.load %x[%i] : memref<?xi8>
      %w = arith.extsi %v : i8 to i16
      %b = arith.addi %a, %w : i16
      scf.yield %b : i16
    }
    %r32 = arith.extsi %r : i16 to i32
    %u = arith.addi %t, %r32 : i32
    scf.yield %u : i32
  }
  memref.store %s, %y[%c0] : memref<1xi32>

// ----- race-beyond-65536
// reject determinism: race
// why: partial sums in a table of 65536 cells by index mod 65536: two iterations update one cell when N is larger
// unchecked: a serial run never shows it
// witness: {"sizes": {"N": 70000}}
  %w = arith.constant 65536 : index
  %t = memref.alloc() : memref<65536xi32>
  scf.for %i = %c0 to %w step %c1 {
    memref.store %z, %t[%i] : memref<65536xi32>
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %j = arith.remui %i, %w : index
    %v = memref.load %x[%i] : memref<?xi8>
    %e = arith.extsi %v : i8 to i32
    %o = memref.load %t[%j] : memref<65536xi32>
    %b = arith.addi %o, %e : i32
    memref.store %b, %t[%j] : memref<65536xi32>
    scf.reduce
  }
  %s = scf.for %i = %c0 to %w step %c1 iter_args(%a = %z) -> (i32) {
    %e = memref.load %t[%i] : memref<65536xi32>
    %b = arith.addi %a, %e : i32
    scf.yield %b : i32
  }
  memref.dealloc %t : memref<65536xi32>
  memref.store %s, %y[%c0] : memref<1xi32>
