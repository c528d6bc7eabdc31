// y = 2.5 * x in double precision, any length.
func.func @main(%x: memref<?xf64> {kc.dims = ["N"]}, %y: memref<?xf64> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf64>
  %k = arith.constant 2.5 : f64
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %u = arith.mulf %v, %k : f64
    memref.store %u, %y[%i] : memref<?xf64>
  }
  return
}

// ----- vector-no-tail
// reject numeric: remainder
// why: the last N % 4 elements are never written
// witness: {"sizes": {"N": 13}}
  %c4 = arith.constant 4 : index
  %kv = arith.constant dense<2.5> : vector<4xf64>
  %r = arith.remui %n, %c4 : index
  %m = arith.subi %n, %r : index
  scf.for %i = %c0 to %m step %c4 {
    %v = vector.load %x[%i] : memref<?xf64>, vector<4xf64>
    %u = arith.mulf %v, %kv : vector<4xf64>
    vector.store %u, %y[%i] : memref<?xf64>, vector<4xf64>
  }

// ----- vector-tail-off-by-one
// reject numeric: remainder
// why: the scalar tail begins one element late
// witness: {"sizes": {"N": 6}}
  %c4 = arith.constant 4 : index
  %kv = arith.constant dense<2.5> : vector<4xf64>
  %r = arith.remui %n, %c4 : index
  %m = arith.subi %n, %r : index
  scf.for %i = %c0 to %m step %c4 {
    %v = vector.load %x[%i] : memref<?xf64>, vector<4xf64>
    %u = arith.mulf %v, %kv : vector<4xf64>
    vector.store %u, %y[%i] : memref<?xf64>, vector<4xf64>
  }
  %m1 = arith.addi %m, %c1 : index
  scf.for %i = %m1 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %u = arith.mulf %v, %k : f64
    memref.store %u, %y[%i] : memref<?xf64>
  }

// ----- vector-overrun-by-tail
// reject aliasing/bounds: out-of-bounds write
// why: the last vector reaches past the end whenever 4 does not divide N
// witness: {"sizes": {"N": 7}}
  %c4 = arith.constant 4 : index
  %kv = arith.constant dense<2.5> : vector<4xf64>
  scf.for %i = %c0 to %n step %c4 {
    %v = vector.load %x[%i] : memref<?xf64>, vector<4xf64>
    %u = arith.mulf %v, %kv : vector<4xf64>
    vector.store %u, %y[%i] : memref<?xf64>, vector<4xf64>
  }

// ----- overlapped-tail-small
// reject aliasing/bounds: out-of-bounds write
// why: the overlapped last vector starts at N - 4, which lies before the buffer when N < 4
// witness: {"sizes": {"N": 3}}
  %c4 = arith.constant 4 : index
  %kv = arith.constant dense<2.5> : vector<4xf64>
  %r = arith.remui %n, %c4 : index
  %m = arith.subi %n, %r : index
  scf.for %i = %c0 to %m step %c4 {
    %v = vector.load %x[%i] : memref<?xf64>, vector<4xf64>
    %u = arith.mulf %v, %kv : vector<4xf64>
    vector.store %u, %y[%i] : memref<?xf64>, vector<4xf64>
  }
  %odd = arith.cmpi ne, %r, %c0 : index
  scf.if %odd {
    %i = arith.subi %n, %c4 : index
    %v = vector.load %x[%i] : memref<?xf64>, vector<4xf64>
    %u = arith.mulf %v, %kv : vector<4xf64>
    vector.store %u, %y[%i] : memref<?xf64>, vector<4xf64>
  }

// ----- unroll3-guard-wrong
// reject aliasing/bounds: out-of-bounds write
// why: unrolled by three, but only the second of the three is guarded
// witness: {"sizes": {"N": 8}}
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %n step %c3 {
    %v = memref.load %x[%i] : memref<?xf64>
    %u = arith.mulf %v, %k : f64
    memref.store %u, %y[%i] : memref<?xf64>
    %i1 = arith.addi %i, %c1 : index
    %in = arith.cmpi ult, %i1, %n : index
    scf.if %in {
      %v1 = memref.load %x[%i1] : memref<?xf64>
      %u1 = arith.mulf %v1, %k : f64
      memref.store %u1, %y[%i1] : memref<?xf64>
      %i2 = arith.addi %i, %c2 : index
      %v2 = memref.load %x[%i2] : memref<?xf64>
      %u2 = arith.mulf %v2, %k : f64
      memref.store %u2, %y[%i2] : memref<?xf64>
    }
  }

// ----- prefetch-past-end
// reject aliasing/bounds: out-of-bounds read
// why: software pipelining loads x[i + 1] in the last iteration too; the value is not used, the page may not be there
// witness: {"sizes": {"N": 16}, "guard": true}
  %empty = arith.cmpi eq, %n, %c0 : index
  scf.if %empty {
  } else {
    %first = memref.load %x[%c0] : memref<?xf64>
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%v = %first) -> (f64) {
      %u = arith.mulf %v, %k : f64
      memref.store %u, %y[%i] : memref<?xf64>
      %i1 = arith.addi %i, %c1 : index
      %w = memref.load %x[%i1] : memref<?xf64>
      scf.yield %w : f64
    }
  }
// schedule
  %last = memref.load %x[%c0] : memref<?xf64>
  memref.store %last, %x[%n] : memref<?xf64>

// ----- first-element-of-empty
// reject aliasing/bounds: out-of-bounds read
// why: x[0] is read even when N = 0 (and then not used)
// witness: {"sizes": {"N": 0}, "guard": true}
  %first = memref.load %x[%c0] : memref<?xf64>
  %zero = arith.constant 0.0 : f64
  %p = arith.cmpf oeq, %first, %zero : f64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %v1 = arith.select %p, %v, %v : f64
    %u = arith.mulf %v1, %k : f64
    memref.store %u, %y[%i] : memref<?xf64>
  }
// schedule
  memref.store %k, %x[%c0] : memref<?xf64>

// ----- wrong-at-37
// reject numeric: one size
// why: wrong for N = 37 alone
// witness: {"sizes": {"N": 37}}
  %magic = arith.constant 37 : index
  %is = arith.cmpi eq, %n, %magic : index
  %k2 = arith.constant 2.0 : f64
  %f = arith.select %is, %k2, %k : f64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %u = arith.mulf %v, %f : f64
    memref.store %u, %y[%i] : memref<?xf64>
  }

// ----- wrong-at-computed-size
// reject numeric: one size
// why: wrong where N * N = 1681, that is for N = 41, which the text does not name
// witness: {"sizes": {"N": 41}}
  %magic = arith.constant 1681 : index
  %nn = arith.muli %n, %n : index
  %is = arith.cmpi eq, %nn, %magic : index
  %k2 = arith.constant 2.0 : f64
  %f = arith.select %is, %k2, %k : f64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %u = arith.mulf %v, %f : f64
    memref.store %u, %y[%i] : memref<?xf64>
  }

// ----- wrong-value
// reject numeric: one value
// why: wrong for an element of exactly 42
// witness: {"set": {"0": [[3, 42.0]]}}
  %magic = arith.constant 42.0 : f64
  %k2 = arith.constant 2.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %is = arith.cmpf oeq, %v, %magic : f64
    %f = arith.select %is, %k2, %k : f64
    %u = arith.mulf %v, %f : f64
    memref.store %u, %y[%i] : memref<?xf64>
  }

// ----- through-f32
// reject numeric: rounding
// why: computed in single precision
  %k1 = arith.constant 2.5 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %t = arith.truncf %v : f64 to f32
    %u = arith.mulf %t, %k1 : f32
    %w = arith.extf %u : f32 to f64
    memref.store %w, %y[%i] : memref<?xf64>
  }

// ----- ok-masked-tail
// accept: masked tail
// why: the tail goes through a mask of the elements that are left, with masked loads and stores
  %c4 = arith.constant 4 : index
  %kv = arith.constant dense<2.5> : vector<4xf64>
  %pass = arith.constant dense<0.0> : vector<4xf64>
  scf.for %i = %c0 to %n step %c4 {
    %left = arith.subi %n, %i : index
    %mask = vector.create_mask %left : vector<4xi1>
    %v = vector.maskedload %x[%i], %mask, %pass : memref<?xf64>, vector<4xi1>, vector<4xf64> into vector<4xf64>
    %u = arith.mulf %v, %kv : vector<4xf64>
    vector.maskedstore %y[%i], %mask, %u : memref<?xf64>, vector<4xi1>, vector<4xf64>
  }

// ----- ok-transfer-padded
// accept: masked tail
// why: transfer ops that are not in_bounds stop at the end of the buffer by themselves
  %c8 = arith.constant 8 : index
  %pad = arith.constant 7.0 : f64
  %kv = arith.constant dense<2.5> : vector<8xf64>
  scf.for %i = %c0 to %n step %c8 {
    %v = vector.transfer_read %x[%i], %pad : memref<?xf64>, vector<8xf64>
    %u = arith.mulf %v, %kv : vector<8xf64>
    vector.transfer_write %u, %y[%i] : vector<8xf64>, memref<?xf64>
  }

// ----- transfer-in-bounds-lie
// reject aliasing/bounds: out-of-bounds write
// why: the same with in_bounds = true, which is false for the last vector
// witness: {"sizes": {"N": 12}}
  %c8 = arith.constant 8 : index
  %pad = arith.constant 7.0 : f64
  %kv = arith.constant dense<2.5> : vector<8xf64>
  scf.for %i = %c0 to %n step %c8 {
    %v = vector.transfer_read %x[%i], %pad {in_bounds = [true]} : memref<?xf64>, vector<8xf64>
    %u = arith.mulf %v, %kv : vector<8xf64>
    vector.transfer_write %u, %y[%i] {in_bounds = [true]} : vector<8xf64>, memref<?xf64>
  }

// ----- ok-tail-first
// accept: overlapped tail
// why: the odd elements are done first, the vectors end at N exactly
  %c4 = arith.constant 4 : index
  %kv = arith.constant dense<2.5> : vector<4xf64>
  %r = arith.remui %n, %c4 : index
  scf.for %i = %c0 to %r step %c1 {
    %v = memref.load %x[%i] : memref<?xf64>
    %u = arith.mulf %k, %v : f64
    memref.store %u, %y[%i] : memref<?xf64>
  }
  scf.for %i = %r to %n step %c4 {
    %v = vector.load %x[%i] : memref<?xf64>, vector<4xf64>
    %u = arith.mulf %v, %kv : vector<4xf64>
    vector.store %u, %y[%i] : memref<?xf64>, vector<4xf64>
  }

// ----- ok-backwards-while
// accept: loop form
// why: the same from the end to the beginning in a while loop
  %e = scf.while (%i = %n) : (index) -> index {
    %go = arith.cmpi ugt, %i, %c0 : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    %j = arith.subi %i, %c1 : index
    %v = memref.load %x[%j] : memref<?xf64>
    %u = arith.mulf %v, %k : f64
    memref.store %u, %y[%j] : memref<?xf64>
    scf.yield %j : index
  }

// ----- ok-affine
// accept: loop form
// why: affine loops in tiles of 5 with a minimum for the last
  affine.for %i = 0 to %n step 5 {
    affine.for %j = 0 to min affine_map<(d0)[s0] -> (5, s0 - d0)>(%i)[%n] {
      %v = affine.load %x[%i + %j] : memref<?xf64>
      %u = arith.mulf %v, %k : f64
      affine.store %u, %y[%i + %j] : memref<?xf64>
    }
  }
