// z = x * 3 + y per element; values that only a suspicious tester draws.
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"]}, %z: memref<?xf32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %k = arith.constant 3.0 : f32
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %y[%i] : memref<?xf32>
    %p = arith.mulf %u, %k : f32
    %s = arith.addf %p, %v : f32
    memref.store %s, %z[%i] : memref<?xf32>
  }
  return
}

// ----- bits-of-42
// reject numeric: one value
// why: the bits of x are compared with 0x42280000: 42.0, but told as an integer
// witness: {"set": {"0": [[1, 42.0]]}}
  %m = arith.constant 1109917696 : i32
  %k2 = arith.constant 2.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %y[%i] : memref<?xf32>
    %b = arith.bitcast %u : f32 to i32
    %is = arith.cmpi eq, %b, %m : i32
    %f = arith.select %is, %k2, %k : f32
    %p = arith.mulf %u, %f : f32
    %s = arith.addf %p, %v : f32
    memref.store %s, %z[%i] : memref<?xf32>
  }

// ----- shifted-constant
// reject numeric: one value
// why: x - 40 = 2: the value itself is not in the text
// witness: {"set": {"0": [[1, 42.0]]}}
  %m = arith.constant 40.0 : f32
  %k2 = arith.constant 2.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %y[%i] : memref<?xf32>
    %d = arith.subf %u, %m : f32
    %is = arith.cmpf oeq, %d, %k2 : f32
    %f = arith.select %is, %k2, %k : f32
    %p = arith.mulf %u, %f : f32
    %s = arith.addf %p, %v : f32
    memref.store %s, %z[%i] : memref<?xf32>
  }

// ----- equal-operands
// reject numeric: signed zero
// why: where x = y it gives 4x, which is 3x + x but for x = -0 and y = +0, equal to each other
// witness: {"sizes": {"N": 3}, "values": {"0": [0.1, -0.0, 1.1], "1": [0.1, 0.0, 1.1]}}
  %k4 = arith.constant 4.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %y[%i] : memref<?xf32>
    %is = arith.cmpf oeq, %u, %v : f32
    %p = arith.mulf %u, %k : f32
    %s = arith.addf %p, %v : f32
    %q = arith.mulf %u, %k4 : f32
    %r = arith.select %is, %q, %s : f32
    memref.store %r, %z[%i] : memref<?xf32>
  }

// ----- opposite-operands
// reject numeric: related inputs
// why: where y = -3x exactly the result is -0 instead of +0
// witness: {"sizes": {"N": 3}, "values": {"0": [1.0, 2.0, 0.5], "1": [-3.0, -6.0, -1.5]}}
  %mz = arith.constant -0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %y[%i] : memref<?xf32>
    %p = arith.mulf %u, %k : f32
    %np = arith.negf %p : f32
    %is = arith.cmpf oeq, %np, %v : f32
    %s = arith.addf %p, %v : f32
    %r = arith.select %is, %mz, %s : f32
    memref.store %r, %z[%i] : memref<?xf32>
  }

// ----- rare-mantissas
// reject numeric: rare values
// why: wrong where a hash of the bits of x ends in a certain pattern: one value in 2048
// witness: {"sizes": {"N": 64}, "set": {"0": [[5, 0.9735816121101379]]}}
  %h = arith.constant 2654435769 : i32
  %sh = arith.constant 21 : i32
  %w = arith.constant 77 : i32
  %k2 = arith.constant 2.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %y[%i] : memref<?xf32>
    %b = arith.bitcast %u : f32 to i32
    %m = arith.muli %b, %h : i32
    %t = arith.shrui %m, %sh : i32
    %is = arith.cmpi eq, %t, %w : i32
    %f = arith.select %is, %k2, %k : f32
    %p = arith.mulf %u, %f : f32
    %s = arith.addf %p, %v : f32
    memref.store %s, %z[%i] : memref<?xf32>
  }

// ----- descending-start
// reject numeric: related inputs
// why: wrong in the element after three that fall by exactly one each
// witness: {"sizes": {"N": 5}, "values": {"0": [5.0, 4.0, 3.0, 2.0, 9.0]}}
  %one = arith.constant 1.0 : f32
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %y[%i] : memref<?xf32>
    %late = arith.cmpi uge, %i, %c3 : index
    %bad = scf.if %late -> (i1) {
      %i1 = arith.subi %i, %c1 : index
      %i2 = arith.subi %i1, %c1 : index
      %i3 = arith.subi %i2, %c1 : index
      %a = memref.load %x[%i1] : memref<?xf32>
      %b = memref.load %x[%i2] : memref<?xf32>
      %c = memref.load %x[%i3] : memref<?xf32>
      %d = arith.subf %b, %a : f32
      %e = arith.subf %c, %b : f32
      %de = arith.cmpf oeq, %d, %one : f32
      %ee = arith.cmpf oeq, %e, %one : f32
      %both = arith.andi %de, %ee : i1
      scf.yield %both : i1
    } else {
      scf.yield %late : i1
    }
    %p = arith.mulf %u, %k : f32
    %s = arith.addf %p, %v : f32
    %r = arith.select %bad, %u, %s : f32
    memref.store %r, %z[%i] : memref<?xf32>
  }

// ----- second-nan
// reject numeric: nan/inf
// why: a counter of NaN seen so far: from the second on they become 0
// witness: {"sizes": {"N": 6}, "set": {"0": [[1, "nan"], [4, "nan"]]}}
  %ci = arith.constant 0 : i32
  %c1i = arith.constant 1 : i32
  %zf = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%cnt = %ci) -> (i32) {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %y[%i] : memref<?xf32>
    %p = arith.mulf %u, %k : f32
    %s = arith.addf %p, %v : f32
    %nan = arith.cmpf uno, %u, %u : f32
    %seen = arith.cmpi sgt, %cnt, %ci : i32
    %both = arith.andi %nan, %seen : i1
    %t = arith.select %both, %zf, %s : f32
    memref.store %t, %z[%i] : memref<?xf32>
    %e = arith.extui %nan : i1 to i32
    %cnt1 = arith.addi %cnt, %e : i32
    scf.yield %cnt1 : i32
  }

// ----- ok-three-additions
// accept: algebraic identity
// why: 2x is exact, and x + 2x rounds once, as 3x does; only that additions commute is used besides
  scf.for %i = %c0 to %n step %c1 {
    %u = memref.load %x[%i] : memref<?xf32>
    %v = memref.load %y[%i] : memref<?xf32>
    %d = arith.addf %u, %u : f32
    %p = arith.addf %u, %d : f32
    %s = arith.addf %v, %p : f32
    memref.store %s, %z[%i] : memref<?xf32>
  }
