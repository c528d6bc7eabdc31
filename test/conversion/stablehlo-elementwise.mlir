// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-stablehlo-elementwise)' | FileCheck %s

// A quotient by zero and INT_MIN / -1 are defined: the divisor is replaced before the division.
// CHECK-LABEL: func.func @divide
// CHECK-SAME: (%[[A:.*]]: tensor<4xi32>, %[[B:.*]]: tensor<4xi32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[A]], %[[B]]
// CHECK: ^bb0(%[[X:.*]]: i32, %[[Y:.*]]: i32, %{{.*}}: i32):
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[Y]], %{{.*}} : i32
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %[[Y]] : i32
// CHECK: %[[Q:.*]] = arith.divsi %[[X]], %[[SAFE]] : i32
// CHECK: %[[R:.*]] = arith.select %[[ZERO]], %{{.*}}, %[[Q]] : i32
// CHECK: linalg.yield %[[R]] : i32
func.func @divide(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
  %0 = stablehlo.divide %a, %b : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// kc.unsigned, not the type, says which comparison it is.
// CHECK-LABEL: func.func @unsigned
// CHECK: arith.cmpi ult
func.func @unsigned(%a: tensor<4xi8>, %b: tensor<4xi8>) -> tensor<4xi1> {
  %0 = stablehlo.compare LT, %a, %b {kc.unsigned = array<i1: true, true, false>} : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// Integer scalars stay on the host: no kernel.
// CHECK-LABEL: func.func @counter
// CHECK-NOT: linalg.generic
// CHECK: %[[N:.*]] = tensor.extract %{{.*}}[] : tensor<i32>
// CHECK: arith.addi
// CHECK: tensor.from_elements
func.func @counter(%i: tensor<i32>, %one: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.add %i, %one : tensor<i32>
  return %0 : tensor<i32>
}

// A float scalar may live on a device: it does not come to the host.
// CHECK-LABEL: func.func @float_scalar
// CHECK-NOT: tensor.extract
// CHECK: linalg.generic {{.*}}iterator_types = []
func.func @float_scalar(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.exponential %x : tensor<f32>
  return %0 : tensor<f32>
}

// The extent of the result is read off the first operand.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: (%[[A:[a-z0-9]+]]: tensor<?x4xf32>
// CHECK: %[[D:.*]] = tensor.dim %[[A]], %{{.*}} : tensor<?x4xf32>
// CHECK: tensor.empty(%[[D]]) : tensor<?x4xf32>
// CHECK: arith.maximumf
func.func @dynamic(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = stablehlo.maximum %a, %b : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @total_order
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: arith.cmpi slt
func.func @total_order(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xi1> {
  %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: func.func @scalar_predicate
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[ID:.*]], #[[ID]], #[[ID]]]
func.func @scalar_predicate(%p: tensor<i1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.select %p, %a, %b : tensor<i1>, tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHLO ops that math can say stay one op.
// CHECK-LABEL: func.func @error_function
// CHECK: math.erfc %{{.*}} : bf16
func.func @error_function(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = chlo.erfc %x : tensor<4xbf16> -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// A function of complex numbers is real arithmetic in f64, rounded once.
// CHECK-LABEL: func.func @complex_modulus
// CHECK: [[RE:%.*]] = complex.re %{{.*}} : complex<f32>
// CHECK: arith.extf [[RE]] : f32 to f64
// CHECK: math.sqrt %{{.*}} : f64
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK-NOT: complex.abs
func.func @complex_modulus(%x: tensor<4xcomplex<f32>>) -> tensor<4xf32> {
  %0 = stablehlo.abs %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHLO's inverse functions of complex numbers are among them.
// CHECK-LABEL: func.func @inverse
// CHECK: linalg.generic
// CHECK: math.asinh %{{.*}} : f64
// CHECK-NOT: chlo.acos
func.func @inverse(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = chlo.acos %x : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}
