// y = x rotated left by s (mod 32) per element; s any 32-bit integer.
func.func @main(%x: memref<?xi32> {kc.dims = ["N"]}, %s: memref<?xi32> {kc.dims = ["N"]}, %y: memref<?xi32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  %k31 = arith.constant 31 : i32
  %k32 = arith.constant 32 : i32
  %z = arith.constant 0 : i32
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xi32>
    %v = memref.load %s[%i] : memref<?xi32>
    %a = arith.andi %v, %k31 : i32
    %nv = arith.subi %z, %v : i32
    %b = arith.andi %nv, %k31 : i32
    %l = arith.shli %u, %a : i32
    %r = arith.shrui %u, %b : i32
    %o = arith.ori %l, %r : i32
    memref.store %o, %y[%i] : memref<?xi32>
  }
  return
}

// ----- thirty-two-minus
// reject numeric: shift amount
// why: shifts right by 32 - s: by 32 where s is 0, which is undefined
// unchecked: what the machine does there may be right by luck
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xi32>
    %v = memref.load %s[%i] : memref<?xi32>
    %a = arith.andi %v, %k31 : i32
    %b = arith.subi %k32, %a : i32
    %l = arith.shli %u, %a : i32
    %r = arith.shrui %u, %b : i32
    %o = arith.ori %l, %r : i32
    memref.store %o, %y[%i] : memref<?xi32>
  }

// ----- vector-thirty-two-minus
// reject numeric: shift amount
// why: the same on vectors, where the machine gives 0: undefined all the same
// unchecked: what the machine does there may be right by luck
  %c4 = arith.constant 4 : index
  %v31 = arith.constant dense<31> : vector<4xi32>
  %v32 = arith.constant dense<32> : vector<4xi32>
  scf.for %i = %c0 to %n step %c4 {
    %u = vector.transfer_read %x[%i], %z : memref<?xi32>, vector<4xi32>
    %v = vector.transfer_read %s[%i], %z : memref<?xi32>, vector<4xi32>
    %a = arith.andi %v, %v31 : vector<4xi32>
    %b = arith.subi %v32, %a : vector<4xi32>
    %l = arith.shli %u, %a : vector<4xi32>
    %r = arith.shrui %u, %b : vector<4xi32>
    %o = arith.ori %l, %r : vector<4xi32>
    vector.transfer_write %o, %y[%i] : vector<4xi32>, memref<?xi32>
  }

// ----- ok-in-64-bits
// accept: integer identity
// why: x twice in 64 bits, shifted, upper half
  %k6 = arith.constant 32 : i64
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xi32>
    %v = memref.load %s[%i] : memref<?xi32>
    %a = arith.andi %v, %k31 : i32
    %u6 = arith.extui %u : i32 to i64
    %a6 = arith.extui %a : i32 to i64
    %h = arith.shli %u6, %k6 : i64
    %d = arith.ori %h, %u6 : i64
    %e = arith.shli %d, %a6 : i64
    %f = arith.shrui %e, %k6 : i64
    %o = arith.trunci %f : i64 to i32
    memref.store %o, %y[%i] : memref<?xi32>
  }

// ----- remainder-signed
// reject numeric: negative integers
// why: takes s rem 32 with its sign
// unchecked: a negative amount is undefined
// witness: {"set": {"1": [[1, -3]]}}
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xi32>
    %v = memref.load %s[%i] : memref<?xi32>
    %a0 = arith.remsi %v, %k32 : i32
    %a = math.absi %a0 : i32
    %nv = arith.subi %z, %a : i32
    %b = arith.andi %nv, %k31 : i32
    %l = arith.shli %u, %a : i32
    %r = arith.shrui %u, %b : i32
    %o = arith.ori %l, %r : i32
    memref.store %o, %y[%i] : memref<?xi32>
  }

// ----- ok-by-multiplication
// accept: strength reduction
// why: x times 2^s in 64 bits, the halves put together
  %one = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xi32>
    %v = memref.load %s[%i] : memref<?xi32>
    %a = arith.andi %v, %k31 : i32
    %p = arith.shli %one, %a : i32
    %lo, %hi = arith.mului_extended %u, %p : i32
    %o = arith.ori %lo, %hi : i32
    memref.store %o, %y[%i] : memref<?xi32>
  }

// ----- by-signed-multiplication
// reject numeric: negative integers
// why: the same with a signed product: 2^31 counts as negative, and so does x
// witness: {"set": {"0": [[1, -5]], "1": [[1, 4]]}}
  %one = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xi32>
    %v = memref.load %s[%i] : memref<?xi32>
    %a = arith.andi %v, %k31 : i32
    %p = arith.shli %one, %a : i32
    %lo, %hi = arith.mulsi_extended %u, %p : i32
    %o = arith.ori %lo, %hi : i32
    memref.store %o, %y[%i] : memref<?xi32>
  }

// ----- disjoint-sum
// reject numeric: shift amount
// why: adds the parts instead of or: right but for s = 0 mod 32, where both are x
// witness: {"set": {"0": [[1, 3]], "1": [[1, 64]]}}
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xi32>
    %v = memref.load %s[%i] : memref<?xi32>
    %a = arith.andi %v, %k31 : i32
    %nv = arith.subi %z, %v : i32
    %b = arith.andi %nv, %k31 : i32
    %l = arith.shli %u, %a : i32
    %r = arith.shrui %u, %b : i32
    %o = arith.addi %l, %r : i32
    memref.store %o, %y[%i] : memref<?xi32>
  }
