// y[i] = t[ix[i]]; indices beyond the table are taken as its ends.
func.func @main(%t: memref<?xf32> {kc.dims = ["T"]}, %ix: memref<?xi64> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"], kc.out}) attributes {kc.sizes = {T = array<i64: 1, 50>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %ix, %c0 : memref<?xi64>
  %w = memref.dim %t, %c0 : memref<?xf32>
  %e = arith.subi %w, %c1 : index
  %z = arith.constant 0 : i64
  %e64 = arith.index_cast %e : index to i64
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %ix[%i] : memref<?xi64>
    %a = arith.maxsi %v, %z : i64
    %b = arith.minsi %a, %e64 : i64
    %k = arith.index_cast %b : i64 to index
    %u = memref.load %t[%k] : memref<?xf32>
    memref.store %u, %y[%i] : memref<?xf32>
  }
  return
}

// ----- one-unsigned-min
// reject numeric: out-of-range index
// why: one unsigned minimum for both clamps: a negative index becomes the last, not the first
// witness: {"set": {"1": [[0, -1]]}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %ix[%i] : memref<?xi64>
    %b = arith.minui %v, %e64 : i64
    %k = arith.index_cast %b : i64 to index
    %u = memref.load %t[%k] : memref<?xf32>
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- clamped-as-i32
// reject numeric: index overflow
// why: the index is cut to 32 bits before the clamp
// witness: {"set": {"1": [[0, 4294967297]]}, "sizes": {"T": 9, "N": 4}}
  %z32 = arith.constant 0 : i32
  %e32 = arith.trunci %e64 : i64 to i32
  scf.for %i = %c0 to %n step %c1 {
    %v0 = memref.load %ix[%i] : memref<?xi64>
    %v = arith.trunci %v0 : i64 to i32
    %a = arith.maxsi %v, %z32 : i32
    %b = arith.minsi %a, %e32 : i32
    %k = arith.index_cast %b : i32 to index
    %u = memref.load %t[%k] : memref<?xf32>
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- clamp-to-size
// reject aliasing/bounds: out-of-range index
// why: clamped to T instead of T - 1
// witness: {"set": {"1": [[0, 1000]]}, "guard": true}
  %w64 = arith.index_cast %w : index to i64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %ix[%i] : memref<?xi64>
    %a = arith.maxsi %v, %z : i64
    %b = arith.minsi %a, %w64 : i64
    %k = arith.index_cast %b : i64 to index
    %u = memref.load %t[%k] : memref<?xf32>
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- speculative-load
// reject aliasing/bounds: out-of-bounds read
// why: the table is read at the raw index first and the value thrown away when the index is bad
// witness: {"set": {"1": [[0, -3]]}, "values": {}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %ix[%i] : memref<?xi64>
    %k0 = arith.index_cast %v : i64 to index
    %u0 = memref.load %t[%k0] : memref<?xf32>
    %a = arith.maxsi %v, %z : i64
    %b = arith.minsi %a, %e64 : i64
    %same = arith.cmpi eq, %b, %v : i64
    %k = arith.index_cast %b : i64 to index
    %u1 = memref.load %t[%k] : memref<?xf32>
    %u = arith.select %same, %u0, %u1 : f32
    memref.store %u, %y[%i] : memref<?xf32>
  }
// schedule
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %ix[%i] : memref<?xi64>
    %k0 = arith.index_cast %v : i64 to index
    %k1 = memref.load %t[%c0] : memref<?xf32>
    memref.store %k1, %t[%k0] : memref<?xf32>
  }

// ----- ok-branches
// accept: gather
// why: the ends by branches, the middle by one unsigned comparison
  %u0 = memref.load %t[%c0] : memref<?xf32>
  %ue = memref.load %t[%e] : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %ix[%i] : memref<?xi64>
    %in = arith.cmpi ult, %v, %e64 : i64
    %u = scf.if %in -> (f32) {
      %k = arith.index_cast %v : i64 to index
      %q = memref.load %t[%k] : memref<?xf32>
      scf.yield %q : f32
    } else {
      %neg = arith.cmpi slt, %v, %z : i64
      %q = arith.select %neg, %u0, %ue : f32
      scf.yield %q : f32
    }
    memref.store %u, %y[%i] : memref<?xf32>
  }

// ----- ok-prefetched-safely
// accept: prefetch
// why: the next index is loaded ahead, from min(i + 1, N - 1); nothing is read for N = 0
  %some = arith.cmpi ugt, %n, %c0 : index
  scf.if %some {
    %l = arith.subi %n, %c1 : index
    %v0 = memref.load %ix[%c0] : memref<?xi64>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %v0) -> (i64) {
      %i1 = arith.addi %i, %c1 : index
      %i2 = arith.minui %i1, %l : index
      %next = memref.load %ix[%i2] : memref<?xi64>
      %a = arith.minsi %v, %e64 : i64
      %b = arith.maxsi %a, %z : i64
      %k = arith.index_cast %b : i64 to index
      %u = memref.load %t[%k] : memref<?xf32>
      memref.store %u, %y[%i] : memref<?xf32>
      scf.yield %next : i64
    }
  }

// ----- same-as-before
// reject numeric: repeated index
// why: an index equal to the one before reuses its value, and the first one is compared with 0
// witness: {"sizes": {"T": 5, "N": 3}, "values": {"1": [0, 0, 3]}}
  %zf = arith.constant 0.0 : f32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%old = %z, %val = %zf) -> (i64, f32) {
    %v = memref.load %ix[%i] : memref<?xi64>
    %same = arith.cmpi eq, %v, %old : i64
    %u = scf.if %same -> (f32) {
      scf.yield %val : f32
    } else {
      %a = arith.maxsi %v, %z : i64
      %b = arith.minsi %a, %e64 : i64
      %k = arith.index_cast %b : i64 to index
      %q = memref.load %t[%k] : memref<?xf32>
      scf.yield %q : f32
    }
    memref.store %u, %y[%i] : memref<?xf32>
    scf.yield %v, %u : i64, f32
  }
