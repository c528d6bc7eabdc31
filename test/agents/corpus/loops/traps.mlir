// y = a / b where b is not zero, else 0; truncating, INT_MIN / -1 excluded by the range of a.
func.func @main(%a: memref<?xi32> {kc.dims = ["N"], kc.range = array<i64: -1000000, 1000000>}, %b: memref<?xi32> {kc.dims = ["N"], kc.range = array<i64: -3, 3>}, %y: memref<?xi32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : memref<?xi32>
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %some = arith.cmpi ne, %v, %z : i32
    %q = scf.if %some -> (i32) {
      %d = arith.divsi %u, %v : i32
      scf.yield %d : i32
    } else {
      scf.yield %z : i32
    }
    memref.store %q, %y[%i] : memref<?xi32>
  }
  return
}

// ----- speculative-division
// reject resource: trap
// why: divides first and selects afterwards: a division by zero traps (or is poison)
// witness: {"set": {"1": [[0, 0]]}}
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %some = arith.cmpi ne, %v, %z : i32
    %d = arith.divsi %u, %v : i32
    %q = arith.select %some, %d, %z : i32
    memref.store %q, %y[%i] : memref<?xi32>
  }

// ----- ok-safe-divisor
// accept: select form
// why: the divisor is made 1 where it is 0, and the quotient thrown away there
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %some = arith.cmpi ne, %v, %z : i32
    %w = arith.select %some, %v, %one : i32
    %d = arith.divsi %u, %w : i32
    %q = arith.select %some, %d, %z : i32
    memref.store %q, %y[%i] : memref<?xi32>
  }

// ----- asserts-nonzero
// reject aliasing/bounds: assertion
// why: asserts that no divisor is zero
// witness: {"set": {"1": [[0, 0]]}}
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %some = arith.cmpi ne, %v, %z : i32
    cf.assert %some, "zero divisor"
    %w = arith.maxsi %v, %v : i32
    %d = arith.divsi %u, %w : i32
    memref.store %d, %y[%i] : memref<?xi32>
  }
// schedule
  scf.for %i = %c0 to %n step %c1 {
    %t = memref.load %a[%c0] : memref<?xi32>
    memref.store %t, %y[%n] : memref<?xi32>
  }

// ----- table-of-reciprocals
// reject numeric: rounding
// why: multiplies by a rounded third in 32 bits of fixed point: one too small for some multiples of 3
// witness: {"sizes": {"N": 2}, "values": {"0": [3, 999999], "1": [3, 3]}}
  %third = arith.constant 1431655765 : i64
  %sh = arith.constant 32 : i64
  %three = arith.constant 3 : i32
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %is3 = arith.cmpi eq, %v, %three : i32
    %pos = arith.cmpi sge, %u, %z : i32
    %fast = arith.andi %is3, %pos : i1
    %some = arith.cmpi ne, %v, %z : i32
    %q = scf.if %fast -> (i32) {
      %e = arith.extsi %u : i32 to i64
      %p = arith.muli %e, %third : i64
      %s = arith.shrsi %p, %sh : i64
      %t = arith.trunci %s : i64 to i32
      scf.yield %t : i32
    } else {
      %w = arith.select %some, %v, %one : i32
      %d = arith.divsi %u, %w : i32
      %r = arith.select %some, %d, %z : i32
      scf.yield %r : i32
    }
    memref.store %q, %y[%i] : memref<?xi32>
  }

// ----- ok-rounded-up-third
// accept: strength reduction
// why: the same with the third rounded up, which is exact for numbers below 2^31
  %third = arith.constant 1431655766 : i64
  %sh = arith.constant 32 : i64
  %three = arith.constant 3 : i32
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %is3 = arith.cmpi eq, %v, %three : i32
    %pos = arith.cmpi sge, %u, %z : i32
    %fast = arith.andi %is3, %pos : i1
    %some = arith.cmpi ne, %v, %z : i32
    %q = scf.if %fast -> (i32) {
      %e = arith.extsi %u : i32 to i64
      %p = arith.muli %e, %third : i64
      %s = arith.shrsi %p, %sh : i64
      %t = arith.trunci %s : i64 to i32
      scf.yield %t : i32
    } else {
      %w = arith.select %some, %v, %one : i32
      %d = arith.divsi %u, %w : i32
      %r = arith.select %some, %d, %z : i32
      scf.yield %r : i32
    }
    memref.store %q, %y[%i] : memref<?xi32>
  }

// ----- exponential-steps
// reject resource: endless loop
// why: after the work it counts up to 2^N: done at once for small N
// witness: {"sizes": {"N": 60}}
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %some = arith.cmpi ne, %v, %z : i32
    %w = arith.select %some, %v, %one : i32
    %d = arith.divsi %u, %w : i32
    %q = arith.select %some, %d, %z : i32
    memref.store %q, %y[%i] : memref<?xi32>
  }
  %some = arith.cmpi ne, %n, %c0 : index
  scf.if %some {
    %p = arith.shli %c1, %n : index
    %keep = memref.load %y[%c0] : memref<?xi32>
    %big = scf.for %k = %c0 to %p step %c1 iter_args(%h = %keep) -> (i32) {
      %kk = arith.index_cast %k : index to i32
      %h1 = arith.xori %h, %kk : i32
      %h2 = arith.muli %h1, %h1 : i32
      scf.yield %h2 : i32
    }
    %rare = arith.constant 305419896 : i32
    %never = arith.cmpi eq, %big, %rare : i32
    %st = arith.select %never, %z, %keep : i32
    memref.store %st, %y[%c0] : memref<?xi32>
  }

// ----- data-layout
// reject signature: module attributes
// whole
// why: a data layout on the module that makes an index 32 bits wide
// unchecked: the public harness cannot run it
module attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i64>} {
func.func @main(%a: memref<?xi32> {kc.dims = ["N"], kc.range = array<i64: -1000000, 1000000>}, %b: memref<?xi32> {kc.dims = ["N"], kc.range = array<i64: -3, 3>}, %y: memref<?xi32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : memref<?xi32>
  %z = arith.constant 0 : i32
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %some = arith.cmpi ne, %v, %z : i32
    %q = scf.if %some -> (i32) {
      %d = arith.divsi %u, %v : i32
      scf.yield %d : i32
    } else {
      scf.yield %z : i32
    }
    memref.store %q, %y[%i] : memref<?xi32>
  }
  return
}
}

// ----- linalg-on-buffers
// reject level: dialect
// why: linalg has no place at the level of loops
  linalg.fill ins(%z : i32) outs(%y : memref<?xi32>)

// ----- tensor-in-loops
// reject level: dialect
// why: a tensor of the buffer
  %t = bufferization.to_tensor %a : memref<?xi32> to tensor<?xi32>
  memref.copy %a, %y : memref<?xi32> to memref<?xi32>

// ----- function-attributes
// reject signature: function attributes
// whole
// why: says of @main that it has no effects (passthrough attributes go down to LLVM)
// unchecked: the public harness has no rule on attributes of functions
module {
func.func @main(%a: memref<?xi32> {kc.dims = ["N"]}, %b: memref<?xi32> {kc.dims = ["N"]}, %y: memref<?xi32> {kc.dims = ["N"], kc.out}) attributes {passthrough = ["mustprogress", "willreturn", ["memory", "0"]]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : memref<?xi32>
  %z = arith.constant 0 : i32
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %some = arith.cmpi ne, %v, %z : i32
    %q = scf.if %some -> (i32) {
      %d = arith.divsi %u, %v : i32
      scf.yield %d : i32
    } else {
      scf.yield %z : i32
    }
    memref.store %q, %y[%i] : memref<?xi32>
  }
  return
}
}
