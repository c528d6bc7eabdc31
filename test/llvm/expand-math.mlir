// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-expand-math)' | FileCheck %s
// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-expand-math{target=nvptx})' | FileCheck %s --check-prefix=GPU
// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-expand-math{fma=false})' | FileCheck %s --check-prefix=NOFMA

// A vector stays a vector, and no math op is left but fma.
// CHECK-LABEL: func.func @exp
// CHECK-SAME: (%[[X:.*]]: vector<8xf32>)
// CHECK-NOT: math.exp
// CHECK: math.fma %{{.*}}, %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK: return %{{.*}} : vector<8xf32>
// NOFMA-LABEL: func.func @exp
// NOFMA-NOT: math.fma
// NOFMA: return
func.func @exp(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.exp %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// Half types are computed in f32.
// CHECK-LABEL: func.func @half
// CHECK-SAME: (%[[X:.*]]: bf16)
// CHECK: arith.extf %[[X]] : bf16 to f32
// CHECK: %[[R:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT: return %[[R]] : bf16
func.func @half(%x: bf16) -> bf16 {
  %0 = math.tanh %x : bf16
  return %0 : bf16
}

// Arguments beyond 2**30 take a branch.
// CHECK-LABEL: func.func @sin
// CHECK: arith.extf %{{.*}} : vector<4xf32> to vector<4xf64>
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %{{.*}} : vector<4xi1> into i1
// CHECK: scf.if %[[ANY]]
// CHECK-NOT: math.sin
// CHECK: return
func.func @sin(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.sin %x : vector<4xf32>
  return %0 : vector<4xf32>
}

// What the machine has stays; powf of f64 is left to libm on the CPU only.
// CHECK-LABEL: func.func @kept
// CHECK: math.sqrt
// CHECK: math.floor
// CHECK: math.powf
// GPU-LABEL: func.func @kept
// GPU: math.sqrt
// GPU: math.floor
// GPU-NOT: math.powf
// GPU: return
func.func @kept(%x: f64) -> f64 {
  %0 = math.sqrt %x : f64
  %1 = math.floor %0 : f64
  %2 = math.powf %1, %x : f64
  return %2 : f64
}

// Integer powers are a loop over the exponent's bits.
// CHECK-LABEL: func.func @ipow
// CHECK: scf.for
// CHECK: arith.muli
// CHECK-NOT: math.ipowi
// CHECK: return
func.func @ipow(%x: i32, %n: i32) -> i32 {
  %0 = math.ipowi %x, %n : i32
  return %0 : i32
}

// A marked scalar op is a call of one function, on the CPU; both results of sincos come from one reduction.
// CHECK-LABEL: func.func @called
// CHECK: %[[A:.*]]:2 = call @kc_math_sincos_f64(%{{.*}}) : (f64) -> (f64, f64)
// CHECK: call @kc_math_sincos_f64(%[[A]]#0)
// CHECK-NOT: kc.call
// CHECK: return
// GPU-LABEL: func.func @called
// GPU-COUNT-2: scf.if
// GPU-NOT: scf.if
// GPU: return
func.func @called(%x: f64) -> (f64, f64) {
  %0, %1 = math.sincos %x {kc.call} : f64
  %2, %3 = math.sincos %0 {kc.call} : f64
  return %2, %3 : f64, f64
}
// CHECK: func.func private @kc_math_sincos_f64(%{{.*}}: f64) -> (f64, f64) attributes {kc.math}
// CHECK-NEXT: arith
// CHECK: scf.if
// CHECK-NOT: math.sincos
