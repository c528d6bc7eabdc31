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

// A buffer read at one place and written at another orders the iterations.
// CHECK-LABEL: func.func @dependent
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c1, %{{.*}} = %c1, %{{.*}} = %c1) threads({{.*}}) in (%{{.*}} = %c1,
// CHECK: scf.for
// REMARK: remark: this scf.for runs in a single GPU thread: its iterations are not known to be independent
func.func @dependent(%x: memref<100xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c99 = arith.constant 99 : index
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
// CHECK-SAME: (%[[X:.*]]: memref<10x300xf32>, %[[AT:.*]]: memref<200xi32>, %[[U:.*]]: memref<200x300xf32>)
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c2,
// CHECK: %[[J:.*]] = arith.addi
// CHECK: scf.for %[[I:.*]] = %c0 to %c200 step %c1 {
// CHECK-NEXT: %[[K32:.*]] = memref.load %[[AT]][%[[I]]]
// CHECK-NEXT: %[[K:.*]] = arith.index_cast %[[K32]]
// CHECK-NEXT: %[[V:.*]] = memref.load %[[U]][%[[I]], %[[J]]]
// CHECK-NEXT: %[[OLD:.*]] = memref.load %[[X]][%[[K]], %[[J]]]
// CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[OLD]], %[[V]]
// CHECK-NEXT: memref.store %[[NEW]], %[[X]][%[[K]], %[[J]]]
// CHECK-NOT: memref.atomic_rmw
func.func @rows(%x: memref<10x300xf32>, %at: memref<200xi32>, %u: memref<200x300xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %c300 = arith.constant 300 : index
  scf.for %i = %c0 to %c200 step %c1 {
    %k32 = memref.load %at[%i] : memref<200xi32>
    %k = arith.index_cast %k32 : i32 to index
    scf.for %j = %c0 to %c300 step %c1 {
      %v = memref.load %u[%i, %j] : memref<200x300xf32>
      %old = memref.load %x[%k, %j] : memref<10x300xf32>
      %new = arith.addf %old, %v : f32
      memref.store %new, %x[%k, %j] : memref<10x300xf32>
    }
  }
  return
}

// -----

// Updates of single elements: a thread each, atomically; by one instruction where there is one, else by compare-and-swap
// of the word, which is not written where it would not change.
// CHECK-LABEL: func.func @updates
// CHECK-SAME: (%[[X:.*]]: memref<10xf32>, %[[Y:.*]]: memref<10xi32>,
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c256,
// CHECK: scf.if
// CHECK: %[[K:.*]] = arith.muli %{{.*}}, %c4 : index
// CHECK: %[[BASE:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: %[[P:.*]] = arith.addi %[[BASE]], %[[K]] : index
// CHECK: %[[P64:.*]] = arith.index_cast %[[P]] : index to i64
// CHECK: %[[AT:.*]] = llvm.inttoptr %[[P64]] : i64 to !llvm.ptr<1>
// CHECK: llvm.atomicrmw fadd %[[AT]], %{{[^ ]*}} syncscope("device") monotonic : !llvm.ptr<1>, f32
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c256,
// CHECK: llvm.atomicrmw max %{{.*}}, %{{.*}} syncscope("device") monotonic : !llvm.ptr<1>, i32
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c256,
// CHECK: %[[FIRST:.*]] = llvm.load %[[WORD:.*]] atomic syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK: scf.while (%[[OLD:.*]] = %[[FIRST]]) : (i32) -> i32 {
// CHECK: %[[F:.*]] = arith.bitcast %[[OLD]] : i32 to f32
// CHECK: %[[G:.*]] = arith.mulf %{{.*}}, %[[F]] : f32
// CHECK: %[[NEW:.*]] = arith.bitcast %[[G]] : f32 to i32
// CHECK: %[[CHANGES:.*]] = arith.cmpi ne, %[[NEW]], %[[OLD]] : i32
// CHECK: scf.if %[[CHANGES]] -> (i32, i1) {
// CHECK: llvm.cmpxchg %[[WORD]], %[[OLD]], %[[NEW]] syncscope("device") monotonic monotonic
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c256,
// CHECK: %[[RE:.*]] = complex.re
// CHECK: llvm.atomicrmw fadd %{{.*}}, %[[RE]]
// CHECK: %[[IM:.*]] = complex.im
// CHECK: llvm.atomicrmw fadd %{{.*}}, %[[IM]]
func.func @updates(%x: memref<10xf32>, %y: memref<10xi32>, %z: memref<10xcomplex<f64>>, %at: memref<?xindex>,
                   %u: memref<?xf32>, %w: memref<?xi32>, %c: complex<f64>, %n: index) {
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
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %at[%i] : memref<?xindex>
    %old = memref.load %z[%k] : memref<10xcomplex<f64>>
    %new = complex.add %old, %c : complex<f64>
    memref.store %new, %z[%k] : memref<10xcomplex<f64>>
  }
  return
}

// -----

// Long runs of updates are not kept in order for the sake of a sum's last bits.
// CHECK-LABEL: func.func @long
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c1172,
// CHECK: llvm.atomicrmw fadd
func.func @long(%x: memref<10x300xf32>, %at: memref<1000xindex>, %u: memref<1000x300xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c300 = arith.constant 300 : index
  %c1000 = arith.constant 1000 : index
  scf.for %i = %c0 to %c1000 step %c1 {
    %k = memref.load %at[%i] : memref<1000xindex>
    scf.for %j = %c0 to %c300 step %c1 {
      %v = memref.load %u[%i, %j] : memref<1000x300xf32>
      %old = memref.load %x[%k, %j] : memref<10x300xf32>
      %new = arith.addf %old, %v : f32
      memref.store %new, %x[%k, %j] : memref<10x300xf32>
    }
  }
  return
}

// -----

// Loops that are said to write no place twice, whatever the indices in memory say.
// CHECK-LABEL: func.func @unique
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c256,
// CHECK: memref.load
// CHECK: complex.mul
// CHECK: memref.store
// CHECK-NOT: gpu.launch
// A second access at another place makes the mark worthless.
// CHECK-LABEL: func.func @not_quite
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c1,
func.func @unique(%x: memref<10xcomplex<f64>>, %at: memref<?xindex>, %u: memref<?xcomplex<f64>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %at[%i] : memref<?xindex>
    %v = memref.load %u[%i] : memref<?xcomplex<f64>>
    %old = memref.load %x[%k] : memref<10xcomplex<f64>>
    %new = complex.mul %old, %v : complex<f64>
    memref.store %new, %x[%k] : memref<10xcomplex<f64>>
  } {kc.unique}
  return
}
func.func @not_quite(%x: memref<10xf32>, %at: memref<?xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %at[%i] : memref<?xindex>
    %old = memref.load %x[%i] : memref<10xf32>
    memref.store %old, %x[%k] : memref<10xf32>
  } {kc.unique}
  return
}

// -----

// Of stores to one place the last one wins: its iteration's number is found first.
// CHECK-LABEL: func.func @overwrite
// CHECK-SAME: (%[[X:.*]]: memref<10xf32>, %[[Y:.*]]: memref<10xi8>,
// CHECK: %[[NUMBERS:.*]] = memref.alloc() : memref<10xi64>
// CHECK: gpu.launch
// CHECK: memref.store %c-1_i64, %[[NUMBERS]]
// CHECK: gpu.launch
// CHECK: llvm.atomicrmw max %{{.*}}, %[[LINEAR:.*]] syncscope("device") monotonic : !llvm.ptr<1>, i64
// CHECK-NOT: memref.store
// CHECK: gpu.launch
// CHECK: %[[LAST:.*]] = memref.load %[[NUMBERS]]
// CHECK: %[[MINE:.*]] = arith.cmpi eq, %[[LAST]]
// CHECK: scf.if %[[MINE]] {
// CHECK-NEXT: memref.store %{{.*}}, %[[X]]
// CHECK-NEXT: memref.store %{{.*}}, %[[Y]]
// CHECK: memref.dealloc %[[NUMBERS]]
func.func @overwrite(%x: memref<10xf32>, %y: memref<10xi8>, %at: memref<?xindex>, %u: memref<?xf32>, %w: memref<?xi8>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %at[%i] : memref<?xindex>
    %v = memref.load %u[%i] : memref<?xf32>
    %b = memref.load %w[%i] : memref<?xi8>
    memref.store %v, %x[%k] : memref<10xf32>
    memref.store %b, %y[%k] : memref<10xi8>
  }
  return
}

// -----

// One update looks at what another one does: in order, by one thread.
// CHECK-LABEL: func.func @entangled
// CHECK: gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %c1,
// CHECK-NOT: llvm.
func.func @entangled(%x: memref<10xf32>, %y: memref<10xf32>, %at: memref<?xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %k = memref.load %at[%i] : memref<?xindex>
    %a = memref.load %x[%k] : memref<10xf32>
    %b = memref.load %y[%k] : memref<10xf32>
    %s = arith.addf %a, %b : f32
    %p = arith.mulf %a, %b : f32
    memref.store %s, %x[%k] : memref<10xf32>
    memref.store %p, %y[%k] : memref<10xf32>
  }
  return
}

// -----

// A scan of planes: rows in order, but every column is on its own in both loops over columns: a thread takes one column
// of one plane.
// CHECK-LABEL: func.func @planes
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c12,
// CHECK: scf.if
// CHECK: %[[J:.*]] = arith.index_castui
// CHECK: %[[B:.*]] = arith.index_castui
// CHECK: memref.load %{{.*}}[%[[B]], %c0, %[[J]]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[B]], %c0, %[[J]]]
// CHECK: scf.for %[[K:.*]] = %c1 to %c7 step %c1 {
// CHECK-NEXT: %[[L:.*]] = arith.subi %[[K]], %c1
// CHECK: memref.load %{{.*}}[%[[B]], %[[L]], %[[J]]]
// CHECK-NOT: scf.for
// CHECK: gpu.terminator
// Columns that look at their neighbours are not on their own: a thread takes a plane.
// CHECK-LABEL: func.func @neighbours
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c1, {{.*}} threads({{.*}}) in (%{{.*}} = %c32,
// CHECK: scf.for
// CHECK: scf.for
func.func @planes(%x: memref<10x7x300xf32>, %y: memref<10x7x300xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c10 = arith.constant 10 : index
  %c300 = arith.constant 300 : index
  scf.for %b = %c0 to %c10 step %c1 {
    scf.for %j = %c0 to %c300 step %c1 {
      %v = memref.load %x[%b, %c0, %j] : memref<10x7x300xf32>
      memref.store %v, %y[%b, %c0, %j] : memref<10x7x300xf32>
    }
    scf.for %k = %c1 to %c7 step %c1 {
      %l = arith.subi %k, %c1 : index
      scf.for %j = %c0 to %c300 step %c1 {
        %v = memref.load %x[%b, %k, %j] : memref<10x7x300xf32>
        %w = memref.load %y[%b, %l, %j] : memref<10x7x300xf32>
        %s = arith.addf %v, %w : f32
        memref.store %s, %y[%b, %k, %j] : memref<10x7x300xf32>
      }
    }
  }
  return
}
func.func @neighbours(%y: memref<10x7x300xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c10 = arith.constant 10 : index
  %c300 = arith.constant 300 : index
  scf.for %b = %c0 to %c10 step %c1 {
    scf.for %k = %c1 to %c7 step %c1 {
      %l = arith.subi %k, %c1 : index
      scf.for %j = %c1 to %c300 step %c1 {
        %m = arith.subi %j, %c1 : index
        %w = memref.load %y[%b, %l, %m] : memref<10x7x300xf32>
        memref.store %w, %y[%b, %k, %j] : memref<10x7x300xf32>
      }
    }
  }
  return
}

// -----

// The mark of unique indices is not needed where columns are independent anyway, and not trusted then.
// CHECK-LABEL: func.func @said
// CHECK: gpu.launch {{.*}} in (%{{.*}} = %c2,
// CHECK: scf.for %{{.*}} = %c0 to %c200 step %c1 {
// CHECK: arith.addf
// CHECK: gpu.terminator
func.func @said(%x: memref<10x300xf32>, %at: memref<200xindex>, %u: memref<200x300xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c200 = arith.constant 200 : index
  %c300 = arith.constant 300 : index
  scf.for %i = %c0 to %c200 step %c1 {
    %k = memref.load %at[%i] : memref<200xindex>
    scf.for %j = %c0 to %c300 step %c1 {
      %v = memref.load %u[%i, %j] : memref<200x300xf32>
      %old = memref.load %x[%k, %j] : memref<10x300xf32>
      %new = arith.addf %old, %v : f32
      memref.store %new, %x[%k, %j] : memref<10x300xf32>
    } {kc.unique}
  } {kc.unique}
  return
}
