// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-linalg-to-loops{min-work=100000})' --split-input-file | FileCheck %s
// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-linalg-to-loops{min-work=100000 strict-fp=true})' --split-input-file | FileCheck %s --check-prefix=STRICT

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A row reduction is carried in a register and may be reassociated, unless strict.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[X:.*]]: memref<4x8xf32>, %[[S:.*]]: memref<4xf32>)
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: %[[OLD:.*]] = memref.load %[[S]][%[[I]]]
// CHECK: %[[NEW:.*]] = scf.for %[[K:[a-z0-9]+]] = {{.*}} iter_args(%[[A:.*]] = %[[OLD]])
// CHECK: %[[V:.*]] = memref.load %[[X]][%[[I]], %[[K]]]
// CHECK: %[[SUM:.*]] = arith.addf %[[V]], %[[A]] fastmath<reassoc,contract>
// CHECK: scf.yield %[[SUM]]
// CHECK: memref.store %[[NEW]], %[[S]][%[[I]]]
// STRICT-LABEL: func.func @rows
// STRICT: arith.addf %{{.*}}, %{{.*}} : f32
func.func @rows(%x: memref<4x8xf32>, %s: memref<4xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x8xf32>) outs(%s : memref<4xf32>) {
  ^bb0(%v: f32, %a: f32):
    %0 = arith.addf %v, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d0)>
#T = affine_map<(d0, d1) -> (d1, d0)>

// A column reduction keeps the contiguous loop inside and the sums in memory.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: (%[[X:.*]]: memref<8x4xf32>, %[[S:.*]]: memref<4xf32>)
// CHECK: scf.for %[[K:[a-z0-9]+]] =
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: memref.load %[[X]][%[[K]], %[[I]]]
// CHECK: memref.load %[[S]][%[[I]]]
// CHECK: memref.store {{.*}}, %[[S]][%[[I]]]
func.func @columns(%x: memref<8x4xf32>, %s: memref<4xf32>) {
  linalg.generic {indexing_maps = [#T, #col], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x4xf32>) outs(%s : memref<4xf32>) {
  ^bb0(%v: f32, %a: f32):
    %0 = arith.addf %v, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Loops that all operands walk in step are one loop; a strided operand forbids it. An output that is not read is not
// loaded.
// CHECK-LABEL: func.func @flat
// CHECK: memref.collapse_shape %{{.*}} {{\[\[0, 1\]\]}} : memref<4x?xf32> into memref<?xf32>
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK-NEXT: %[[V:.*]] = memref.load %{{.*}}[%[[I]]] : memref<?xf32>
// CHECK-NEXT: %[[W:.*]] = arith.mulf %[[V]], %[[V]]
// CHECK-NEXT: memref.store %[[W]], %{{.*}}[%[[I]]] : memref<?xf32>
// CHECK-LABEL: func.func @strided
// CHECK: scf.for
// CHECK: scf.for
func.func @flat(%x: memref<4x?xf32>, %y: memref<4x?xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x?xf32>) outs(%y : memref<4x?xf32>) {
  ^bb0(%v: f32, %a: f32):
    %0 = arith.mulf %v, %v : f32
    linalg.yield %0 : f32
  }
  return
}
func.func @strided(%x: memref<4x8xf32, strided<[16, 1]>>, %y: memref<4x8xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x8xf32, strided<[16, 1]>>) outs(%y : memref<4x8xf32>) {
  ^bb0(%v: f32, %a: f32):
    linalg.yield %v : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#last = affine_map<(d0, d1) -> (d1)>

// Enough work is cut into chunks for threads; inside a parallel loop nothing is parallel again.
// CHECK-LABEL: func.func @threads
// CHECK: scf.parallel (%[[C:.*]]) =
// CHECK: scf.for
// CHECK: scf.for
// CHECK-LABEL: func.func @nested
// CHECK: scf.parallel
// CHECK-NOT: scf.parallel
// CHECK: return
func.func @threads(%x: memref<1000x300xf32>, %b: memref<300xf32>, %y: memref<1000x300xf32>) {
  linalg.generic {indexing_maps = [#id, #last, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : memref<1000x300xf32>, memref<300xf32>) outs(%y : memref<1000x300xf32>) {
  ^bb0(%v: f32, %w: f32, %a: f32):
    %0 = arith.addf %v, %w : f32
    linalg.yield %0 : f32
  }
  return
}
func.func @nested(%n: index, %x: memref<1000x300xf32>, %b: memref<300xf32>, %y: memref<1000x300xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    linalg.generic {indexing_maps = [#id, #last, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %b : memref<1000x300xf32>, memref<300xf32>) outs(%y : memref<1000x300xf32>) {
    ^bb0(%v: f32, %w: f32, %a: f32):
      %0 = arith.addf %v, %w : f32
      linalg.yield %0 : f32
    }
    scf.reduce
  }
  return
}

// -----

#in = affine_map<(d0, d1) -> (d0 * 2 + d1)>
#win = affine_map<(d0, d1) -> (d1)>
#out = affine_map<(d0, d1) -> (d0)>

// Windows, indices and ops of rank zero.
// CHECK-LABEL: func.func @window
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: scf.for %[[K:[a-z0-9]+]] =
// CHECK: %[[I2:.*]] = arith.muli %[[I]], %{{.*}}
// CHECK: %[[P:.*]] = arith.addi %[[I2]], %[[K]]
// CHECK: memref.load %{{.*}}[%[[P]]]
// CHECK-LABEL: func.func @index
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK: arith.index_cast %[[I]]
// CHECK-LABEL: func.func @zero
// CHECK-NOT: scf.for
// CHECK: memref.store {{.*}}[] : memref<f32>
// CHECK: return
func.func @window(%x: memref<9xf32>, %w: memref<3xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [#in, #win, #out], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : memref<9xf32>, memref<3xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%v: f32, %u: f32, %a: f32):
    %0 = arith.maximumf %v, %a : f32
    linalg.yield %0 : f32
  }
  return
}
func.func @index(%y: memref<4xi64>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%y : memref<4xi64>) {
  ^bb0(%a: i64):
    %i = linalg.index 0 : index
    %0 = arith.index_cast %i : index to i64
    linalg.yield %0 : i64
  }
  return
}
func.func @zero(%x: memref<f32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%x : memref<f32>) outs(%y : memref<f32>) {
  ^bb0(%v: f32, %a: f32):
    %0 = arith.negf %v : f32
    linalg.yield %0 : f32
  }
  return
}
