// y = x * x + 1.1 in one rounding, z = x / 16: what rounds twice differs at few numbers.
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %y: memref<?xf32> {kc.dims = ["N"], kc.out}, %z: memref<?xf32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %k = arith.constant 1.1 : f32
  // common above
  %s = arith.constant 0.0625 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = math.fma %v, %v, %k : f32
    %w = arith.mulf %v, %s : f32
    memref.store %u, %y[%i] : memref<?xf32>
    memref.store %w, %z[%i] : memref<?xf32>
  }
  return
}

// ----- scaled-in-two-steps
// reject numeric: double rounding
// why: x / 4 / 4 rounds twice among the denormal numbers: 9 units give 0 in place of 1
  %s = arith.constant 0.25 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %u = math.fma %v, %v, %k : f32
    %q = arith.mulf %v, %s : f32
    %w = arith.mulf %q, %s : f32
    memref.store %u, %y[%i] : memref<?xf32>
    memref.store %w, %z[%i] : memref<?xf32>
  }

// ----- fma-through-f64
// reject numeric: double rounding
// why: where the square lies halfway between two numbers, 1.1 decides, and f64 has lost it
  %s = arith.constant 0.0625 : f32
  %l = arith.extf %k : f32 to f64
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %d = arith.extf %v : f32 to f64
    %q = arith.mulf %d, %d : f64
    %m = arith.addf %q, %l : f64
    %u = arith.truncf %m : f64 to f32
    %w = arith.mulf %v, %s : f32
    memref.store %u, %y[%i] : memref<?xf32>
    memref.store %w, %z[%i] : memref<?xf32>
  }

// ----- ok-divided
// accept: exact
// why: 16 has an exact reciprocal, and a square has no sign
  %s = arith.constant 16.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %a = math.absf %v : f32
    %u = math.fma %a, %a, %k : f32
    %w = arith.divf %v, %s : f32
    memref.store %u, %y[%i] : memref<?xf32>
    memref.store %w, %z[%i] : memref<?xf32>
  }
