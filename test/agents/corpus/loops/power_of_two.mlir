// y = smallest power of two >= x for unsigned 32-bit x, 1 for 0, and 0 above 2^31; w = number of set bits.
func.func @main(%x: memref<?xi32> {kc.dims = ["N"]}, %y: memref<?xi32> {kc.dims = ["N"], kc.out}, %w: memref<?xi32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // common above
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %p = scf.for %k = %c0 to %c32 step %c1 iter_args(%a = %one) -> (i32) {
      %less = arith.cmpi ult, %a, %v : i32
      %some = arith.cmpi ne, %a, %z : i32
      %go = arith.andi %less, %some : i1
      %d = arith.addi %a, %a : i32
      %b = arith.select %go, %d, %a : i32
      scf.yield %b : i32
    }
    memref.store %p, %y[%i] : memref<?xi32>
    %q = math.ctpop %v : i32
    memref.store %q, %w[%i] : memref<?xi32>
  }
  return
}

// ----- by-smearing
// reject numeric: zero
// why: smears the bits of x - 1 and adds 1: 0 for x = 0
// witness: {"set": {"0": [[1, 0]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %m = arith.subi %v, %one : i32
    %k1 = arith.constant 1 : i32
    %k2 = arith.constant 2 : i32
    %k4 = arith.constant 4 : i32
    %k8 = arith.constant 8 : i32
    %k16 = arith.constant 16 : i32
    %s1 = arith.shrui %m, %k1 : i32
    %a1 = arith.ori %m, %s1 : i32
    %s2 = arith.shrui %a1, %k2 : i32
    %a2 = arith.ori %a1, %s2 : i32
    %s4 = arith.shrui %a2, %k4 : i32
    %a4 = arith.ori %a2, %s4 : i32
    %s8 = arith.shrui %a4, %k8 : i32
    %a8 = arith.ori %a4, %s8 : i32
    %s16 = arith.shrui %a8, %k16 : i32
    %a16 = arith.ori %a8, %s16 : i32
    %p = arith.addi %a16, %one : i32
    memref.store %p, %y[%i] : memref<?xi32>
    %q = math.ctpop %v : i32
    memref.store %q, %w[%i] : memref<?xi32>
  }

// ----- by-leading-zeros
// reject numeric: shift amount
// why: 1 << (32 - ctlz(x - 1)): by 32 above 2^31, which is undefined, and by 0 for x = 1
// unchecked: what the machine does may be right by luck
  %k32 = arith.constant 32 : i32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %v1 = arith.maxui %v, %one : i32
    %m = arith.subi %v1, %one : i32
    %l = math.ctlz %m : i32
    %s = arith.subi %k32, %l : i32
    %p = arith.shli %one, %s : i32
    memref.store %p, %y[%i] : memref<?xi32>
    %q = math.ctpop %v : i32
    memref.store %q, %w[%i] : memref<?xi32>
  }

// ----- ok-by-leading-zeros-in-64-bits
// accept: integer identity
// why: the same in 64 bits and cut; bits counted pair by pair
  %k32 = arith.constant 32 : i32
  %k64 = arith.constant 64 : i64
  %o6 = arith.constant 1 : i64
  %k1 = arith.constant 1 : i32
  %k2 = arith.constant 2 : i32
  %k4 = arith.constant 4 : i32
  %k24 = arith.constant 24 : i32
  %m5 = arith.constant 1431655765 : i32
  %m3 = arith.constant 858993459 : i32
  %m0 = arith.constant 252645135 : i32
  %mu = arith.constant 16843009 : i32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %v1 = arith.maxui %v, %one : i32
    %m = arith.subi %v1, %one : i32
    %m6 = arith.extui %m : i32 to i64
    %l = math.ctlz %m6 : i64
    %s = arith.subi %k64, %l : i64
    %p6 = arith.shli %o6, %s : i64
    %p = arith.trunci %p6 : i64 to i32
    memref.store %p, %y[%i] : memref<?xi32>
    %h0 = arith.shrui %v, %k1 : i32
    %h1 = arith.andi %h0, %m5 : i32
    %a = arith.subi %v, %h1 : i32
    %b0 = arith.andi %a, %m3 : i32
    %b1 = arith.shrui %a, %k2 : i32
    %b2 = arith.andi %b1, %m3 : i32
    %b = arith.addi %b0, %b2 : i32
    %d0 = arith.shrui %b, %k4 : i32
    %d1 = arith.addi %b, %d0 : i32
    %d = arith.andi %d1, %m0 : i32
    %e = arith.muli %d, %mu : i32
    %q = arith.shrui %e, %k24 : i32
    memref.store %q, %w[%i] : memref<?xi32>
  }

// ----- through-f32-exponent
// reject numeric: rounding
// why: takes the exponent of x - 1 in f32: rounding carries numbers just below a power of two to the next one
// witness: {"set": {"0": [[1, 33554432]]}}
  %k23 = arith.constant 23 : i32
  %k126 = arith.constant 126 : i32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %v1 = arith.maxui %v, %one : i32
    %m = arith.subi %v1, %one : i32
    %f = arith.uitofp %m : i32 to f32
    %b = arith.bitcast %f : f32 to i32
    %e = arith.shrui %b, %k23 : i32
    %s0 = arith.subi %e, %k126 : i32
    %s = arith.maxsi %s0, %z : i32
    %o6 = arith.constant 1 : i64
    %s6 = arith.extui %s : i32 to i64
    %p6 = arith.shli %o6, %s6 : i64
    %p = arith.trunci %p6 : i64 to i32
    memref.store %p, %y[%i] : memref<?xi32>
    %q = math.ctpop %v : i32
    memref.store %q, %w[%i] : memref<?xi32>
  }

// ----- ok-through-f64-exponent
// accept: exact in floats
// why: f64 holds 32 bits exactly
  %k52 = arith.constant 52 : i64
  %k1022 = arith.constant 1022 : i64
  %z6 = arith.constant 0 : i64
  %o6 = arith.constant 1 : i64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %v1 = arith.maxui %v, %one : i32
    %m = arith.subi %v1, %one : i32
    %f = arith.uitofp %m : i32 to f64
    %b = arith.bitcast %f : f64 to i64
    %e = arith.shrui %b, %k52 : i64
    %s0 = arith.subi %e, %k1022 : i64
    %s = arith.maxsi %s0, %z6 : i64
    %p6 = arith.shli %o6, %s : i64
    %p = arith.trunci %p6 : i64 to i32
    memref.store %p, %y[%i] : memref<?xi32>
    %q = math.ctpop %v : i32
    memref.store %q, %w[%i] : memref<?xi32>
  }

// ----- bits-by-clearing-thirty
// reject numeric: hard-coded bound
// why: clears the lowest bit at most 30 times
// witness: {"set": {"0": [[1, -1]]}}
  %c30 = arith.constant 30 : index
  %c32 = arith.constant 32 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %p = scf.for %k = %c0 to %c32 step %c1 iter_args(%a = %one) -> (i32) {
      %less = arith.cmpi ult, %a, %v : i32
      %some = arith.cmpi ne, %a, %z : i32
      %go = arith.andi %less, %some : i1
      %d = arith.addi %a, %a : i32
      %b = arith.select %go, %d, %a : i32
      scf.yield %b : i32
    }
    memref.store %p, %y[%i] : memref<?xi32>
    %q:2 = scf.for %k = %c0 to %c30 step %c1 iter_args(%a = %v, %t = %z) -> (i32, i32) {
      %some = arith.cmpi ne, %a, %z : i32
      %m = arith.subi %a, %one : i32
      %b = arith.andi %a, %m : i32
      %e = arith.extui %some : i1 to i32
      %t1 = arith.addi %t, %e : i32
      scf.yield %b, %t1 : i32, i32
    }
    memref.store %q#1, %w[%i] : memref<?xi32>
  }
