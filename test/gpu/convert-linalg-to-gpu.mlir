// RUN: kc-opt %s --pass-pipeline='builtin.module(func.func(kc-convert-linalg-to-gpu),canonicalize,cse)' --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>

// One thread per element, the last axis fastest; a scalar operand is captured, linalg.index is the thread's coordinate.
// CHECK-LABEL: func.func @map
// CHECK-SAME: (%[[X:.*]]: memref<30x100xf32>, %[[S:.*]]: f32, %[[Y:.*]]: memref<30x100xf32>)
// CHECK: gpu.launch blocks(%[[B:[a-z0-9]*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c12,
// CHECK-SAME: threads(%[[T:[a-z0-9]*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %c256,
// CHECK: %[[BASE:.*]] = arith.muli %[[B]], %c256 : index
// CHECK: %[[I:.*]] = arith.addi %[[BASE]], %[[T]] : index
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[I]], %c3000 : index
// CHECK: scf.if %[[IN]] {
// CHECK: %[[N:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK: %[[C32:.*]] = arith.remui %[[N]], %c100_i32 : i32
// CHECK: %[[R32:.*]] = arith.divui %[[N]], %c100_i32 : i32
// CHECK: %[[C:.*]] = arith.index_castui %[[C32]]
// CHECK: %[[R:.*]] = arith.index_castui %[[R32]]
// CHECK: %[[V:.*]] = memref.load %[[X]][%[[R]], %[[C]]]
// CHECK: arith.index_cast %[[C]] : index to i64
// CHECK: %[[P:.*]] = arith.mulf %[[V]], %[[S]] : f32
// CHECK: memref.store %{{.*}}, %[[Y]][%[[R]], %[[C]]]
// CHECK-NOT: linalg
func.func @map(%x: memref<30x100xf32>, %s: f32, %y: memref<30x100xf32>) {
  linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> ()>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : memref<30x100xf32>, f32) outs(%y : memref<30x100xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %i = linalg.index 1 : index
    %w = arith.index_cast %i : index to i64
    %f = arith.sitofp %w : i64 to f32
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %p, %f : f32
    linalg.yield %q : f32
  }
  return
}

// -----

// Few outputs: one block each. Half-precision terms are formed and summed in f32 and rounded once.
// CHECK-LABEL: func.func @block_reduction
// CHECK-SAME: (%[[X:.*]]: memref<?x1000xbf16>, %[[Y:.*]]: memref<?xbf16>)
// CHECK: %[[ROWS:.*]] = memref.dim %[[X]], %c0
// CHECK: gpu.launch blocks(%[[B:[a-z0-9]*]], %{{.*}}, %{{.*}}) in (%{{.*}} = %[[ROWS]],
// CHECK-SAME: threads(%[[T:[a-z0-9]*]], {{.*}} workgroup(%[[TILE:.*]] : memref<256xf32, #gpu.address_space<workgroup>>)
// CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %[[T]] to %c1000 step %c256 iter_args(%[[ACC:.*]] = %cst) -> (f32)
// CHECK: %[[V:.*]] = memref.load %[[X]][%[[B]], %[[K]]]
// CHECK: %[[V32:.*]] = arith.extf %[[V]]
// CHECK: %[[SQ:.*]] = arith.mulf %[[V32]], %[[V32]] : f32
// CHECK: arith.addf %[[ACC]], %[[SQ]] : f32
// CHECK-NOT: truncf
// CHECK: memref.store %[[SUM]], %[[TILE]][%[[T]]]
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: arith.cmpi ult, %[[T]],
// CHECK: arith.cmpi eq, %[[T]], %c0
// CHECK: %[[FIRST:.*]] = memref.load %[[Y]][%[[B]]]
// CHECK: %[[FIRST32:.*]] = arith.extf %[[FIRST]] : bf16 to f32
// CHECK: %[[LAST:.*]] = memref.load %[[TILE]][%c0]
// CHECK: %[[TOTAL:.*]] = arith.addf %[[FIRST32]], %[[LAST]] : f32
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[TOTAL]] : f32 to bf16
// CHECK: memref.store %[[ROUNDED]], %[[Y]][%[[B]]]
func.func @block_reduction(%x: memref<?x1000xbf16>, %y: memref<?xbf16>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<?x1000xbf16>) outs(%y : memref<?xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    %p = arith.mulf %a, %a : bf16
    %s = arith.addf %out, %p : bf16
    linalg.yield %s : bf16
  }
  return
}

// -----

// Many outputs, reduced along the slow axis: a thread each, which carries the accumulator.
// CHECK-LABEL: func.func @thread_reduction
// CHECK-SAME: (%[[X:.*]]: memref<1000x5000xf32>, %[[Y:.*]]: memref<5000xf32>)
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c20,
// CHECK-NOT: workgroup
// CHECK: %[[FIRST:.*]] = memref.load %[[Y]][%[[I:.*]]]
// CHECK: %[[MAX:.*]] = scf.for %[[K:.*]] = %c0 to %c1000 step %c1 iter_args(%[[ACC:.*]] = %[[FIRST]]) -> (f32)
// CHECK: memref.load %[[X]][%[[K]], %[[I]]]
// CHECK: memref.store %[[MAX]], %[[Y]][%[[I]]]
func.func @thread_reduction(%x: memref<1000x5000xf32>, %y: memref<5000xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<1000x5000xf32>) outs(%y : memref<5000xf32>) {
  ^bb0(%a: f32, %out: f32):
    %m = arith.maximumf %out, %a : f32
    linalg.yield %m : f32
  }
  return
}

// -----

// A copy that is contiguous stays for kc-gpu-host-memory, another is a kernel. A sum that reads a window has composed indices.
// CHECK-LABEL: func.func @copies_and_windows
// CHECK-SAME: (%[[A:.*]]: memref<8x4xf32, strided<[1, 8]>>, %[[B:.*]]: memref<8x4xf32>, %[[C:.*]]: memref<8x4xf32>
// CHECK: gpu.launch
// CHECK: memref.load %[[A]]
// CHECK: memref.store %{{.*}}, %[[B]]
// CHECK: memref.copy %[[B]], %[[C]]
// CHECK: gpu.launch
// CHECK: scf.for %[[K:.*]] = %c0 to %c3 step %c1
// CHECK: %[[TWICE:.*]] = arith.muli %[[I:.*]], %c2 : index
// CHECK: %[[AT:.*]] = arith.addi %[[TWICE]], %[[K]] : index
// CHECK: memref.load %{{.*}}[%[[AT]]]
func.func @copies_and_windows(%a: memref<8x4xf32, strided<[1, 8]>>, %b: memref<8x4xf32>, %c: memref<8x4xf32>,
                              %x: memref<21xf32>, %w: memref<3xf32>, %y: memref<10xf32>) {
  memref.copy %a, %b : memref<8x4xf32, strided<[1, 8]>> to memref<8x4xf32>
  memref.copy %b, %c : memref<8x4xf32> to memref<8x4xf32>
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0 * 2 + d1)>, affine_map<(d0, d1) -> (d1)>,
                                   affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : memref<21xf32>, memref<3xf32>) outs(%y : memref<10xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %out, %m : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// The fill in front of a reduction goes: its scalar is where the reduction starts. One that something reads stays.
// CHECK-LABEL: func.func @fills
// CHECK-SAME: (%[[X:.*]]: memref<5000xf32>, %[[S:.*]]: f32, %[[A:.*]]: memref<f32>, %[[B:.*]]: memref<f32>)
// CHECK: gpu.launch
// CHECK: memref.store %[[S]], %[[B]][]
// CHECK: gpu.launch
// CHECK-NOT: memref.load %[[A]]
// CHECK: arith.addf %[[S]], %{{.*}} : f32
// CHECK: memref.store %{{.*}}, %[[A]][]
// CHECK: memref.copy %[[B]]
// CHECK: gpu.launch
// CHECK: memref.load %[[B]][]
func.func @fills(%x: memref<5000xf32>, %s: f32, %a: memref<f32>, %b: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%s : f32) outs(%a : memref<f32>) {
  ^bb0(%i: f32, %o: f32):
    linalg.yield %i : f32
  }
  linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%s : f32) outs(%b : memref<f32>) {
  ^bb0(%i: f32, %o: f32):
    linalg.yield %i : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<5000xf32>) outs(%a : memref<f32>) {
  ^bb0(%i: f32, %o: f32):
    %t = arith.addf %o, %i : f32
    linalg.yield %t : f32
  }
  %c = memref.alloc() : memref<f32>
  memref.copy %b, %c : memref<f32> to memref<f32>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<5000xf32>) outs(%b : memref<f32>) {
  ^bb0(%i: f32, %o: f32):
    %t = arith.addf %o, %i : f32
    linalg.yield %t : f32
  }
  memref.dealloc %c : memref<f32>
  return
}

// -----

// Arg max: every thread picks from a part of its own, the tree combines neighbours, so the order is kept.
// CHECK-LABEL: func.func @pick
// CHECK: gpu.launch {{.*}} workgroup(%[[V:.*]] : memref<256xf32, #gpu.address_space<workgroup>>, %[[I:.*]] : memref<256xi32, #gpu.address_space<workgroup>>)
// CHECK: %[[BEGIN:.*]] = arith.muli %[[T:.*]], %c20 : index
// CHECK: %[[END:.*]] = arith.minui
// CHECK: %[[PART:.*]]:3 = scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c1 iter_args(%[[SOME:.*]] = %false,
// CHECK: arith.cmpf ogt
// CHECK: scf.yield %true,
// CHECK: memref.store %[[PART]]#1, %[[V]][%[[T]]]
// CHECK: memref.store %[[PART]]#2, %[[I]][%[[T]]]
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: arith.shli
// CHECK: arith.remui
func.func @pick(%x: memref<5000xf32>, %v: memref<f32>, %k: memref<i32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>],
                  iterator_types = ["reduction"]}
      ins(%x : memref<5000xf32>) outs(%v, %k : memref<f32>, memref<i32>) {
  ^bb0(%a: f32, %best: f32, %at: i32):
    %i = linalg.index 0 : index
    %w = arith.index_cast %i : index to i32
    %larger = arith.cmpf ogt, %a, %best : f32
    %nan = arith.cmpf uno, %a, %a : f32
    %none = arith.cmpf ord, %best, %best : f32
    %first = arith.andi %nan, %none : i1
    %more = arith.ori %larger, %first : i1
    %p = arith.select %more, %a, %best : f32
    %q = arith.select %more, %w, %at : i32
    linalg.yield %p, %q : f32, i32
  }
  return
}

// -----

// A long reduction of few outputs is cut into parts of 8192 elements with a block each; a second launch folds their
// results. Where the order matters, parts and the threads in them take neighbouring elements.
// CHECK-LABEL: func.func @cut
// CHECK-SAME: (%[[X:[a-z0-9]*]]: memref<100000xi32>, %[[Y:[a-z0-9]*]]: memref<i32>,
// CHECK: %[[PARTS:.*]] = memref.alloc() : memref<1x13xi32>
// CHECK: gpu.launch blocks(%[[B:[a-z0-9]*]], {{.*}} in (%{{.*}} = %c13,
// CHECK: %[[BEGIN:.*]] = arith.muli %[[B]], %c8192
// CHECK: %[[END:.*]] = arith.minui %{{.*}}, %c100000
// CHECK: %[[MINE:.*]] = arith.addi %[[BEGIN]], %[[T:.*]] : index
// CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %[[MINE]] to %[[END]] step %c256 iter_args(%{{.*}} = %c0_i32) -> (i32)
// CHECK: memref.load %[[X]][%[[K]]]
// CHECK: gpu.barrier
// CHECK: memref.store %{{.*}}, %[[PARTS]][%c0, %[[B]]]
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c1,
// CHECK: scf.for %[[P:.*]] = %{{.*}} to %c13 step %c32 iter_args
// CHECK: memref.load %[[PARTS]][%c0, %[[P]]]
// CHECK: gpu.barrier
// CHECK: memref.store %{{.*}}, %[[Y]][]
// CHECK: memref.dealloc %[[PARTS]]
// CHECK: gpu.launch blocks(%[[B2:[a-z0-9]*]], {{.*}} in (%{{.*}} = %c13,
// CHECK: %[[BEGIN2:.*]] = arith.muli %[[B2]], %c8192
// CHECK: %[[OWN:.*]] = arith.muli %{{.*}}, %c32
// CHECK: arith.addi %[[BEGIN2]], %[[OWN]]
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c1,
func.func @cut(%x: memref<100000xi32>, %y: memref<i32>, %v: memref<i32>, %at: memref<i32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<100000xi32>) outs(%y : memref<i32>) {
  ^bb0(%a: i32, %sum: i32):
    %s = arith.addi %a, %sum : i32
    linalg.yield %s : i32
  }
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>],
                  iterator_types = ["reduction"]}
      ins(%x : memref<100000xi32>) outs(%v, %at : memref<i32>, memref<i32>) {
  ^bb0(%a: i32, %best: i32, %k: i32):
    %i = linalg.index 0 : index
    %w = arith.index_cast %i : index to i32
    %more = arith.cmpi sgt, %a, %best : i32
    %p = arith.select %more, %a, %best : i32
    %q = arith.select %more, %w, %k : i32
    linalg.yield %p, %q : i32, i32
  }
  return
}
