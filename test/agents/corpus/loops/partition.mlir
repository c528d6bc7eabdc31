// Stable partition in place: negative elements of v to the front, in their order; v is updated; k = how many.
func.func @main(%v: memref<?xi32> {kc.dims = ["N"], kc.inout}, %k: memref<1xi32> {kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %v, %c0 : memref<?xi32>
  %z = arith.constant 0 : i32
  // common above
  %t = memref.alloc(%n) : memref<?xi32>
  memref.copy %v, %t : memref<?xi32> to memref<?xi32>
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%p = %c0) -> (index) {
    %x = memref.load %t[%i] : memref<?xi32>
    %neg = arith.cmpi slt, %x, %z : i32
    %q = scf.if %neg -> (index) {
      memref.store %x, %v[%p] : memref<?xi32>
      %p1 = arith.addi %p, %c1 : index
      scf.yield %p1 : index
    } else {
      scf.yield %p : index
    }
    scf.yield %q : index
  }
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a) -> (index) {
    %x = memref.load %t[%i] : memref<?xi32>
    %pos = arith.cmpi sge, %x, %z : i32
    %q = scf.if %pos -> (index) {
      memref.store %x, %v[%p] : memref<?xi32>
      %p1 = arith.addi %p, %c1 : index
      scf.yield %p1 : index
    } else {
      scf.yield %p : index
    }
    scf.yield %q : index
  }
  %ai = arith.index_cast %a : index to i32
  memref.store %ai, %k[%c0] : memref<1xi32>
  memref.dealloc %t : memref<?xi32>
  return
}

// ----- unstable-swap
// reject numeric: unstable sort
// why: swaps with the first non-negative one, whose order is lost
// witness: {"sizes": {"N": 3}, "values": {"0": [1, 2, -1]}}
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%p = %c0) -> (index) {
    %x = memref.load %v[%i] : memref<?xi32>
    %neg = arith.cmpi slt, %x, %z : i32
    %q = scf.if %neg -> (index) {
      %y = memref.load %v[%p] : memref<?xi32>
      memref.store %x, %v[%p] : memref<?xi32>
      memref.store %y, %v[%i] : memref<?xi32>
      %p1 = arith.addi %p, %c1 : index
      scf.yield %p1 : index
    } else {
      scf.yield %p : index
    }
    scf.yield %q : index
  }
  %ai = arith.index_cast %a : index to i32
  memref.store %ai, %k[%c0] : memref<1xi32>

// ----- leak-when-all-negative
// reject resource: leak
// why: returns early, without giving the scratch back, where nothing has to move
// witness: {"sizes": {"N": 2}, "values": {"0": [-1, -2]}}
  %t = memref.alloc(%n) : memref<?xi32>
  memref.copy %v, %t : memref<?xi32> to memref<?xi32>
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%p = %c0) -> (index) {
    %x = memref.load %t[%i] : memref<?xi32>
    %neg = arith.cmpi slt, %x, %z : i32
    %q = scf.if %neg -> (index) {
      memref.store %x, %v[%p] : memref<?xi32>
      %p1 = arith.addi %p, %c1 : index
      scf.yield %p1 : index
    } else {
      scf.yield %p : index
    }
    scf.yield %q : index
  }
  %ai = arith.index_cast %a : index to i32
  memref.store %ai, %k[%c0] : memref<1xi32>
  %all = arith.cmpi eq, %a, %n : index
  cf.cond_br %all, ^end, ^rest
^rest:
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a) -> (index) {
    %x = memref.load %t[%i] : memref<?xi32>
    %pos = arith.cmpi sge, %x, %z : i32
    %q = scf.if %pos -> (index) {
      memref.store %x, %v[%p] : memref<?xi32>
      %p1 = arith.addi %p, %c1 : index
      scf.yield %p1 : index
    } else {
      scf.yield %p : index
    }
    scf.yield %q : index
  }
  memref.dealloc %t : memref<?xi32>
  cf.br ^end
^end:
  return

// ----- ok-scratch-for-positives
// accept: private in-place
// why: only the non-negative ones go to the scratch, and are copied back behind the others
  %t = memref.alloc(%n) : memref<?xi32>
  %a:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %c0, %r = %c0) -> (index, index) {
    %x = memref.load %v[%i] : memref<?xi32>
    %neg = arith.cmpi slt, %x, %z : i32
    %q:2 = scf.if %neg -> (index, index) {
      memref.store %x, %v[%p] : memref<?xi32>
      %p1 = arith.addi %p, %c1 : index
      scf.yield %p1, %r : index, index
    } else {
      memref.store %x, %t[%r] : memref<?xi32>
      %r1 = arith.addi %r, %c1 : index
      scf.yield %p, %r1 : index, index
    }
    scf.yield %q#0, %q#1 : index, index
  }
  %s = memref.subview %t[%c0] [%a#1] [1] : memref<?xi32> to memref<?xi32, strided<[1], offset: ?>>
  %d = memref.subview %v[%a#0] [%a#1] [1] : memref<?xi32> to memref<?xi32, strided<[1], offset: ?>>
  memref.copy %s, %d : memref<?xi32, strided<[1], offset: ?>> to memref<?xi32, strided<[1], offset: ?>>
  %ai = arith.index_cast %a#0 : index to i32
  memref.store %ai, %k[%c0] : memref<1xi32>
  memref.dealloc %t : memref<?xi32>

// ----- scratch-of-half
// reject aliasing/bounds: out-of-bounds write
// why: the same with a scratch of half the length and one: enough for mixed signs only
// witness: {"sizes": {"N": 16}, "fill": "zeros", "guard": true}
  %c2 = arith.constant 2 : index
  %h0 = arith.divui %n, %c2 : index
  %h = arith.addi %h0, %c2 : index
  %t = memref.alloc(%h) : memref<?xi32>
  %a:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %c0, %r = %c0) -> (index, index) {
    %x = memref.load %v[%i] : memref<?xi32>
    %neg = arith.cmpi slt, %x, %z : i32
    %q:2 = scf.if %neg -> (index, index) {
      memref.store %x, %v[%p] : memref<?xi32>
      %p1 = arith.addi %p, %c1 : index
      scf.yield %p1, %r : index, index
    } else {
      memref.store %x, %t[%r] : memref<?xi32>
      %r1 = arith.addi %r, %c1 : index
      scf.yield %p, %r1 : index, index
    }
    scf.yield %q#0, %q#1 : index, index
  }
  scf.for %j = %c0 to %a#1 step %c1 {
    %x = memref.load %t[%j] : memref<?xi32>
    %o = arith.addi %a#0, %j : index
    memref.store %x, %v[%o] : memref<?xi32>
  }
  %ai = arith.index_cast %a#0 : index to i32
  memref.store %ai, %k[%c0] : memref<1xi32>
  memref.dealloc %t : memref<?xi32>

// ----- sign-by-subtraction-of-one
// reject numeric: one value
// why: tells negative ones by x - 1 < -1, which wraps for INT_MIN
// witness: {"sizes": {"N": 2}, "values": {"0": [3, -2147483648]}}
  %one = arith.constant 1 : i32
  %m1 = arith.constant -1 : i32
  %t = memref.alloc(%n) : memref<?xi32>
  %a:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %c0, %r = %c0) -> (index, index) {
    %x = memref.load %v[%i] : memref<?xi32>
    %w = arith.subi %x, %one : i32
    %neg = arith.cmpi slt, %w, %m1 : i32
    %q:2 = scf.if %neg -> (index, index) {
      memref.store %x, %v[%p] : memref<?xi32>
      %p1 = arith.addi %p, %c1 : index
      scf.yield %p1, %r : index, index
    } else {
      memref.store %x, %t[%r] : memref<?xi32>
      %r1 = arith.addi %r, %c1 : index
      scf.yield %p, %r1 : index, index
    }
    scf.yield %q#0, %q#1 : index, index
  }
  scf.for %j = %c0 to %a#1 step %c1 {
    %x = memref.load %t[%j] : memref<?xi32>
    %o = arith.addi %a#0, %j : index
    memref.store %x, %v[%o] : memref<?xi32>
  }
  %ai = arith.index_cast %a#0 : index to i32
  memref.store %ai, %k[%c0] : memref<1xi32>
  memref.dealloc %t : memref<?xi32>

// ----- rotates-quadratic
// reject numeric: unstable sort
// why: insertion by moving one step at a time, at most 16 of them
// witness: {"sizes": {"N": 20}, "fill": "zeros", "set": {"0": [[19, -4]]}}
  %c16 = arith.constant 16 : index
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%p = %c0) -> (index) {
    %x = memref.load %v[%i] : memref<?xi32>
    %neg = arith.cmpi slt, %x, %z : i32
    %q = scf.if %neg -> (index) {
      %d0 = arith.subi %i, %p : index
      %d = arith.minui %d0, %c16 : index
      scf.for %j = %c0 to %d step %c1 {
        %s0 = arith.subi %i, %j : index
        %s1 = arith.subi %s0, %c1 : index
        %y = memref.load %v[%s1] : memref<?xi32>
        memref.store %y, %v[%s0] : memref<?xi32>
      }
      %w = arith.subi %i, %d : index
      memref.store %x, %v[%w] : memref<?xi32>
      %p1 = arith.addi %p, %c1 : index
      scf.yield %p1 : index
    } else {
      scf.yield %p : index
    }
    scf.yield %q : index
  }
  %ai = arith.index_cast %a : index to i32
  memref.store %ai, %k[%c0] : memref<1xi32>

// ----- frees-the-scratch-first
// reject numeric: use after free
// why: the scratch is given back before it is read
// witness: {"sizes": {"N": 8}}
// unchecked: freed memory may still hold the values
  %t = memref.alloc(%n) : memref<?xi32>
  memref.copy %v, %t : memref<?xi32> to memref<?xi32>
  memref.dealloc %t : memref<?xi32>
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%p = %c0) -> (index) {
    %x = memref.load %t[%i] : memref<?xi32>
    %neg = arith.cmpi slt, %x, %z : i32
    %q = scf.if %neg -> (index) {
      memref.store %x, %v[%p] : memref<?xi32>
      %p1 = arith.addi %p, %c1 : index
      scf.yield %p1 : index
    } else {
      scf.yield %p : index
    }
    scf.yield %q : index
  }
  %b = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a) -> (index) {
    %x = memref.load %t[%i] : memref<?xi32>
    %pos = arith.cmpi sge, %x, %z : i32
    %q = scf.if %pos -> (index) {
      memref.store %x, %v[%p] : memref<?xi32>
      %p1 = arith.addi %p, %c1 : index
      scf.yield %p1 : index
    } else {
      scf.yield %p : index
    }
    scf.yield %q : index
  }
  %ai = arith.index_cast %a : index to i32
  memref.store %ai, %k[%c0] : memref<1xi32>
