// Two results per element: the floor of (a + b) / 2 and a - b, in wrapping 32-bit arithmetic.
func.func @main(%a: memref<?xi32> {kc.dims = ["N"]}, %b: memref<?xi32> {kc.dims = ["N"]}, %y: memref<?xi32> {kc.dims = ["N"], kc.out}, %z: memref<?xi32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : memref<?xi32>
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %u6 = arith.extsi %u : i32 to i64
    %v6 = arith.extsi %v : i32 to i64
    %s6 = arith.addi %u6, %v6 : i64
    %o6 = arith.constant 1 : i64
    %h6 = arith.shrsi %s6, %o6 : i64
    %h = arith.trunci %h6 : i64 to i32
    memref.store %h, %y[%i] : memref<?xi32>
    %d = arith.subi %u, %v : i32
    memref.store %d, %z[%i] : memref<?xi32>
  }
  return
}

// ----- sum-wraps
// reject numeric: integer overflow
// why: the 32-bit sum wraps
// witness: {"set": {"0": [[0, 2147483647]], "1": [[0, 2147483647]]}}
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %s = arith.addi %u, %v : i32
    %h = arith.shrsi %s, %one : i32
    memref.store %h, %y[%i] : memref<?xi32>
    %d = arith.subi %u, %v : i32
    memref.store %d, %z[%i] : memref<?xi32>
  }

// ----- ok-and-xor
// accept: integer identity
// why: (a & b) + ((a ^ b) >> 1) is the floor of the mean without a wider type
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %c = arith.andi %u, %v : i32
    %x = arith.xori %u, %v : i32
    %x1 = arith.shrsi %x, %one : i32
    %h = arith.addi %c, %x1 : i32
    memref.store %h, %y[%i] : memref<?xi32>
    %d = arith.subi %u, %v : i32
    memref.store %d, %z[%i] : memref<?xi32>
  }

// ----- logical-shift
// reject numeric: negative integers
// why: the same with a logical shift of the difference bits
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %c = arith.andi %u, %v : i32
    %x = arith.xori %u, %v : i32
    %x1 = arith.shrui %x, %one : i32
    %h = arith.addi %c, %x1 : i32
    memref.store %h, %y[%i] : memref<?xi32>
    %d = arith.subi %u, %v : i32
    memref.store %d, %z[%i] : memref<?xi32>
  }

// ----- truncating-division
// reject numeric: negative integers
// why: division truncates towards zero, the floor does not
// witness: {"set": {"0": [[0, -4]], "1": [[0, 1]]}}
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %u6 = arith.extsi %u : i32 to i64
    %v6 = arith.extsi %v : i32 to i64
    %s6 = arith.addi %u6, %v6 : i64
    %o6 = arith.constant 2 : i64
    %h6 = arith.divsi %s6, %o6 : i64
    %h = arith.trunci %h6 : i64 to i32
    memref.store %h, %y[%i] : memref<?xi32>
    %d = arith.subi %u, %v : i32
    memref.store %d, %z[%i] : memref<?xi32>
  }

// ----- ok-floordiv
// accept: integer identity
// why: floordivsi by two in 64 bits, and the difference as ~(~a + b)
  %m1 = arith.constant -1 : i32
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %u6 = arith.extsi %u : i32 to i64
    %v6 = arith.extsi %v : i32 to i64
    %s6 = arith.addi %u6, %v6 overflow<nsw> : i64
    %o6 = arith.constant 2 : i64
    %h6 = arith.floordivsi %s6, %o6 : i64
    %h = arith.trunci %h6 : i64 to i32
    memref.store %h, %y[%i] : memref<?xi32>
    %w = arith.xori %u, %m1 : i32
    %e = arith.addi %w, %v : i32
    %d = arith.xori %e, %m1 : i32
    memref.store %d, %z[%i] : memref<?xi32>
  }

// ----- a-plus-half-difference
// reject numeric: integer overflow
// why: a + (b - a) / 2 as in a binary search: the difference wraps
// witness: {"set": {"0": [[0, -2147483648]], "1": [[0, 2147483647]]}}
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %x = arith.subi %v, %u : i32
    %x1 = arith.shrsi %x, %one : i32
    %h = arith.addi %u, %x1 : i32
    memref.store %h, %y[%i] : memref<?xi32>
    %d = arith.subi %u, %v : i32
    memref.store %d, %z[%i] : memref<?xi32>
  }

// ----- nsw-difference
// reject assumption: false assumption
// why: nsw on a difference that wraps for extreme operands; both results are right at -O0
// witness: {"set": {"0": [[0, -2147483648]], "1": [[0, 2147483647]]}}
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %c = arith.andi %u, %v : i32
    %x = arith.xori %u, %v : i32
    %x1 = arith.shrsi %x, %one : i32
    %h = arith.addi %c, %x1 : i32
    memref.store %h, %y[%i] : memref<?xi32>
    %d = arith.subi %u, %v overflow<nsw> : i32
    memref.store %d, %z[%i] : memref<?xi32>
  }
// schedule
  scf.for %i = %c0 to %n step %c1 {
    %z0 = arith.constant 0 : i32
    memref.store %z0, %y[%i] : memref<?xi32>
    memref.store %z0, %z[%i] : memref<?xi32>
  }

// ----- difference-saturates
// reject numeric: saturation
// why: the difference stops at the extremes instead of wrapping
// witness: {"set": {"0": [[0, -2147483648]], "1": [[0, 1]]}}
  %lo = arith.constant -2147483648 : i64
  %hi = arith.constant 2147483647 : i64
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %c = arith.andi %u, %v : i32
    %x = arith.xori %u, %v : i32
    %x1 = arith.shrsi %x, %one : i32
    %h = arith.addi %c, %x1 : i32
    memref.store %h, %y[%i] : memref<?xi32>
    %u6 = arith.extsi %u : i32 to i64
    %v6 = arith.extsi %v : i32 to i64
    %d6 = arith.subi %u6, %v6 : i64
    %e6 = arith.maxsi %d6, %lo : i64
    %f6 = arith.minsi %e6, %hi : i64
    %d = arith.trunci %f6 : i64 to i32
    memref.store %d, %z[%i] : memref<?xi32>
  }

// ----- through-f64
// reject numeric: rounding
// why: the mean in double precision, converted by truncation: right for even sums and positive ones
// witness: {"set": {"0": [[0, -2]], "1": [[0, -1]]}}
  %half = arith.constant 0.5 : f64
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %uf = arith.sitofp %u : i32 to f64
    %vf = arith.sitofp %v : i32 to f64
    %s = arith.addf %uf, %vf : f64
    %m = arith.mulf %s, %half : f64
    %h = arith.fptosi %m : f64 to i32
    memref.store %h, %y[%i] : memref<?xi32>
    %d = arith.subi %u, %v : i32
    memref.store %d, %z[%i] : memref<?xi32>
  }

// ----- wrong-at-int-min-plus-1
// reject numeric: one value
// why: negates twice to get the difference, with a shortcut for INT_MIN + 1
// witness: {"set": {"0": [[0, -2147483647]], "1": [[0, 5]]}}
  %mag = arith.constant -2147483647 : i32
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %c = arith.andi %u, %v : i32
    %x = arith.xori %u, %v : i32
    %x1 = arith.shrsi %x, %one : i32
    %h = arith.addi %c, %x1 : i32
    memref.store %h, %y[%i] : memref<?xi32>
    %d0 = arith.subi %u, %v : i32
    %is = arith.cmpi eq, %u, %mag : i32
    %d1 = arith.subi %d0, %one : i32
    %d = arith.select %is, %d1, %d0 : i32
    memref.store %d, %z[%i] : memref<?xi32>
  }

// ----- results-exchanged
// reject numeric: argument order
// why: mean and difference go to each other's buffer
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %c = arith.andi %u, %v : i32
    %x = arith.xori %u, %v : i32
    %x1 = arith.shrsi %x, %one : i32
    %h = arith.addi %c, %x1 : i32
    memref.store %h, %z[%i] : memref<?xi32>
    %d = arith.subi %u, %v : i32
    memref.store %d, %y[%i] : memref<?xi32>
  }
