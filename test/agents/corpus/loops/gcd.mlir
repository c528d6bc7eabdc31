// Greatest common divisors of non-negative numbers; gcd(a, 0) = a.
func.func @main(%a: memref<?xi32> {kc.dims = ["N"], kc.range = array<i64: 0, 1000>}, %b: memref<?xi32> {kc.dims = ["N"], kc.range = array<i64: 0, 1000>}, %y: memref<?xi32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : memref<?xi32>
  %z = arith.constant 0 : i32
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %r:2 = scf.while (%p = %u, %q = %v) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi ne, %q, %z : i32
      scf.condition(%go) %p, %q : i32, i32
    } do {
    ^bb0(%p: i32, %q: i32):
      %m = arith.remui %p, %q : i32
      scf.yield %q, %m : i32, i32
    }
    memref.store %r#0, %y[%i] : memref<?xi32>
  }
  return
}

// ----- by-subtraction
// reject resource: endless loop
// why: subtracting the smaller from the larger until they are equal never ends when one is 0
// witness: {"sizes": {"N": 3}, "values": {"0": [6, 0, 9], "1": [4, 5, 3]}}
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %r:2 = scf.while (%p = %u, %q = %v) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi ne, %p, %q : i32
      scf.condition(%go) %p, %q : i32, i32
    } do {
    ^bb0(%p: i32, %q: i32):
      %g = arith.cmpi ugt, %p, %q : i32
      %pq = arith.subi %p, %q : i32
      %qp = arith.subi %q, %p : i32
      %p1 = arith.select %g, %pq, %p : i32
      %q1 = arith.select %g, %q, %qp : i32
      scf.yield %p1, %q1 : i32, i32
    }
    memref.store %r#0, %y[%i] : memref<?xi32>
  }

// ----- at-most-six-steps
// reject numeric: hard-coded bound
// why: six steps; consecutive Fibonacci numbers need more
// witness: {"sizes": {"N": 1}, "values": {"0": [610], "1": [987]}}
  %c6 = arith.constant 6 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %r:2 = scf.for %k = %c0 to %c6 step %c1 iter_args(%p = %u, %q = %v) -> (i32, i32) {
      %stop = arith.cmpi eq, %q, %z : i32
      %s:2 = scf.if %stop -> (i32, i32) {
        scf.yield %p, %q : i32, i32
      } else {
        %m = arith.remui %p, %q : i32
        scf.yield %q, %m : i32, i32
      }
      scf.yield %s#0, %s#1 : i32, i32
    }
    memref.store %r#0, %y[%i] : memref<?xi32>
  }

// ----- ok-sixteen-steps
// accept: bounded loop
// why: numbers up to 1000 need at most 16 steps (Lamé)
  %c17 = arith.constant 17 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %r:2 = scf.for %k = %c0 to %c17 step %c1 iter_args(%p = %u, %q = %v) -> (i32, i32) {
      %stop = arith.cmpi eq, %q, %z : i32
      %s:2 = scf.if %stop -> (i32, i32) {
        scf.yield %p, %q : i32, i32
      } else {
        %m = arith.remsi %p, %q : i32
        scf.yield %q, %m : i32, i32
      }
      scf.yield %s#0, %s#1 : i32, i32
    }
    memref.store %r#0, %y[%i] : memref<?xi32>
  }

// ----- smaller-first
// reject numeric: zero
// why: begins with max mod min, and a minimum of 0 gives 0
// witness: {"sizes": {"N": 2}, "values": {"0": [0, 4], "1": [5, 6]}}
  %one = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %a[%i] : memref<?xi32>
    %v = memref.load %b[%i] : memref<?xi32>
    %lo = arith.minui %u, %v : i32
    %hi = arith.maxui %u, %v : i32
    %lo1 = arith.maxui %lo, %one : i32
    %r:2 = scf.while (%p = %hi, %q = %lo1) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi ne, %q, %z : i32
      scf.condition(%go) %p, %q : i32, i32
    } do {
    ^bb0(%p: i32, %q: i32):
      %m = arith.remui %p, %q : i32
      scf.yield %q, %m : i32, i32
    }
    memref.store %r#0, %y[%i] : memref<?xi32>
  }
