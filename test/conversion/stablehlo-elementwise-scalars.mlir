// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-elementwise)' | FileCheck %s

// What one element becomes where arith alone is undefined, or would round or compare otherwise than StableHLO does.

// Too large and too small values saturate, NaN is 0, and only what is in range is converted.
// CHECK-LABEL: func.func @float_to_integer
// CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: i8):
// CHECK: %[[LOW:.*]] = arith.constant -1.280000e+02 : f32
// CHECK: %[[BELOW:.*]] = arith.cmpf olt, %[[X]], %[[LOW]] : f32
// CHECK: %[[HIGH:.*]] = arith.constant 1.280000e+02 : f32
// CHECK: %[[ABOVE:.*]] = arith.cmpf oge, %[[X]], %[[HIGH]] : f32
// CHECK: arith.cmpf uno, %[[X]], %[[X]] : f32
// CHECK: %[[INSIDE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[X]] : f32
// CHECK: %[[N:.*]] = arith.fptosi %[[INSIDE]] : f32 to i8
// CHECK: %[[LEAST:.*]] = arith.constant -128 : i8
// CHECK: %[[N1:.*]] = arith.select %[[BELOW]], %[[LEAST]], %[[N]] : i8
// CHECK: %[[MOST:.*]] = arith.constant 127 : i8
// CHECK: arith.select %[[ABOVE]], %[[MOST]], %[[N1]] : i8
func.func @float_to_integer(%x: tensor<4xf32>) -> tensor<4xi8> {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// An unsigned result has its own ends, and half types are widened first.
// CHECK-LABEL: func.func @half_to_unsigned
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[LOW:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: arith.cmpf olt, %[[WIDE]], %[[LOW]] : f32
// CHECK: %[[HIGH:.*]] = arith.constant 2.560000e+02 : f32
// CHECK: arith.cmpf oge, %[[WIDE]], %[[HIGH]] : f32
// CHECK: arith.fptoui
func.func @half_to_unsigned(%x: tensor<4xbf16>) -> tensor<4xi8> {
  %0 = stablehlo.convert %x {kc.unsigned = array<i1: false, true>} : (tensor<4xbf16>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// 64 bits: f64 does not hold all of them, so what is lost becomes one sticky bit. Then an f32 rounded to odd, then bf16.
// CHECK-LABEL: func.func @long_to_half
// CHECK: ^bb0(%[[X:.*]]: i64, %{{.*}}: bf16):
// CHECK: %[[MASK:.*]] = arith.constant 2047 : i64
// CHECK: %[[LOW:.*]] = arith.andi %[[X]], %[[MASK]] : i64
// CHECK: arith.cmpi ne, %[[LOW]], %{{.*}} : i64
// CHECK: %[[STICKY:.*]] = arith.select %{{.*}}, %[[X]], %{{.*}} : i64
// CHECK: %[[WIDE:.*]] = arith.sitofp %[[STICKY]] : i64 to f64
// CHECK: %[[NEAR:.*]] = arith.truncf %[[WIDE]] : f64 to f32
// CHECK: %[[BACK:.*]] = arith.extf %[[NEAR]] : f32 to f64
// CHECK: %[[EXACT:.*]] = arith.cmpf ueq, %[[BACK]], %[[WIDE]] : f64
// CHECK: %[[ODD:.*]] = arith.select %[[EXACT]], %[[NEAR]], %{{.*}} : f32
// CHECK: arith.truncf %[[ODD]] : f32 to bf16
func.func @long_to_half(%x: tensor<4xi64>) -> tensor<4xbf16> {
  %0 = stablehlo.convert %x : (tensor<4xi64>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// Half types hold integers of 8 bits and, widened, f32 those of 16: nothing to take care of.
// CHECK-LABEL: func.func @short_to_half
// CHECK: arith.sitofp %{{.*}} : i8 to bf16
// CHECK: %[[WIDE:.*]] = arith.sitofp %{{.*}} : i16 to f32
// CHECK-NEXT: arith.truncf %[[WIDE]] : f32 to f16
// CHECK: arith.uitofp %{{.*}} : i1 to f16
func.func @short_to_half(%x: tensor<4xi8>, %y: tensor<4xi16>, %z: tensor<4xi1>)
    -> (tensor<4xbf16>, tensor<4xf16>, tensor<4xf16>) {
  %0 = stablehlo.convert %x : (tensor<4xi8>) -> tensor<4xbf16>
  %1 = stablehlo.convert %y : (tensor<4xi16>) -> tensor<4xf16>
  %2 = stablehlo.convert %z : (tensor<4xi1>) -> tensor<4xf16>
  return %0, %1, %2 : tensor<4xbf16>, tensor<4xf16>, tensor<4xf16>
}

// A number is true when it is not zero; NaN is.
// CHECK-LABEL: func.func @to_boolean
// CHECK: arith.cmpf une, %{{.*}}, %{{.*}} : f32
// CHECK: arith.cmpi ne, %{{.*}}, %{{.*}} : i32
func.func @to_boolean(%x: tensor<4xf32>, %y: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi1>) {
  %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xi1>
  %1 = stablehlo.convert %y : (tensor<4xi32>) -> tensor<4xi1>
  return %0, %1 : tensor<4xi1>, tensor<4xi1>
}

// A shift by the width or more pushes every bit out; an arithmetic one leaves the sign.
// CHECK-LABEL: func.func @shifts
// CHECK: ^bb0(%[[X:.*]]: i32, %[[N:.*]]: i32, %{{.*}}: i32):
// CHECK: %[[WIDTH:.*]] = arith.constant 32 : i32
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[N]], %[[WIDTH]] : i32
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[BY:.*]] = arith.select %[[INSIDE]], %[[N]], %[[ZERO]] : i32
// CHECK: %[[R:.*]] = arith.shli %[[X]], %[[BY]] : i32
// CHECK: arith.select %[[INSIDE]], %[[R]], %[[ZERO]] : i32
// CHECK: %[[LAST:.*]] = arith.constant 31 : i32
// CHECK: %[[BY1:.*]] = arith.select %{{.*}}, %{{.*}}, %[[LAST]] : i32
// CHECK-NEXT: %[[R1:.*]] = arith.shrsi %{{.*}}, %[[BY1]] : i32
// CHECK-NEXT: linalg.yield %[[R1]] : i32
func.func @shifts(%x: tensor<4xi32>, %n: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %0 = stablehlo.shift_left %x, %n : tensor<4xi32>
  %1 = stablehlo.shift_right_arithmetic %x, %n : tensor<4xi32>
  return %0, %1 : tensor<4xi32>, tensor<4xi32>
}

// x rem 0 is x.
// CHECK-LABEL: func.func @remainder
// CHECK: ^bb0(%[[X:.*]]: i32, %[[Y:.*]]: i32, %{{.*}}: i32):
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[Y]], %{{.*}} : i32
// CHECK: %[[SAFE:.*]] = arith.select %[[NONE]], %{{.*}}, %[[Y]] : i32
// CHECK: %[[R:.*]] = arith.remui %[[X]], %[[SAFE]] : i32
// CHECK: arith.select %[[NONE]], %[[X]], %[[R]] : i32
func.func @remainder(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = stablehlo.remainder %x, %y {kc.unsigned = array<i1: true, true, true>} : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// 5 bits of exponent, 2 of mantissa: ties to even at bit 21, too large is infinity, too small is zero, NaN stays.
// CHECK-LABEL: func.func @reduce_precision
// CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : f32 to i32
// CHECK: %[[NAN:.*]] = arith.cmpi ugt, %{{.*}}, %{{.*}} : i32
// CHECK: %[[AT:.*]] = arith.constant 21 : i32
// CHECK: arith.shrui %{{.*}}, %[[AT]] : i32
// CHECK: %[[HALF:.*]] = arith.constant 1048575 : i32
// CHECK: arith.addi %{{.*}}, %[[HALF]] : i32
// CHECK: %[[KEPT:.*]] = arith.constant -2097152 : i32
// CHECK: arith.andi %{{.*}}, %[[KEPT]] : i32
// CHECK: arith.cmpi ugt, %{{.*}}, %{{.*}} : i32
// CHECK: arith.cmpi ult, %{{.*}}, %{{.*}} : i32
// CHECK: %[[R:.*]] = arith.select %[[NAN]], %[[BITS]], %{{.*}} : i32
// CHECK: arith.bitcast %[[R]] : i32 to f32
func.func @reduce_precision(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce_precision %x, format = e5m2 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Complex numbers compare by real parts, then by imaginary ones.
// CHECK-LABEL: func.func @largest_complex
// CHECK-DAG: %[[XR:.*]] = complex.re %[[X:.*]] : complex<f32>
// CHECK-DAG: %[[YR:.*]] = complex.re %[[Y:.*]] : complex<f32>
// CHECK-DAG: %[[XI:.*]] = complex.im %[[X]] : complex<f32>
// CHECK-DAG: %[[YI:.*]] = complex.im %[[Y]] : complex<f32>
// CHECK-DAG: %[[SAME:.*]] = arith.cmpf oeq, %[[XR]], %[[YR]] : f32
// CHECK-DAG: %[[BY_IM:.*]] = arith.cmpf ogt, %[[XI]], %[[YI]] : f32
// CHECK-DAG: %[[BY_RE:.*]] = arith.cmpf ogt, %[[XR]], %[[YR]] : f32
// CHECK: %[[MORE:.*]] = arith.select %[[SAME]], %[[BY_IM]], %[[BY_RE]] : i1
// CHECK: arith.select %[[MORE]], %[[X]], %[[Y]] : complex<f32>
func.func @largest_complex(%x: tensor<4xcomplex<f32>>, %y: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.maximum %x, %y : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
