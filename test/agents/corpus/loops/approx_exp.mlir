// y = exp(x) for arguments without NaN and infinities; approximations are allowed.
// tolerance: close 1e-5 1e-30
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"], kc.out}) attributes {kc.allow = ["approx", "contract", "reassoc", "nnan", "ninf"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %e = math.exp %v : f32
    memref.store %e, %y[%i] : memref<?xf32>
  }
  return
}

// ----- ok-through-exp2
// accept: granted assumption
// why: exp2 of x log2(e): an error of some units for large arguments
// assumes: approx
  %k = arith.constant 1.44269504 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %d = arith.mulf %v, %k : f32
    %e = math.exp2 %d : f32
    memref.store %e, %y[%i] : memref<?xf32>
  }

// ----- ok-in-f64
// accept: more precise
// why: in f64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %d = arith.extf %v : f32 to f64
    %f = math.exp %d : f64
    %e = arith.truncf %f : f64 to f32
    memref.store %e, %y[%i] : memref<?xf32>
  }

// ----- in-f16
// reject numeric: precision
// why: approx does not go so far as half precision
// witness: {"seed": 2, "sizes": {"N": 30}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %d = arith.truncf %v : f32 to f16
    %f = math.exp %d : f16
    %e = arith.extf %f : f16 to f32
    memref.store %e, %y[%i] : memref<?xf32>
  }

// ----- squared-ten-times
// reject numeric: precision
// why: (1 + x / 1024)^1024: an error of x^2 / 2048
// witness: {"set": {"0": [[1, 2.0]]}}
  %k = arith.constant 9.765625e-4 : f32
  %one = arith.constant 1.0 : f32
  %c10 = arith.constant 10 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %d = math.fma %v, %k, %one : f32
    %e = scf.for %j = %c0 to %c10 step %c1 iter_args(%a = %d) -> (f32) {
      %b = arith.mulf %a, %a : f32
      scf.yield %b : f32
    }
    memref.store %e, %y[%i] : memref<?xf32>
  }

// ----- series-of-eight
// reject numeric: dropped terms
// why: eight terms of the series: fine for small arguments
// witness: {"set": {"0": [[1, 4.0]]}}
  %one = arith.constant 1.0 : f32
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %e:2 = scf.for %j = %c1 to %c9 step %c1 iter_args(%s = %one, %t = %one) -> (f32, f32) {
      %ji = arith.index_cast %j : index to i32
      %jf = arith.sitofp %ji : i32 to f32
      %a = arith.mulf %t, %v : f32
      %b = arith.divf %a, %jf : f32
      %c = arith.addf %s, %b : f32
      scf.yield %c, %b : f32, f32
    }
    memref.store %e#0, %y[%i] : memref<?xf32>
  }

// ----- clamped-at-80
// reject numeric: overflow
// why: arguments are clamped to 80 in magnitude
// witness: {"set": {"0": [[1, 85.0]]}}
  %hi = arith.constant 80.0 : f32
  %lo = arith.constant -80.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v0 = memref.load %x[%i] : memref<?xf32>
    %v1 = arith.minimumf %v0, %hi : f32
    %v = arith.maximumf %v1, %lo : f32
    %e = math.exp %v : f32
    memref.store %e, %y[%i] : memref<?xf32>
  }

// ----- ok-split-argument
// accept: granted assumption
// why: exp(n) * exp(r) with n the rounded argument
// assumes: approx; reassoc
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %h = arith.constant 0.5 : f32
    %w = arith.mulf %v, %h : f32
    %a = math.exp %w : f32
    %e = arith.mulf %a, %a : f32
    memref.store %e, %y[%i] : memref<?xf32>
  }
