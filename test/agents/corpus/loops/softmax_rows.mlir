// Softmax of each row with the maximum taken off; order and exp may be changed.
// tolerance: close 1e-4 1e-6
func.func @main(%x: memref<?x?xf32> {kc.dims = ["M", "N"]}, %y: memref<?x?xf32> {kc.dims = ["M", "N"], kc.out}) attributes {kc.allow = ["reassoc", "approx", "contract"], kc.sizes = {M = array<i64: 0, 20>, N = array<i64: 0, 70>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %z = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  // common above
  scf.for %i = %c0 to %m step %c1 {
    %mx = scf.for %j = %c0 to %n step %c1 iter_args(%a = %ninf) -> (f32) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %b = arith.maximumf %a, %v : f32
      scf.yield %b : f32
    }
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %d = arith.subf %v, %mx : f32
      %e = math.exp %d : f32
      memref.store %e, %y[%i, %j] : memref<?x?xf32>
      %b = arith.addf %a, %e : f32
      scf.yield %b : f32
    }
    scf.for %j = %c0 to %n step %c1 {
      %e = memref.load %y[%i, %j] : memref<?x?xf32>
      %q = arith.divf %e, %s : f32
      memref.store %q, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}

// ----- online
// reject numeric: nan/inf
// why: the running maximum starts at -inf and the correction is exp(-inf - -inf) = NaN for a row that begins with -inf
// assumes: reassoc; approx
// witness: {"sizes": {"M": 2, "N": 8}, "set": {"0": [[0, "-inf"]]}}
  scf.for %i = %c0 to %m step %c1 {
    %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%mx = %ninf, %s = %z) -> (f32, f32) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %m1 = arith.maximumf %mx, %v : f32
      %dm = arith.subf %mx, %m1 : f32
      %c = math.exp %dm : f32
      %d = arith.subf %v, %m1 : f32
      %e = math.exp %d : f32
      %sc = arith.mulf %s, %c : f32
      %s1 = arith.addf %sc, %e : f32
      scf.yield %m1, %s1 : f32, f32
    }
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %d = arith.subf %v, %r#0 : f32
      %e = math.exp %d : f32
      %q = arith.divf %e, %r#1 : f32
      memref.store %q, %y[%i, %j] : memref<?x?xf32>
    }
  }

// ----- ok-online-guarded
// accept: online softmax
// why: while the maximum is -inf, nothing is corrected; rows of -inf alone are NaN as before, since -inf - -inf comes back at the end
// assumes: reassoc; approx
// specials: "no_huge"
  scf.for %i = %c0 to %m step %c1 {
    %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%mx = %ninf, %s = %z) -> (f32, f32) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %m1 = arith.maximumf %mx, %v : f32
      %low = arith.cmpf oeq, %m1, %ninf : f32
      %ref = arith.select %low, %z, %m1 : f32
      %dm = arith.subf %mx, %ref : f32
      %c = math.exp %dm : f32
      %d = arith.subf %v, %ref : f32
      %e = math.exp %d : f32
      %sc = arith.mulf %s, %c : f32
      %s1 = arith.addf %sc, %e : f32
      scf.yield %m1, %s1 : f32, f32
    }
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %d = arith.subf %v, %r#0 : f32
      %e = math.exp %d : f32
      %q = arith.divf %e, %r#1 : f32
      memref.store %q, %y[%i, %j] : memref<?x?xf32>
    }
  }

// ----- no-maximum
// reject numeric: overflow
// why: exp(89) is infinite
// assumes: reassoc; approx
// witness: {"sizes": {"M": 3, "N": 5}, "set": {"0": [[7, 95.0]]}}
  scf.for %i = %c0 to %m step %c1 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %e = math.exp %v : f32
      memref.store %e, %y[%i, %j] : memref<?x?xf32>
      %b = arith.addf %a, %e : f32
      scf.yield %b : f32
    }
    scf.for %j = %c0 to %n step %c1 {
      %e = memref.load %y[%i, %j] : memref<?x?xf32>
      %q = arith.divf %e, %s : f32
      memref.store %q, %y[%i, %j] : memref<?x?xf32>
    }
  }

// ----- one-maximum-for-all
// reject numeric: overflow
// why: the maximum of the whole matrix: a row far below it sums up to zero
// assumes: reassoc; approx
// witness: {"sizes": {"M": 2, "N": 3}, "values": {"0": [[150.0, 1.0, 2.0], [0.0, 1.0, 2.0]]}}
  %mx = scf.for %i = %c0 to %m step %c1 iter_args(%a0 = %ninf) -> (f32) {
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %a0) -> (f32) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %b = arith.maximumf %a, %v : f32
      scf.yield %b : f32
    }
    scf.yield %r : f32
  }
  scf.for %i = %c0 to %m step %c1 {
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %d = arith.subf %v, %mx : f32
      %e = math.exp %d : f32
      memref.store %e, %y[%i, %j] : memref<?x?xf32>
      %b = arith.addf %a, %e : f32
      scf.yield %b : f32
    }
    scf.for %j = %c0 to %n step %c1 {
      %e = memref.load %y[%i, %j] : memref<?x?xf32>
      %q = arith.divf %e, %s : f32
      memref.store %q, %y[%i, %j] : memref<?x?xf32>
    }
  }

// ----- ok-reciprocal
// accept: granted assumption
// why: one reciprocal per row instead of a division per element; rows in parallel
// assumes: approx; reassoc
// specials: "no_huge"
  %one = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%m) step (%c1) {
    %mx = scf.for %j = %c0 to %n step %c1 iter_args(%a = %ninf) -> (f32) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %b = arith.maximumf %a, %v : f32
      scf.yield %b : f32
    }
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %d = arith.subf %v, %mx : f32
      %e = math.exp %d : f32
      memref.store %e, %y[%i, %j] : memref<?x?xf32>
      %b = arith.addf %a, %e : f32
      scf.yield %b : f32
    }
    %r = arith.divf %one, %s : f32
    scf.for %j = %c0 to %n step %c1 {
      %e = memref.load %y[%i, %j] : memref<?x?xf32>
      %q = arith.mulf %e, %r : f32
      memref.store %q, %y[%i, %j] : memref<?x?xf32>
    }
    scf.reduce
  }

// ----- first-64-columns-for-the-maximum
// reject numeric: hard-coded shape
// why: the maximum is that of the first 64 columns
// assumes: reassoc; approx
// witness: {"sizes": {"M": 1, "N": 70}, "set": {"0": [[66, 200.0]]}}
  %c64 = arith.constant 64 : index
  %w = arith.minui %n, %c64 : index
  scf.for %i = %c0 to %m step %c1 {
    %mx = scf.for %j = %c0 to %w step %c1 iter_args(%a = %ninf) -> (f32) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %b = arith.maximumf %a, %v : f32
      scf.yield %b : f32
    }
    %s = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z) -> (f32) {
      %v = memref.load %x[%i, %j] : memref<?x?xf32>
      %d = arith.subf %v, %mx : f32
      %e = math.exp %d : f32
      memref.store %e, %y[%i, %j] : memref<?x?xf32>
      %b = arith.addf %a, %e : f32
      scf.yield %b : f32
    }
    scf.for %j = %c0 to %n step %c1 {
      %e = memref.load %y[%i, %j] : memref<?x?xf32>
      %q = arith.divf %e, %s : f32
      memref.store %q, %y[%i, %j] : memref<?x?xf32>
    }
  }
