// y = a[i] * s[i mod 4] + t with an aligned, finite a, four scales, and a rank-0 t; N a multiple of 4, at most 96.
func.func @main(%a: memref<?xf32> {kc.dims = ["N"]}, %s: memref<4xf32>, %t: memref<f32>, %y: memref<?xf32> {kc.dims = ["N"], kc.out}) attributes {kc.facts = ["N % 4 == 0", "align(arg0,64)", "finite(arg0)"], kc.sizes = {N = array<i64: 4, 96>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  // common above
  %tv = memref.load %t[] : memref<f32>
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.remui %i, %c4 : index
    %v = memref.load %a[%i] : memref<?xf32>
    %w = memref.load %s[%k] : memref<4xf32>
    %p = arith.mulf %v, %w : f32
    %q = arith.addf %p, %tv : f32
    memref.store %q, %y[%i] : memref<?xf32>
  }
  return
}

// ----- ok-aligned-vectors
// accept: granted assumption
// why: vectors of four, loads aligned to 16 bytes, which the alignment of arg0 grants at multiples of 4
// assumes: N % 4 == 0; align(arg0,64)
  %tv = memref.load %t[] : memref<f32>
  %tt = vector.broadcast %tv : f32 to vector<4xf32>
  %w = vector.load %s[%c0] : memref<4xf32>, vector<4xf32>
  %aa = memref.assume_alignment %a, 64 : memref<?xf32>
  scf.for %i = %c0 to %n step %c4 {
    %v = vector.load %aa[%i] : memref<?xf32>, vector<4xf32>
    %p = arith.mulf %v, %w : vector<4xf32>
    %q = arith.addf %p, %tt : vector<4xf32>
    vector.store %q, %y[%i] : memref<?xf32>, vector<4xf32>
  }

// ----- output-aligned-too
// reject assumption: false assumption
// why: the output's alignment is nobody's promise
// unchecked: the machine's vector stores need no alignment
  %tv = memref.load %t[] : memref<f32>
  %tt = vector.broadcast %tv : f32 to vector<4xf32>
  %w = vector.load %s[%c0] : memref<4xf32>, vector<4xf32>
  %yy = memref.assume_alignment %y, 64 : memref<?xf32>
  scf.for %i = %c0 to %n step %c4 {
    %v = vector.load %a[%i] : memref<?xf32>, vector<4xf32>
    %p = arith.mulf %v, %w : vector<4xf32>
    %q = arith.addf %p, %tt : vector<4xf32>
    vector.store %q, %yy[%i] : memref<?xf32>, vector<4xf32>
  }

// ----- eights
// reject numeric: remainder
// why: vectors of eight with the scales twice: N = 4 or 12 leaves four
// witness: {"sizes": {"N": 12}}
  %c8 = arith.constant 8 : index
  %m = arith.divui %n, %c8 : index
  %e = arith.muli %m, %c8 : index
  %tv = memref.load %t[] : memref<f32>
  %tt = vector.broadcast %tv : f32 to vector<8xf32>
  %w0 = vector.load %s[%c0] : memref<4xf32>, vector<4xf32>
  %w = vector.shuffle %w0, %w0 [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xf32>, vector<4xf32>
  scf.for %i = %c0 to %e step %c8 {
    %v = vector.load %a[%i] : memref<?xf32>, vector<8xf32>
    %p = arith.mulf %v, %w : vector<8xf32>
    %q = arith.addf %p, %tt : vector<8xf32>
    vector.store %q, %y[%i] : memref<?xf32>, vector<8xf32>
  }

// ----- zero-scale-skipped
// reject numeric: nan/inf
// why: a finite a times a scale of 0 is 0: t is stored alone; but -0 + t for t = -0, and NaN scales are not skipped; t = -0 with a positive product gives +0
// witness: {"sizes": {"N": 4}, "values": {"0": [1.0, 1.0, 1.0, 1.0], "1": [0.0, 1.0, 1.0, 1.0], "2": -0.0}}
  %z = arith.constant 0.0 : f32
  %tv = memref.load %t[] : memref<f32>
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.remui %i, %c4 : index
    %v = memref.load %a[%i] : memref<?xf32>
    %w = memref.load %s[%k] : memref<4xf32>
    %p = arith.mulf %v, %w : f32
    %q = arith.addf %p, %tv : f32
    %is = arith.cmpf oeq, %w, %z : f32
    %r = arith.select %is, %tv, %q : f32
    memref.store %r, %y[%i] : memref<?xf32>
  }

// ----- ok-finite-used
// accept: granted assumption
// unchecked: the harness draws infinities all the same
// why: a is finite: multiplying it by 1 and asking whether it is a number changes nothing
// assumes: finite(arg0)
  %tv = memref.load %t[] : memref<f32>
  %z = arith.constant 0.0 : f32
  scf.for %b = %c0 to %n step %c4 {
    scf.for %k = %c0 to %c4 step %c1 {
      %i = arith.addi %b, %k : index
      %v0 = memref.load %a[%i] : memref<?xf32>
      %num = arith.cmpf ord, %v0, %v0 : f32
      %v = arith.select %num, %v0, %z : f32
      %w = memref.load %s[%k] : memref<4xf32>
      %p = arith.mulf %w, %v : f32
      %q = arith.addf %tv, %p : f32
      memref.store %q, %y[%i] : memref<?xf32>
    }
  }

// ----- scales-taken-for-finite
// reject assumption: false assumption
// why: only arg0 is finite
// assumes: finite(arg1)
// witness: {"sizes": {"N": 4}, "set": {"1": [[1, "nan"]]}}
  %tv = memref.load %t[] : memref<f32>
  %z = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %k = arith.remui %i, %c4 : index
    %v = memref.load %a[%i] : memref<?xf32>
    %w0 = memref.load %s[%k] : memref<4xf32>
    %num = arith.cmpf ord, %w0, %w0 : f32
    %w = arith.select %num, %w0, %z : f32
    %p = arith.mulf %v, %w : f32
    %q = arith.addf %p, %tv : f32
    memref.store %q, %y[%i] : memref<?xf32>
  }

// ----- t-read-after-the-first-store
// reject numeric: in-place update
// why: t is stored into y[0] first and read back from there at every step: y[0] is overwritten in between
// witness: {"sizes": {"N": 8}}
  %tv = memref.load %t[] : memref<f32>
  memref.store %tv, %y[%c0] : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %t1 = memref.load %y[%c0] : memref<?xf32>
    %k = arith.remui %i, %c4 : index
    %v = memref.load %a[%i] : memref<?xf32>
    %w = memref.load %s[%k] : memref<4xf32>
    %p = arith.mulf %v, %w : f32
    %q = arith.addf %p, %t1 : f32
    memref.store %q, %y[%i] : memref<?xf32>
  }
