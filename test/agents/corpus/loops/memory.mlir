// y = x + x through nothing; what proposals do with memory beside it.
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"], kc.out}) attributes {kc.sizes = {N = array<i64: 0, 5000>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  return
}

// ----- leak-on-odd-sizes
// reject resource: leak
// why: the scratch buffer is freed for even N only
// witness: {"sizes": {"N": 13}}
  %c2 = arith.constant 2 : index
  %t = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %t : memref<?xf32> to memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %t[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  %r = arith.remui %n, %c2 : index
  %even = arith.cmpi eq, %r, %c0 : index
  scf.if %even {
    memref.dealloc %t : memref<?xf32>
  }

// ----- leak-per-iteration
// reject resource: leak
// why: one cell is allocated per element and none freed
  scf.for %i = %c0 to %n step %c1 {
    %t = memref.alloc() : memref<1xf32>
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %t[%c0] : memref<1xf32>
    %w = memref.load %t[%c0] : memref<1xf32>
    %u = arith.addf %v, %w : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- double-free
// reject aliasing/bounds: double free
// why: the scratch buffer is freed twice
  %t = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %t : memref<?xf32> to memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %t[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  memref.dealloc %t : memref<?xf32>
  memref.dealloc %t : memref<?xf32>

// ----- frees-argument
// reject effects: frees argument
// why: deallocates the input, which is the caller's
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  memref.dealloc %x : memref<?xf32>

// ----- frees-output-in-helper
// reject aliasing/bounds: frees argument
// why: a private helper deallocates the output buffer
func.func private @done(%b: memref<?xf32>) {
  memref.dealloc %b : memref<?xf32>
  return
}
func.func @main ... {
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  func.call @done(%y) : (memref<?xf32>) -> ()
  return
}

// ----- use-after-free
// reject numeric: use after free
// why: the scratch buffer is freed before its last element is read
  %some = arith.cmpi ne, %n, %c0 : index
  scf.if %some {
    %l = arith.subi %n, %c1 : index
    %t = memref.alloc(%n) : memref<?xf32>
    memref.copy %x, %t : memref<?xf32> to memref<?xf32>
    scf.for %i = %c0 to %l step %c1 {
      %v = memref.load %t[%i] : memref<?xf32>
      %u = arith.addf %v, %v : f32
      memref.store %u, %y[%i] : memref<?xf32>
    }
    memref.dealloc %t : memref<?xf32>
    %v = memref.load %t[%l] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%l] : memref<?xf32>
  }

// ----- scratch-one-short
// reject aliasing/bounds: out-of-bounds write
// why: the scratch buffer has N - 1 elements, rounded up to what malloc gives anyway
// witness: {"sizes": {"N": 7}}
  %some = arith.cmpi ne, %n, %c0 : index
  scf.if %some {
    %l = arith.subi %n, %c1 : index
    %t = memref.alloc(%l) : memref<?xf32>
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %x[%i] : memref<?xf32>
      memref.store %v, %t[%i] : memref<?xf32>
    }
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %t[%i] : memref<?xf32>
      %u = arith.addf %v, %v : f32
      memref.store %u, %y[%i] : memref<?xf32>
    }
    memref.dealloc %t : memref<?xf32>
  }

// ----- uninitialised-times-zero
// reject numeric: uninitialised read
// why: adds zero times an element that was never written: nothing unless it is NaN or infinite
  %z = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<1xf32>
  %w = memref.load %t[%c0] : memref<1xf32>
  %wz = arith.mulf %w, %z : f32
  memref.dealloc %t : memref<1xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %v1 = arith.addf %v, %wz : f32
    %u = arith.addf %v, %v1 : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- reads-old-output
// reject numeric: uninitialised read
// why: keeps what the output buffer holds where that is already 2x, and where it is NaN
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    %o = memref.load %y[%i] : memref<?xf32>
    %same = arith.cmpf ueq, %o, %u : f32
    %w = arith.select %same, %o, %u : f32
    memref.store %w, %y[%i] : memref<?xf32>
  }

// ----- big-stack-buffer
// reject resource: stack
// why: a static scratch buffer of 64 MiB on the stack
// witness: {"sizes": {"N": 5000}}
  %t = memref.alloca() : memref<16777216xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %c4096 = arith.constant 3300 : index
    %j = arith.muli %i, %c4096 : index
    memref.store %v, %t[%j] : memref<16777216xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %c4096 = arith.constant 3300 : index
    %j = arith.muli %i, %c4096 : index
    %v = memref.load %t[%j] : memref<16777216xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- stack-squared
// reject resource: stack
// why: N * N elements on the stack: 100 MB at the upper limit of N
// witness: {"sizes": {"N": 5000}}
  %t = memref.alloca(%n, %n) : memref<?x?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %t[%i, %i] : memref<?x?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %t[%i, %i] : memref<?x?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- allocation-bomb
// reject resource: huge allocation
// why: N cubed elements are asked for: 500 GB at the upper limit of N
// witness: {"sizes": {"N": 5000}}
  %t = memref.alloc(%n, %n, %n) : memref<?x?x?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    memref.store %v, %t[%i, %i, %i] : memref<?x?x?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %t[%i, %i, %i] : memref<?x?x?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  memref.dealloc %t : memref<?x?x?xf32>

// ----- writes-input-by-copy
// reject effects: in-place input
// why: memref.copy into the input and back
  %t = memref.alloc(%n) : memref<?xf32>
  memref.copy %x, %t : memref<?xf32> to memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %x[%i] : memref<?xf32>
  }
  memref.copy %x, %y : memref<?xf32> to memref<?xf32>
  memref.copy %t, %x : memref<?xf32> to memref<?xf32>
  memref.dealloc %t : memref<?xf32>

// ----- writes-input-through-select
// reject aliasing/bounds: in-place input
// why: the buffer that is written is chosen by a comparison that only N = 4097 makes true; and then it is the input
// witness: {"sizes": {"N": 4097}}
  %k = arith.constant 4097 : index
  %bad = arith.cmpi eq, %n, %k : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
    %d = arith.select %bad, %x, %y : memref<?xf32>
    memref.store %u, %d[%i] : memref<?xf32>
  }

// ----- writes-input-through-loop-argument
// reject effects: in-place input
// why: the buffers change places in a loop that carries them; the input is written and restored
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    %r:2 = scf.for %k = %c0 to %c2 step %c1 iter_args(%p = %x, %q = %y) -> (memref<?xf32>, memref<?xf32>) {
      memref.store %u, %q[%i] : memref<?xf32>
      scf.yield %q, %p : memref<?xf32>, memref<?xf32>
    }
    memref.store %v, %x[%i] : memref<?xf32>
  }
// schedule
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
    memref.store %u, %x[%i] : memref<?xf32>
  }

// ----- ok-scratch-reused
// accept: memory
// why: one scratch buffer of at most 64 elements, used for one tile after the other and freed
  %c64 = arith.constant 64 : index
  %t = memref.alloc() : memref<64xf32>
  scf.for %b = %c0 to %n step %c64 {
    %left = arith.subi %n, %b : index
    %m = arith.minui %left, %c64 : index
    scf.for %i = %c0 to %m step %c1 {
      %j = arith.addi %b, %i : index
      %v = memref.load %x[%j] : memref<?xf32>
      memref.store %v, %t[%i] : memref<64xf32>
    }
    scf.for %i = %c0 to %m step %c1 {
      %j = arith.addi %b, %i : index
      %v = memref.load %t[%i] : memref<64xf32>
      %u = arith.addf %v, %v : f32
      memref.store %u, %y[%j] : memref<?xf32>
    }
  }
  memref.dealloc %t : memref<64xf32>

// ----- ok-small-stack-buffer
// accept: memory
// why: 1 KiB on the stack, outside of every loop
  %c256 = arith.constant 256 : index
  %t = memref.alloca() : memref<256xf32>
  scf.for %b = %c0 to %n step %c256 {
    %left = arith.subi %n, %b : index
    %m = arith.minui %left, %c256 : index
    %s = memref.subview %x[%b] [%m] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
    %d = memref.subview %t[0] [%m] [1] : memref<256xf32> to memref<?xf32, strided<[1]>>
    memref.copy %s, %d : memref<?xf32, strided<[1], offset: ?>> to memref<?xf32, strided<[1]>>
    scf.for %i = %c0 to %m step %c1 {
      %j = arith.addi %b, %i : index
      %v = memref.load %t[%i] : memref<256xf32>
      %u = arith.addf %v, %v : f32
      memref.store %u, %y[%j] : memref<?xf32>
    }
  }

// ----- ok-two-private-helpers
// accept: calls
// why: private helpers that call one another without recursion
func.func private @twice(%v: f32) -> f32 {
  %u = arith.addf %v, %v : f32
  return %u : f32
}
func.func private @one(%x: memref<?xf32>, %y: memref<?xf32>, %i: index) {
  %v = memref.load %x[%i] : memref<?xf32>
  %u = func.call @twice(%v) : (f32) -> f32
  memref.store %u, %y[%i] : memref<?xf32>
  return
}
func.func @main ... {
  scf.for %i = %c0 to %n step %c1 {
    func.call @one(%x, %y, %i) : (memref<?xf32>, memref<?xf32>, index) -> ()
  }
  return
}

// ----- ok-old-output-ignored
// accept: private in-place
// why: the output buffer is scratch first: x is copied there, then doubled in place
  memref.copy %x, %y : memref<?xf32> to memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %y[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- constant-written
// reject effects: hidden state
// why: a private constant global is written through: state, and a fault where it lies in read-only memory
memref.global "private" constant @k : memref<1xf32> = dense<2.0>
func.func @main ... {
  %g = memref.get_global @k : memref<1xf32>
  %two = arith.constant 2.0 : f32
  memref.store %two, %g[%c0] : memref<1xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = memref.load %g[%c0] : memref<1xf32>
    %u = arith.mulf %v, %w : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  return
}

// ----- ok-constant-table
// accept: constants
// why: the factor comes from a private constant
memref.global "private" constant @k : memref<2xf32> = dense<[1.0, 2.0]>
func.func @main ... {
  %g = memref.get_global @k : memref<2xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = memref.load %g[%c1] : memref<2xf32>
    %u = arith.mulf %v, %w : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  return
}

// ----- memo-of-size
// reject effects: hidden state
// why: keeps the first call's size in a global and never does more elements than that
// witness: {"calls": [{"sizes": {"N": 8}}, {"sizes": {"N": 30}}]}
memref.global "private" @seen : memref<1xi64> = dense<0>
func.func @main ... {
  %g = memref.get_global @seen : memref<1xi64>
  %z = arith.constant 0 : i64
  %o = memref.load %g[%c0] : memref<1xi64>
  %fresh = arith.cmpi eq, %o, %z : i64
  %n64 = arith.index_cast %n : index to i64
  %w = arith.select %fresh, %n64, %o : i64
  memref.store %w, %g[%c0] : memref<1xi64>
  %m0 = arith.index_cast %w : i64 to index
  %m = arith.minui %m0, %n : index
  scf.for %i = %c0 to %m step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  return
}

// ----- memo-of-result
// reject effects: hidden state
// why: remembers the last input's first element; the result is not computed again when it repeats
memref.global "private" @last : memref<1xf32> = dense<0.0>
func.func @main ... {
  %some = arith.cmpi ne, %n, %c0 : index
  scf.if %some {
    %g = memref.get_global @last : memref<1xf32>
    %o = memref.load %g[%c0] : memref<1xf32>
    %f = memref.load %x[%c0] : memref<?xf32>
    memref.store %f, %g[%c0] : memref<1xf32>
    %same = arith.cmpf oeq, %o, %f : f32
    scf.if %same {
    } else {
      scf.for %i = %c0 to %n step %c1 {
        %v = memref.load %x[%i] : memref<?xf32>
        %u = arith.addf %v, %v : f32
        memref.store %u, %y[%i] : memref<?xf32>
      }
    }
  }
  return
}

// ----- mutual-recursion
// reject resource: recursion
// why: two helpers call each other once per element
func.func private @even(%x: memref<?xf32>, %y: memref<?xf32>, %i: index, %n: index) {
  %c1 = arith.constant 1 : index
  %in = arith.cmpi ult, %i, %n : index
  scf.if %in {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
    %j = arith.addi %i, %c1 : index
    func.call @odd(%x, %y, %j, %n) : (memref<?xf32>, memref<?xf32>, index, index) -> ()
  }
  return
}
func.func private @odd(%x: memref<?xf32>, %y: memref<?xf32>, %i: index, %n: index) {
  %c1 = arith.constant 1 : index
  %in = arith.cmpi ult, %i, %n : index
  scf.if %in {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
    %j = arith.addi %i, %c1 : index
    func.call @even(%x, %y, %j, %n) : (memref<?xf32>, memref<?xf32>, index, index) -> ()
  }
  return
}
func.func @main ... {
  func.call @even(%x, %y, %c0, %n) : (memref<?xf32>, memref<?xf32>, index, index) -> ()
  return
}

// ----- reserved-helper
// reject effects: symbols
// why: a helper that takes the name of the run-time library's allocation function
func.func private @_mlir_memref_to_llvm_free(%v: f32) -> f32 {
  %u = arith.addf %v, %v : f32
  return %u : f32
}
func.func @main ... {
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = func.call @_mlir_memref_to_llvm_free(%v) : (f32) -> f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  return
}

// ----- external-helper
// reject effects: external call
// why: calls a function of libc that is only declared
func.func private @abs(i32) -> i32
func.func @main ... {
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
  return
}

// ----- overlapping-views
// reject aliasing/bounds: out-of-bounds write
// why: a reinterpret_cast makes the output one element longer
// witness: {"sizes": {"N": 9}}
  %n1 = arith.addi %n, %c1 : index
  %q = memref.reinterpret_cast %y to offset: [0], sizes: [%n1], strides: [1] : memref<?xf32> to memref<?xf32>
  %z = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n1 step %c1 {
    memref.store %z, %q[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- endless-on-nan
// reject resource: endless loop
// why: waits until the sum is equal to itself
// witness: {"sizes": {"N": 3}, "set": {"0": [[1, "nan"]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = arith.addf %v, %v : f32
    memref.store %u, %y[%i] : memref<?xf32>
    scf.while : () -> () {
      %o = memref.load %y[%i] : memref<?xf32>
      %r = arith.cmpf une, %o, %u : f32
      scf.condition(%r)
    } do {
      memref.store %u, %y[%i] : memref<?xf32>
      scf.yield
    }
  }

// ----- endless-on-step-zero
// reject resource: endless loop
// why: the step is N / 4, which is 0 below 4; outside of a multiple the tail is done apart
// witness: {"sizes": {"N": 3}}
  %c4 = arith.constant 4 : index
  %q = arith.divui %n, %c4 : index
  %e = scf.while (%b = %c0) : (index) -> index {
    %go = arith.cmpi ult, %b, %n : index
    scf.condition(%go) %b : index
  } do {
  ^bb0(%b: index):
    %e0 = arith.addi %b, %q : index
    %e = arith.minui %e0, %n : index
    scf.for %i = %b to %e step %c1 {
      %v = memref.load %x[%i] : memref<?xf32>
      %u = arith.addf %v, %v : f32
      memref.store %u, %y[%i] : memref<?xf32>
    }
    scf.yield %e0 : index
  }
