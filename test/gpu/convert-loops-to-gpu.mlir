// RUN: kc-opt %s --pass-pipeline='builtin.module(func.func(kc-convert-loops-to-gpu),canonicalize,cse)' --split-input-file 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.err

// Every store goes to a place of its own iteration: both loops become threads.
// CHECK-LABEL: func.func @independent
// CHECK-SAME: (%[[X:.*]]: memref<?x100xf32>, %[[Y:.*]]: memref<?x100xf32>, %[[N:.*]]: index)
// CHECK: %[[TRIPS:.*]] = arith.maxsi %[[N]], %c0 : index
// CHECK: %[[ALL:.*]] = arith.muli %[[TRIPS]], %c99 : index
// CHECK: gpu.launch
// CHECK: %[[ROW:.*]] = arith.divui %{{.*}}, %c99
// CHECK: memref.load %[[X]][%[[ROW]],
// CHECK: memref.store %{{.*}}, %[[Y]][%[[ROW]],
// CHECK-NOT: scf.for
func.func @independent(%x: memref<?x100xf32>, %y: memref<?x100xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c1 to %c100 step %c1 {
      %k = arith.subi %j, %c1 : index
      %v = memref.load %x[%i, %k] : memref<?x100xf32>
      memref.store %v, %y[%i, %j] : memref<?x100xf32>
    }
  }
  return
}

// -----

// Indices that come from memory may repeat; a buffer read at one place and written at another orders the iterations.
// CHECK-LABEL: func.func @dependent
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c1, %{{.*}} = %c1, %{{.*}} = %c1) threads({{.*}}) in (%{{.*}} = %c1,
// CHECK: scf.for
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c1, %{{.*}} = %c1, %{{.*}} = %c1) threads({{.*}}) in (%{{.*}} = %c1,
// CHECK: scf.for
// REMARK: remark: this scf.for runs in a single GPU thread: its iterations are not known to be independent
func.func @dependent(%x: memref<100xf32>, %at: memref<100xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c99 = arith.constant 99 : index
  scf.for %i = %c0 to %c99 step %c1 {
    %k = memref.load %at[%i] : memref<100xindex>
    %v = arith.constant 1.0 : f32
    memref.store %v, %x[%k] : memref<100xf32>
  }
  scf.for %i = %c0 to %c99 step %c1 {
    %k = arith.addi %i, %c1 : index
    %v = memref.load %x[%i] : memref<100xf32>
    memref.store %v, %x[%k] : memref<100xf32>
  }
  return
}

// -----

// A loop's scalar comes back through a buffer. A branch that only reads stays on the host, one that stores does not.
// CHECK-LABEL: func.func @scalars
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>, %[[P:.*]]: i1)
// CHECK: %[[BOX:.*]] = memref.alloc() : memref<f32>
// CHECK: gpu.launch
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: memref.store %[[SUM]], %[[BOX]][]
// CHECK: gpu.terminator
// CHECK: %[[S:.*]] = memref.load %[[BOX]][]
// CHECK: memref.dealloc %[[BOX]]
// CHECK: %[[R:.*]] = scf.if %[[P]] -> (f32)
// CHECK-NEXT: memref.load %[[X]]
// CHECK: gpu.launch
// CHECK: scf.if %[[P]] {
// CHECK: memref.store %[[R]], %[[X]]
// CHECK: return %[[S]]
func.func @scalars(%x: memref<8xf32>, %p: i1) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %zero) -> (f32) {
    %v = memref.load %x[%i] : memref<8xf32>
    %b = arith.addf %a, %v : f32
    scf.yield %b : f32
  }
  %r = scf.if %p -> (f32) {
    %v = memref.load %x[%c1] : memref<8xf32>
    scf.yield %v : f32
  } else {
    scf.yield %zero : f32
  }
  scf.if %p {
    memref.store %r, %x[%c0] : memref<8xf32>
  }
  return %s : f32
}

// -----

// What needs the host stays there: host memory, calls, allocations. The loop inside is still mapped.
// CHECK-LABEL: func.func @host
// CHECK: %[[SLOT:.*]] = memref.alloca()
// CHECK: scf.for
// CHECK-NEXT: memref.store %{{.*}}, %[[SLOT]]
// CHECK: scf.for
// CHECK: func.call @other
// CHECK: gpu.launch
func.func private @other()
func.func @host(%x: memref<8xindex>) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %slot = memref.alloca() : memref<8xindex>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %i, %slot[%i] : memref<8xindex>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    func.call @other() : () -> ()
    scf.parallel (%j) = (%c0) to (%c8) step (%c1) {
      memref.store %i, %x[%j] : memref<8xindex>
    }
  }
  %last = memref.load %slot[%c1] : memref<8xindex>
  return %last : index
}

// -----

// Rows are scattered in order, because they may repeat; a thread takes one column of all of them.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: (%[[X:.*]]: memref<10x300xf32>, %[[AT:.*]]: memref<?xi32>, %[[U:.*]]: memref<?x300xf32>, %[[N:.*]]: index)
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c2,
// CHECK: %[[J:.*]] = arith.addi
// CHECK: scf.for %[[I:.*]] = %c0 to %[[N]] step %c1 {
// CHECK-NEXT: %[[K32:.*]] = memref.load %[[AT]][%[[I]]]
// CHECK-NEXT: %[[K:.*]] = arith.index_cast %[[K32]]
// CHECK-NEXT: %[[V:.*]] = memref.load %[[U]][%[[I]], %[[J]]]
// CHECK-NEXT: %[[OLD:.*]] = memref.load %[[X]][%[[K]], %[[J]]]
// CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[OLD]], %[[V]]
// CHECK-NEXT: memref.store %[[NEW]], %[[X]][%[[K]], %[[J]]]
// CHECK-NOT: memref.atomic_rmw
func.func @rows(%x: memref<10x300xf32>, %at: memref<?xi32>, %u: memref<?x300xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c300 = arith.constant 300 : index
  scf.for %i = %c0 to %n step %c1 {
    %k32 = memref.load %at[%i] : memref<?xi32>
    %k = arith.index_cast %k32 : i32 to index
    scf.for %j = %c0 to %c300 step %c1 {
      %v = memref.load %u[%i, %j] : memref<?x300xf32>
      %old = memref.load %x[%k, %j] : memref<10x300xf32>
      %new = arith.addf %old, %v : f32
      memref.store %new, %x[%k, %j] : memref<10x300xf32>
    }
  }
  return
}

// -----

// Updates of single elements: a thread each, atomically. An operation that the hardware has not stays in order.
// CHECK-LABEL: func.func @updates
// CHECK-SAME: (%[[X:.*]]: memref<10xf32>, %[[Y:.*]]: memref<10xi32>,
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c256,
// CHECK: scf.if
// CHECK: memref.atomic_rmw addf %{{.*}}, %[[X]][%{{.*}}] : (f32, memref<10xf32>) -> f32
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c256,
// CHECK: memref.atomic_rmw maxs %{{.*}}, %[[Y]][%{{.*}}] : (i32, memref<10xi32>) -> i32
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c1,
// CHECK: scf.for
// CHECK: arith.mulf
// CHECK-NOT: memref.atomic_rmw
func.func @updates(%x: memref<10xf32>, %y: memref<10xi32>, %at: memref<?xindex>, %u: memref<?xf32>, %w: memref<?xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %at[%i] : memref<?xindex>
    %v = memref.load %u[%i] : memref<?xf32>
    %in = arith.cmpi ult, %k, %c10 : index
    scf.if %in {
      %old = memref.load %x[%k] : memref<10xf32>
      %new = arith.addf %old, %v : f32
      memref.store %new, %x[%k] : memref<10xf32>
    }
  }
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %at[%i] : memref<?xindex>
    %v = memref.load %w[%i] : memref<?xi32>
    %old = memref.load %y[%k] : memref<10xi32>
    %new = arith.maxsi %v, %old : i32
    memref.store %new, %y[%k] : memref<10xi32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %at[%i] : memref<?xindex>
    %v = memref.load %u[%i] : memref<?xf32>
    %old = memref.load %x[%k] : memref<10xf32>
    %new = arith.mulf %v, %old : f32
    memref.store %new, %x[%k] : memref<10xf32>
  }
  return
}
