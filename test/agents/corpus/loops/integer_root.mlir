// y = floor of the square root of x, 0 <= x < 2^31.
func.func @main(%x: memref<?xi32> {kc.dims = ["N"], kc.range = array<i64: 0, 2147483647>}, %y: memref<?xi32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // common above
  %c16 = arith.constant 16 : index
  %top = arith.constant 32768 : i32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %v6 = arith.extui %v : i32 to i64
    %r:2 = scf.for %k = %c0 to %c16 step %c1 iter_args(%a = %z, %b = %top) -> (i32, i32) {
      %c = arith.ori %a, %b : i32
      %c6 = arith.extui %c : i32 to i64
      %q = arith.muli %c6, %c6 : i64
      %le = arith.cmpi ule, %q, %v6 : i64
      %a1 = arith.select %le, %c, %a : i32
      %b1 = arith.shrui %b, %one : i32
      scf.yield %a1, %b1 : i32, i32
    }
    memref.store %r#0, %y[%i] : memref<?xi32>
  }
  return
}

// ----- through-f32
// reject numeric: rounding
// why: the root in f32 of a rounded argument: one too large just below squares
// witness: {"set": {"0": [[2, 2147302920]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %f = arith.sitofp %v : i32 to f32
    %s = math.sqrt %f : f32
    %r = arith.fptosi %s : f32 to i32
    memref.store %r, %y[%i] : memref<?xi32>
  }

// ----- through-f32-mended-up
// reject numeric: rounding
// why: the root in f32, made larger where (r + 1)^2 still fits; never made smaller
// witness: {"set": {"0": [[1, 2147302920]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %f = arith.sitofp %v : i32 to f32
    %s = math.sqrt %f : f32
    %r = arith.fptosi %s : f32 to i32
    %r1 = arith.addi %r, %one : i32
    %q = arith.muli %r1, %r1 : i32
    %le = arith.cmpi sle, %q, %v : i32
    %pos = arith.cmpi sgt, %q, %z : i32
    %up = arith.andi %le, %pos : i1
    %t = arith.select %up, %r1, %r : i32
    memref.store %t, %y[%i] : memref<?xi32>
  }

// ----- ok-through-f64
// accept: exact in floats
// why: in f64 the argument is exact, and the root of a number below a square rounds below it
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %f = arith.uitofp %v : i32 to f64
    %s = math.sqrt %f : f64
    %r = arith.fptosi %s : f64 to i32
    memref.store %r, %y[%i] : memref<?xi32>
  }

// ----- fifteen-bits
// reject numeric: hard-coded bound
// why: starts from 2^14: roots from 32768 on need sixteen bits
// witness: {"set": {"0": [[1, 1073741824]]}}
  %c16 = arith.constant 16 : index
  %top = arith.constant 16384 : i32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %r:2 = scf.for %k = %c0 to %c16 step %c1 iter_args(%a = %z, %b = %top) -> (i32, i32) {
      %c = arith.ori %a, %b : i32
      %q = arith.muli %c, %c : i32
      %le = arith.cmpi ule, %q, %v : i32
      %a1 = arith.select %le, %c, %a : i32
      %b1 = arith.shrui %b, %one : i32
      scf.yield %a1, %b1 : i32, i32
    }
    memref.store %r#0, %y[%i] : memref<?xi32>
  }

// ----- ok-squares-in-32-bits
// accept: integer identity
// why: the largest trial 65535 squared fits in 32 bits unsigned
  %c16 = arith.constant 16 : index
  %top = arith.constant 32768 : i32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %r:2 = scf.for %k = %c0 to %c16 step %c1 iter_args(%a = %z, %b = %top) -> (i32, i32) {
      %c = arith.ori %a, %b : i32
      %q = arith.muli %c, %c : i32
      %le = arith.cmpi ule, %q, %v : i32
      %a1 = arith.select %le, %c, %a : i32
      %b1 = arith.shrui %b, %one : i32
      scf.yield %a1, %b1 : i32, i32
    }
    memref.store %r#0, %y[%i] : memref<?xi32>
  }

// ----- newton-eight-steps
// reject numeric: hard-coded bound
// why: Newton's iteration from x itself, eight steps: enough for small ones
// witness: {"set": {"0": [[1, 2000000000]]}}
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %w = arith.maxui %v, %one : i32
    %r = scf.for %k = %c0 to %c8 step %c1 iter_args(%a = %w) -> (i32) {
      %d = arith.divui %w, %a : i32
      %s = arith.addi %a, %d : i32
      %h = arith.shrui %s, %one : i32
      %b = arith.minui %h, %a : i32
      scf.yield %b : i32
    }
    %t = arith.minui %r, %v : i32
    memref.store %t, %y[%i] : memref<?xi32>
  }

// ----- newton-until-stable
// reject resource: endless loop
// why: repeats until two steps are alike: it swings for ever between two numbers just below squares
// witness: {"set": {"0": [[1, 3]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xi32>
    %w = arith.maxui %v, %one : i32
    %zz = arith.constant 0 : i32
    %r:2 = scf.while (%a = %w, %o = %zz) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi ne, %a, %o : i32
      scf.condition(%go) %a, %o : i32, i32
    } do {
    ^bb0(%a: i32, %o: i32):
      %d = arith.divui %w, %a : i32
      %s = arith.addi %a, %d : i32
      %h = arith.shrui %s, %one : i32
      scf.yield %h, %a : i32, i32
    }
    %t = arith.minui %r#0, %v : i32
    memref.store %t, %y[%i] : memref<?xi32>
  }
