// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-convert-tm-tensor)' | FileCheck %s

// Negative indices are wrapped and all are asserted; then one loop over the updates and one over the window. The update
// is the combiner's first argument.
// CHECK-LABEL: func.func @scatter
// CHECK-SAME: (%[[U:.*]]: tensor<6x1x8xf32>, %[[I:.*]]: tensor<6x1xi64>, %[[X:.*]]: tensor<11x8xf32>)
// CHECK: %[[WRAPPED:.*]] = linalg.generic {{.*}} ins(%[[I]] : tensor<6x1xi64>)
// CHECK: arith.cmpi slt
// CHECK: arith.select
// CHECK: cf.assert %{{.*}}, "an index of a scatter is out of range"
// CHECK: scf.for %[[K:.*]] = %{{.*}} iter_args(%{{.*}} = %[[X]])
// CHECK: tensor.extract %[[WRAPPED]][%[[K]], %{{.*}}]
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK: %[[NEW:.*]] = tensor.extract %[[U]]
// CHECK: %[[OLD:.*]] = tensor.extract
// CHECK: %[[SUM:.*]] = arith.subf %[[OLD]], %[[NEW]] : f32
// CHECK: tensor.insert %[[SUM]]
func.func @scatter(%u: tensor<6x1x8xf32>, %i: tensor<6x1xi64>, %x: tensor<11x8xf32>) -> tensor<11x8xf32> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false)
    ins(%u, %i : tensor<6x1x8xf32>, tensor<6x1xi64>) outs(%x : tensor<11x8xf32>) {
  ^bb0(%new: f32, %old: f32):
    %s = arith.subf %old, %new : f32
    tm_tensor.yield %s : f32
  } -> tensor<11x8xf32>
  return %0 : tensor<11x8xf32>
}

// Less or equal becomes a strict order, of which NaN is the largest number.
// CHECK-LABEL: func.func @sort
// CHECK: scf.for
// CHECK: %[[LESS:.*]] = arith.cmpf ult, %[[A:.*]], %{{.*}} : f32
// CHECK: %[[NUMBER:.*]] = arith.cmpf ord, %[[A]], %[[A]] : f32
// CHECK: arith.andi %[[LESS]], %[[NUMBER]] : i1
// CHECK-NOT: cmpf ole
func.func @sort(%x: tensor<9xf32>, %p: tensor<9xi64>) -> (tensor<9xf32>, tensor<9xi64>) {
  %0:2 = tm_tensor.sort dimension(0) outs(%x, %p : tensor<9xf32>, tensor<9xi64>) {
  ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
    %q = arith.cmpf ole, %a, %b : f32
    tm_tensor.yield %q : i1
  } -> tensor<9xf32>, tensor<9xi64>
  return %0#0, %0#1 : tensor<9xf32>, tensor<9xi64>
}

// true comes after false, though -1 is less than 0.
// CHECK-LABEL: func.func @sort_booleans
// CHECK: scf.for
// CHECK: arith.cmpi ult, %{{.*}}, %{{.*}} : i1
func.func @sort_booleans(%x: tensor<9xi1>) -> tensor<9xi1> {
  %0 = tm_tensor.sort dimension(0) outs(%x : tensor<9xi1>) {
  ^bb0(%a: i1, %b: i1):
    %q = arith.cmpi sle, %a, %b : i1
    tm_tensor.yield %q : i1
  } -> tensor<9xi1>
  return %0 : tensor<9xi1>
}

// A sum of bf16 is made in f32.
// CHECK-LABEL: func.func @scan
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: scf.for
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @scan(%x: tensor<9xbf16>, %o: tensor<9xbf16>, %t: tensor<bf16>) -> tensor<9xbf16> {
  %0:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%x : tensor<9xbf16>)
    outs(%o, %t : tensor<9xbf16>, tensor<bf16>) {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %b : bf16
    tm_tensor.yield %s : bf16
  } -> tensor<9xbf16>, tensor<bf16>
  return %0#0 : tensor<9xbf16>
}

// A cumulative log-sum-exp keeps to logarithms: no sum of exponentials that overflows.
// CHECK-LABEL: func.func @log_sum_exp
// CHECK: scf.for
// CHECK: arith.maximumf
// CHECK: math.log1p
// CHECK-NOT: math.log %
func.func @log_sum_exp(%x: tensor<9xf32>, %o: tensor<9xf32>, %t: tensor<f32>) -> tensor<9xf32> {
  %e = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
    iterator_types = ["parallel"]} ins(%x : tensor<9xf32>) outs(%o : tensor<9xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<9xf32>
  %0:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%e : tensor<9xf32>)
    outs(%o, %t : tensor<9xf32>, tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tm_tensor.yield %s : f32
  } -> tensor<9xf32>, tensor<f32>
  %l = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
    iterator_types = ["parallel"]} ins(%0#0 : tensor<9xf32>) outs(%o : tensor<9xf32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = math.log %a : f32
    linalg.yield %1 : f32
  } -> tensor<9xf32>
  return %l : tensor<9xf32>
}
