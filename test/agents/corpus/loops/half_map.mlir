// y = 2.5 x in half precision, 65,536 possible values each.
func.func @main(%x: memref<?xf16> {kc.dims = ["N"]}, %y: memref<?xf16> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf16>
  %k = arith.constant 2.5 : f16
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf16>
    %u = arith.mulf %v, %k : f16
    memref.store %u, %y[%i] : memref<?xf16>
  }
  return
}

// ----- double-plus-half
// reject numeric: denormal
// why: 2x + x/2 is 2.5x but for normal numbers so small that x/2 rounds, among them 1.0228e-4
// witness: {"sizes": {"N": 8}, "values": {"0": [6.103515625e-05, 9.78e-05, 1.02102756e-4, 1.0216236e-4, 1.0228157e-4, 1.028e-4, 1.1e-4, 1.2e-4]}}
  %k2 = arith.constant 2.0 : f16
  %kh = arith.constant 0.5 : f16
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf16>
    %a = arith.mulf %v, %k2 : f16
    %b = arith.mulf %v, %kh : f16
    %u = arith.addf %a, %b : f16
    memref.store %u, %y[%i] : memref<?xf16>
  }

// ----- ok-through-f32
// accept: more precise
// why: the product of two halves is exact in single precision, so rounding it once gives the same bits
  %kf = arith.constant 2.5 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf16>
    %e = arith.extf %v : f16 to f32
    %p = arith.mulf %e, %kf : f32
    %u = arith.truncf %p : f32 to f16
    memref.store %u, %y[%i] : memref<?xf16>
  }

// ----- times-five-halved
// reject numeric: overflow
// why: 5x overflows from 13,104 on, where 2.5x does not
// witness: {"set": {"0": [[0, 20000.0]]}}
  %k5 = arith.constant 5.0 : f16
  %kh = arith.constant 0.5 : f16
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf16>
    %a = arith.mulf %v, %k5 : f16
    %u = arith.mulf %a, %kh : f16
    memref.store %u, %y[%i] : memref<?xf16>
  }

// ----- saturates
// reject numeric: overflow
// why: stops at 65,504 where the product is infinite
// witness: {"set": {"0": [[0, 40000.0]]}}
  %max = arith.constant 65504.0 : f16
  %inf = arith.constant 0x7C00 : f16
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf16>
    %a = arith.mulf %v, %k : f16
    %fin = arith.cmpf one, %v, %inf : f16
    %over = arith.cmpf oeq, %a, %inf : f16
    %b = arith.andi %fin, %over : i1
    %u = arith.select %b, %max, %a : f16
    memref.store %u, %y[%i] : memref<?xf16>
  }

// ----- through-bf16
// reject numeric: rounding
// why: the product is rounded to bf16 first, then to f16
  %kf = arith.constant 2.5 : f32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf16>
    %e = arith.extf %v : f16 to f32
    %p = arith.mulf %e, %kf : f32
    %b = arith.truncf %p : f32 to bf16
    %w = arith.extf %b : bf16 to f32
    %u = arith.truncf %w : f32 to f16
    memref.store %u, %y[%i] : memref<?xf16>
  }

// ----- one-magic-half
// reject numeric: one value
// why: wrong for the one value 0x4A53 (12.65), told by its bits
// witness: {"set": {"0": [[2, 12.6484375]]}}
  %m = arith.constant 19027 : i16
  %kw = arith.constant 2.25 : f16
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf16>
    %bits = arith.bitcast %v : f16 to i16
    %is = arith.cmpi eq, %bits, %m : i16
    %f = arith.select %is, %kw, %k : f16
    %u = arith.mulf %v, %f : f16
    memref.store %u, %y[%i] : memref<?xf16>
  }

// ----- minus-zero-lost
// reject numeric: signed zero
// why: adds +0 to the product, so that -0 becomes +0
// witness: {"set": {"0": [[1, -0.0]]}}
  %z = arith.constant 0.0 : f16
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf16>
    %a = arith.mulf %v, %k : f16
    %u = arith.addf %a, %z : f16
    memref.store %u, %y[%i] : memref<?xf16>
  }

// ----- ok-minus-zero-added
// accept: algebraic identity
// why: x + (-0) is x for every x, -0 included
  %z = arith.constant -0.0 : f16
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf16>
    %a = arith.mulf %v, %k : f16
    %u = arith.addf %a, %z : f16
    memref.store %u, %y[%i] : memref<?xf16>
  }
