// A 64 x 128 matrix times eight columns, on the tensor cores: two steps of 64 along K, copied in by tensor maps with the
// 128-byte swizzle, multiplied by one warpgroup.
func.func @main(%x: memref<64x128xf16>, %w: memref<8x128xf16>, %y: memref<64x8xf32> {kc.out}) attributes {kc.allow = ["contract", "reassoc"]} {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %one = arith.constant 1 : i64
  %wide = arith.constant 3 : i64
  %rows = arith.constant 64 : i64
  %columns = arith.constant 8 : i64
  %bytes = arith.constant 18448 : i32
  %mx = llvm.alloca %one x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
  %mw = llvm.alloca %one x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
  %xi = memref.extract_aligned_pointer_as_index %x : memref<64x128xf16> -> index
  %wi = memref.extract_aligned_pointer_as_index %w : memref<8x128xf16> -> index
  %yi = memref.extract_aligned_pointer_as_index %y : memref<64x8xf32> -> index
  %xj = arith.index_cast %xi : index to i64
  %wj = arith.index_cast %wi : index to i64
  %yj = arith.index_cast %yi : index to i64
  %xp = llvm.inttoptr %xj : i64 to !llvm.ptr
  %wp = llvm.inttoptr %wj : i64 to !llvm.ptr
  %yp = llvm.inttoptr %yj : i64 to !llvm.ptr
  func.call @map(%mx, %xp, %rows, %wide) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
  func.call @map(%mw, %wp, %columns, %wide) : (!llvm.ptr, !llvm.ptr, i64, i64) -> ()
  gpu.launch_func @device::@product blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %bytes args(%mx : !llvm.ptr, %mw : !llvm.ptr, %wp : !llvm.ptr, %yp : !llvm.ptr)
  return
}
func.func private @map(%out: !llvm.ptr, %base: !llvm.ptr, %rows: i64, %swizzle: i64) {
  %one = arith.constant 1 : i64
  %type = arith.constant 6 : i64
  %rank = arith.constant 2 : i64
  %none = arith.constant 0 : i64
  %depth = arith.constant 128 : i64
  %pitch = arith.constant 256 : i64
  %boxk = arith.constant 64 : i32
  %boxr = arith.trunci %rows : i64 to i32
  %dims = llvm.alloca %one x !llvm.array<2 x i64> {alignment = 8 : i64} : (i64) -> !llvm.ptr
  %dims1 = llvm.getelementptr %dims[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %depth, %dims {alignment = 8 : i64} : i64, !llvm.ptr
  llvm.store %rows, %dims1 {alignment = 8 : i64} : i64, !llvm.ptr
  %steps = llvm.alloca %one x !llvm.array<1 x i64> {alignment = 8 : i64} : (i64) -> !llvm.ptr
  llvm.store %pitch, %steps {alignment = 8 : i64} : i64, !llvm.ptr
  %box = llvm.alloca %one x !llvm.array<2 x i32> {alignment = 8 : i64} : (i64) -> !llvm.ptr
  %box1 = llvm.getelementptr %box[4] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %boxk, %box {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.store %boxr, %box1 {alignment = 4 : i64} : i32, !llvm.ptr
  func.call @kc_gpu_tensor_map_encode(%out, %type, %rank, %base, %dims, %steps, %box, %swizzle, %none) : (!llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
  return
}
func.func private @kc_gpu_tensor_map_encode(!llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64)
gpu.module @device {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @product(%mx: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %mw: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %w: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c5 = arith.constant 5 : i32
    %c6 = arith.constant 6 : i32
    %c7 = arith.constant 7 : i32
    %c10 = arith.constant 10 : i32
    %c13 = arith.constant 13 : i32
    %c31 = arith.constant 31 : i32
    %expected = arith.constant 9216 : i32
    %ticks = arith.constant 10000000 : i32
    %mask = arith.constant 262143 : i32
    %d0 = arith.constant 0 : i64
    %d2 = arith.constant 2 : i64
    %d4 = arith.constant 4 : i64
    %d6 = arith.constant 6 : i64
    %layout = arith.constant 4611686293305360384 : i64
    %zeros = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>
    %s = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %si = llvm.ptrtoint %s : !llvm.ptr<3> to i32
    %sb = llvm.getelementptr %s[16384] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %sbi = llvm.ptrtoint %sb : !llvm.ptr<3> to i32
    %full = llvm.getelementptr %s[18432] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %full1 = llvm.getelementptr %s[18440] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %first = arith.cmpi eq, %t, %c0 : i32
    scf.if %first {
      nvvm.mbarrier.init %full, %c1 : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %full1, %c1 : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
      scf.for %k = %c0 to %c2 step %c1 : i32 {
        %b = arith.shli %k, %c3 : i32
        %f = llvm.getelementptr %full[%b] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
        %state = nvvm.mbarrier.arrive.expect_tx %f, %expected : !llvm.ptr<3>, i32 -> i64
        %at = arith.shli %k, %c6 : i32
        %oa = arith.shli %k, %c13 : i32
        %pa = llvm.getelementptr %s[%oa] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
        %qa = llvm.addrspacecast %pa : !llvm.ptr<3> to !llvm.ptr<7>
        nvvm.cp.async.bulk.tensor.shared.cluster.global %qa, %mx, %f, box[%at, %c0] : !llvm.ptr<7>, !llvm.ptr
        %ob = arith.shli %k, %c10 : i32
        %pb = llvm.getelementptr %sb[%ob] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
        %qb = llvm.addrspacecast %pb : !llvm.ptr<3> to !llvm.ptr<7>
        nvvm.cp.async.bulk.tensor.shared.cluster.global %qb, %mw, %f, box[%at, %c0] : !llvm.ptr<7>, !llvm.ptr
      }
    }
    nvvm.barrier
    %sum = scf.for %k = %c0 to %c2 step %c1 iter_args(%acc = %zeros) -> (!llvm.struct<(f32, f32, f32, f32)>) : i32 {
      %b = arith.shli %k, %c3 : i32
      %f = llvm.getelementptr %full[%b] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      nvvm.mbarrier.try_wait.parity %f, %c0, %ticks : !llvm.ptr<3>, i32, i32
      %oa = arith.shli %k, %c13 : i32
      %aa = arith.addi %si, %oa : i32
      %a1 = arith.andi %aa, %mask : i32
      %a2 = arith.shrui %a1, %c4 : i32
      %a3 = arith.extui %a2 : i32 to i64
      %da = arith.ori %a3, %layout : i64
      %ob = arith.shli %k, %c10 : i32
      %ba = arith.addi %sbi, %ob : i32
      %b1 = arith.andi %ba, %mask : i32
      %b2 = arith.shrui %b1, %c4 : i32
      %b3 = arith.extui %b2 : i32 to i64
      %db = arith.ori %b3, %layout : i64
      nvvm.wgmma.fence.aligned
      %p0 = nvvm.wgmma.mma_async %da, %db, %acc, <m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
      %da1 = arith.addi %da, %d2 : i64
      %db1 = arith.addi %db, %d2 : i64
      %p1 = nvvm.wgmma.mma_async %da1, %db1, %p0, <m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
      %da2 = arith.addi %da, %d4 : i64
      %db2 = arith.addi %db, %d4 : i64
      %p2 = nvvm.wgmma.mma_async %da2, %db2, %p1, <m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
      %da3 = arith.addi %da, %d6 : i64
      %db3 = arith.addi %db, %d6 : i64
      %p3 = nvvm.wgmma.mma_async %da3, %db3, %p2, <m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
      nvvm.wgmma.commit.group.sync.aligned
      nvvm.wgmma.wait.group.sync.aligned 1
      scf.yield %p3 : !llvm.struct<(f32, f32, f32, f32)>
    }
    nvvm.wgmma.wait.group.sync.aligned 0
    %v0 = llvm.extractvalue %sum[0] : !llvm.struct<(f32, f32, f32, f32)>
    %v1 = llvm.extractvalue %sum[1] : !llvm.struct<(f32, f32, f32, f32)>
    %v2 = llvm.extractvalue %sum[2] : !llvm.struct<(f32, f32, f32, f32)>
    %v3 = llvm.extractvalue %sum[3] : !llvm.struct<(f32, f32, f32, f32)>
    %tied = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,=f,=f,=f,0,1,2,3" %v0, %v1, %v2, %v3 : (f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %r0 = llvm.extractvalue %tied[0] : !llvm.struct<(f32, f32, f32, f32)>
    %r1 = llvm.extractvalue %tied[1] : !llvm.struct<(f32, f32, f32, f32)>
    %r2 = llvm.extractvalue %tied[2] : !llvm.struct<(f32, f32, f32, f32)>
    %r3 = llvm.extractvalue %tied[3] : !llvm.struct<(f32, f32, f32, f32)>
    %warp = arith.shrui %t, %c5 : i32
    %lane = arith.andi %t, %c31 : i32
    %warp16 = arith.shli %warp, %c4 : i32
    %lane4 = arith.shrui %lane, %c2 : i32
    %row = arith.addi %warp16, %lane4 : i32
    %row8 = arith.shli %row, %c5 : i32
    %quad = arith.andi %lane, %c3 : i32
    %pair = arith.shli %quad, %c3 : i32
    %to = arith.addi %row8, %pair : i32
    %y0 = llvm.getelementptr %y[%to] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %y1 = llvm.getelementptr %y0[4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %y2 = llvm.getelementptr %y0[256] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %y3 = llvm.getelementptr %y0[260] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    llvm.store %r0, %y0 {alignment = 4 : i64} : f32, !llvm.ptr<1>
    llvm.store %r1, %y1 {alignment = 4 : i64} : f32, !llvm.ptr<1>
    llvm.store %r2, %y2 {alignment = 4 : i64} : f32, !llvm.ptr<1>
    llvm.store %r3, %y3 {alignment = 4 : i64} : f32, !llvm.ptr<1>
    llvm.return
  }
}

// ----- no-wait-for-the-last-group
// reject race: wgmma wait
// why: the last group is not waited for: its accumulators are not there yet
// edit
    nvvm.wgmma.wait.group.sync.aligned 0
// to

// ----- waits-for-all-but-one
// reject race: wgmma wait
// why: one group may still be under way
// edit
    nvvm.wgmma.wait.group.sync.aligned 0
// to
    nvvm.wgmma.wait.group.sync.aligned 1

// ----- no-commit
// reject race: wgmma commit
// why: products in no group are not waited for
// edit
      nvvm.wgmma.commit.group.sync.aligned
// to

// ----- commit-before-the-last-product
// reject race: wgmma commit
// why: the last product of a step is in the next step's group, and the last of all in none
// edit
      nvvm.wgmma.commit.group.sync.aligned
// to
// edit
      %da3 = arith.addi %da, %d6 : i64
// to
      nvvm.wgmma.commit.group.sync.aligned
      %da3 = arith.addi %da, %d6 : i64

// ----- no-fence
// reject race: wgmma fence
// why: no fence before the first product
// edit
      nvvm.wgmma.fence.aligned
// to

// ----- fence-before-registers-are-written
// reject race: wgmma fence
// why: the one fence comes before the accumulators are scaled between the steps
// edit
      nvvm.wgmma.fence.aligned
// to
// edit
    %sum = scf.for %k = %c0 to %c2 step %c1 iter_args(%acc = %zeros) -> (!llvm.struct<(f32, f32, f32, f32)>) : i32 {
// to
    nvvm.wgmma.fence.aligned
    %sum = scf.for %k = %c0 to %c2 step %c1 iter_args(%acc = %zeros) -> (!llvm.struct<(f32, f32, f32, f32)>) : i32 {
// edit
      nvvm.wgmma.wait.group.sync.aligned 1
// to
      nvvm.wgmma.wait.group.sync.aligned 0
// edit
      scf.yield %p3 : !llvm.struct<(f32, f32, f32, f32)>
// to
      %q0 = llvm.extractvalue %p3[0] : !llvm.struct<(f32, f32, f32, f32)>
      %q1 = llvm.extractvalue %p3[1] : !llvm.struct<(f32, f32, f32, f32)>
      %q2 = llvm.extractvalue %p3[2] : !llvm.struct<(f32, f32, f32, f32)>
      %q3 = llvm.extractvalue %p3[3] : !llvm.struct<(f32, f32, f32, f32)>
      %unit = arith.constant 1.0 : f32
      %m0 = arith.mulf %q0, %unit : f32
      %m1 = arith.mulf %q1, %unit : f32
      %m2 = arith.mulf %q2, %unit : f32
      %m3 = arith.mulf %q3, %unit : f32
      %same = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,=f,=f,=f,0,1,2,3" %m0, %m1, %m2, %m3 : (f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
      scf.yield %same : !llvm.struct<(f32, f32, f32, f32)>

// ----- scaled-while-under-way
// reject race: wgmma wait
// why: the accumulators are scaled while the group that writes them is under way
// edit
      scf.yield %p3 : !llvm.struct<(f32, f32, f32, f32)>
// to
      %q0 = llvm.extractvalue %p3[0] : !llvm.struct<(f32, f32, f32, f32)>
      %q1 = llvm.extractvalue %p3[1] : !llvm.struct<(f32, f32, f32, f32)>
      %q2 = llvm.extractvalue %p3[2] : !llvm.struct<(f32, f32, f32, f32)>
      %q3 = llvm.extractvalue %p3[3] : !llvm.struct<(f32, f32, f32, f32)>
      %unit = arith.constant 1.0 : f32
      %m0 = arith.mulf %q0, %unit : f32
      %m1 = arith.mulf %q1, %unit : f32
      %m2 = arith.mulf %q2, %unit : f32
      %m3 = arith.mulf %q3, %unit : f32
      %same = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,=f,=f,=f,0,1,2,3" %m0, %m1, %m2, %m3 : (f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
      scf.yield %same : !llvm.struct<(f32, f32, f32, f32)>

// ----- accumulators-begin-anew
// reject numeric: accumulators dropped
// why: each step begins with zeros
// edit
      %p0 = nvvm.wgmma.mma_async %da, %db, %acc,
// to
      %p0 = nvvm.wgmma.mma_async %da, %db, %zeros,

// ----- accumulators-scaled-by-zero
// reject numeric: accumulators dropped
// why: the first product of each step forgets what was there
// edit
%db, %acc, <m = 64, n = 8, k = 16>, D[<f32>, <one>]
// to
%db, %acc, <m = 64, n = 8, k = 16>, D[<f32>, <zero>]

// ----- one-product-left-out
// reject numeric: accumulators dropped
// why: the third product's result is not what the fourth adds to
// edit
%da3, %db3, %p2,
// to
%da3, %db3, %p1,

// ----- descriptor-without-swizzle
// reject numeric: wrong swizzle
// why: the descriptors say that the operands lie as they are, the maps swizzle them
// edit
arith.constant 4611686293305360384 : i64
// to
arith.constant 274877972480 : i64

// ----- descriptor-of-64-bytes
// reject numeric: wrong swizzle
// why: the descriptors say 64-byte swizzle
// edit
arith.constant 4611686293305360384 : i64
// to
arith.constant 9223372311732748288 : i64

// ----- map-without-swizzle
// reject numeric: wrong swizzle
// why: the maps leave the operands as they are, the descriptors say that they are swizzled
// edit
  %wide = arith.constant 3 : i64
// to
  %wide = arith.constant 0 : i64

// ----- one-map-without-swizzle
// reject numeric: wrong swizzle
// why: one of the two operands is not swizzled
// edit
  func.call @map(%mw, %wp, %columns, %wide)
// to
  %plain = arith.constant 0 : i64
  func.call @map(%mw, %wp, %columns, %plain)

// ----- steps-of-24-elements
// reject numeric: wrong descriptor
// why: 16 elements are 32 bytes, not 48
// edit
    %d2 = arith.constant 2 : i64
// to
    %d2 = arith.constant 3 : i64

// ----- rows-of-the-wrong-stride
// reject numeric: wrong descriptor
// why: groups of eight rows lie 1024 bytes apart, not 512
// edit
arith.constant 4611686293305360384 : i64
// to
arith.constant 4611686155866406912 : i64

// ----- operand-taken-as-transposed
// reject numeric: wrong descriptor
// why: the columns are contiguous along K
// edit
%p0 = nvvm.wgmma.mma_async %da, %db, %acc, <m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>]
// to
%p0 = nvvm.wgmma.mma_async %da, %db, %acc, <m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <row>]

// ----- first-stage-twice
// reject numeric: wrong stage
// why: both steps read the first half of K
// edit
      %aa = arith.addi %si, %oa : i32
// to
      %aa = arith.addi %si, %c0 : i32

// ----- waits-for-the-first-stage-only
// reject race: wrong stage
// why: the second half may not have arrived
// edit
      nvvm.mbarrier.try_wait.parity %f, %c0, %ticks
// to
      nvvm.mbarrier.try_wait.parity %full, %c0, %ticks

// ----- does-not-wait
// reject race: stale TMA phase
// why: parity 1 is that of the phase before the first: over from the start
// edit
      nvvm.mbarrier.try_wait.parity %f, %c0, %ticks
// to
      nvvm.mbarrier.try_wait.parity %f, %c1, %ticks

// ----- expects-one-of-two-boxes
// reject race: transaction count
// why: the phase is over when one of the two boxes is there
// edit
    %expected = arith.constant 9216 : i32
// to
    %expected = arith.constant 8192 : i32

// ----- stored-without-proxy-fence
// reject race: proxy fence
// why: threads store one operand, which the tensor cores may not see without a proxy fence
// edit
        nvvm.cp.async.bulk.tensor.shared.cluster.global %qb, %mw, %f, box[%at, %c0] : !llvm.ptr<7>, !llvm.ptr
// to
// edit
    %expected = arith.constant 9216 : i32
// to
    %expected = arith.constant 8192 : i32
// edit
    nvvm.barrier
    %sum
// to
    %tr = arith.shrui %t, %c4 : i32
    %tc = arith.constant 15 : i32
    %tk = arith.andi %t, %tc : i32
    %tw = arith.shli %t, %c4 : i32
    %wa = llvm.getelementptr %w[%tw] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %wv = llvm.load %wa {alignment = 2 : i64} : !llvm.ptr<1> -> vector<8xf16>
    %half = arith.shrui %tk, %c3 : i32
    %chunk = arith.andi %tk, %c7 : i32
    %mixed = arith.xori %chunk, %tr : i32
    %m16 = arith.shli %mixed, %c4 : i32
    %r128 = arith.shli %tr, %c7 : i32
    %h1024 = arith.shli %half, %c10 : i32
    %wo = arith.addi %m16, %r128 : i32
    %wo2 = arith.addi %wo, %h1024 : i32
    %ws = llvm.getelementptr %sb[%wo2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.store %wv, %ws {alignment = 2 : i64} : vector<8xf16>, !llvm.ptr<3>
    nvvm.barrier
    %sum

// ----- wgmma-fence-for-proxy-fence
// reject race: proxy fence
// why: a fence of wgmma is one of registers: it does not show the tensor cores what threads stored
// edit
        nvvm.cp.async.bulk.tensor.shared.cluster.global %qb, %mw, %f, box[%at, %c0] : !llvm.ptr<7>, !llvm.ptr
// to
// edit
    %expected = arith.constant 9216 : i32
// to
    %expected = arith.constant 8192 : i32
// edit
    nvvm.barrier
    %sum
// to
    %tr = arith.shrui %t, %c4 : i32
    %tc = arith.constant 15 : i32
    %tk = arith.andi %t, %tc : i32
    %tw = arith.shli %t, %c4 : i32
    %wa = llvm.getelementptr %w[%tw] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %wv = llvm.load %wa {alignment = 2 : i64} : !llvm.ptr<1> -> vector<8xf16>
    %half = arith.shrui %tk, %c3 : i32
    %chunk = arith.andi %tk, %c7 : i32
    %mixed = arith.xori %chunk, %tr : i32
    %m16 = arith.shli %mixed, %c4 : i32
    %r128 = arith.shli %tr, %c7 : i32
    %h1024 = arith.shli %half, %c10 : i32
    %wo = arith.addi %m16, %r128 : i32
    %wo2 = arith.addi %wo, %h1024 : i32
    %ws = llvm.getelementptr %sb[%wo2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.store %wv, %ws {alignment = 2 : i64} : vector<8xf16>, !llvm.ptr<3>
    nvvm.wgmma.fence.aligned
    nvvm.barrier
    %sum

// ----- stored-with-the-wrong-swizzle
// reject numeric: wrong swizzle
// why: the pieces of 16 bytes are mixed by the wrong bits of the row
// edit
        nvvm.cp.async.bulk.tensor.shared.cluster.global %qb, %mw, %f, box[%at, %c0] : !llvm.ptr<7>, !llvm.ptr
// to
// edit
    %expected = arith.constant 9216 : i32
// to
    %expected = arith.constant 8192 : i32
// edit
    nvvm.barrier
    %sum
// to
    %tr = arith.shrui %t, %c4 : i32
    %tc = arith.constant 15 : i32
    %tk = arith.andi %t, %tc : i32
    %tw = arith.shli %t, %c4 : i32
    %wa = llvm.getelementptr %w[%tw] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %wv = llvm.load %wa {alignment = 2 : i64} : !llvm.ptr<1> -> vector<8xf16>
    %half = arith.shrui %tk, %c3 : i32
    %chunk = arith.andi %tk, %c7 : i32
    %mixed = arith.xori %chunk, %half : i32
    %m16 = arith.shli %mixed, %c4 : i32
    %r128 = arith.shli %tr, %c7 : i32
    %h1024 = arith.shli %half, %c10 : i32
    %wo = arith.addi %m16, %r128 : i32
    %wo2 = arith.addi %wo, %h1024 : i32
    %ws = llvm.getelementptr %sb[%wo2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.store %wv, %ws {alignment = 2 : i64} : vector<8xf16>, !llvm.ptr<3>
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier
    %sum

// ----- ok-stored-by-threads
// accept: odd operand
// why: threads store one operand, swizzled by hand, with a proxy fence before the barrier
// edit
        nvvm.cp.async.bulk.tensor.shared.cluster.global %qb, %mw, %f, box[%at, %c0] : !llvm.ptr<7>, !llvm.ptr
// to
// edit
    %expected = arith.constant 9216 : i32
// to
    %expected = arith.constant 8192 : i32
// edit
    nvvm.barrier
    %sum
// to
    %tr = arith.shrui %t, %c4 : i32
    %tc = arith.constant 15 : i32
    %tk = arith.andi %t, %tc : i32
    %tw = arith.shli %t, %c4 : i32
    %wa = llvm.getelementptr %w[%tw] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %wv = llvm.load %wa {alignment = 2 : i64} : !llvm.ptr<1> -> vector<8xf16>
    %half = arith.shrui %tk, %c3 : i32
    %chunk = arith.andi %tk, %c7 : i32
    %mixed = arith.xori %chunk, %tr : i32
    %m16 = arith.shli %mixed, %c4 : i32
    %r128 = arith.shli %tr, %c7 : i32
    %h1024 = arith.shli %half, %c10 : i32
    %wo = arith.addi %m16, %r128 : i32
    %wo2 = arith.addi %wo, %h1024 : i32
    %ws = llvm.getelementptr %sb[%wo2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.store %wv, %ws {alignment = 2 : i64} : vector<8xf16>, !llvm.ptr<3>
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier
    %sum

// ----- ok-fence-after-the-barrier
// accept: odd fence
// why: each thread fences after the barrier: that lies between the stores and the products too
// edit
        nvvm.cp.async.bulk.tensor.shared.cluster.global %qb, %mw, %f, box[%at, %c0] : !llvm.ptr<7>, !llvm.ptr
// to
// edit
    %expected = arith.constant 9216 : i32
// to
    %expected = arith.constant 8192 : i32
// edit
    nvvm.barrier
    %sum
// to
    %tr = arith.shrui %t, %c4 : i32
    %tc = arith.constant 15 : i32
    %tk = arith.andi %t, %tc : i32
    %tw = arith.shli %t, %c4 : i32
    %wa = llvm.getelementptr %w[%tw] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %wv = llvm.load %wa {alignment = 2 : i64} : !llvm.ptr<1> -> vector<8xf16>
    %half = arith.shrui %tk, %c3 : i32
    %chunk = arith.andi %tk, %c7 : i32
    %mixed = arith.xori %chunk, %tr : i32
    %m16 = arith.shli %mixed, %c4 : i32
    %r128 = arith.shli %tr, %c7 : i32
    %h1024 = arith.shli %half, %c10 : i32
    %wo = arith.addi %m16, %r128 : i32
    %wo2 = arith.addi %wo, %h1024 : i32
    %ws = llvm.getelementptr %sb[%wo2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.store %wv, %ws {alignment = 2 : i64} : vector<8xf16>, !llvm.ptr<3>
    nvvm.barrier
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    %sum

// ----- ok-waits-in-each-step
// accept: odd wait
// why: every step waits for its own products
// edit
      nvvm.wgmma.wait.group.sync.aligned 1
// to
      nvvm.wgmma.wait.group.sync.aligned 0

// ----- ok-one-fence
// accept: odd fence
// why: only products touch the accumulators between the steps: one fence before them is enough
// edit
      nvvm.wgmma.fence.aligned
// to
// edit
    %sum = scf.for %k = %c0 to %c2 step %c1 iter_args(%acc = %zeros) -> (!llvm.struct<(f32, f32, f32, f32)>) : i32 {
// to
    nvvm.wgmma.fence.aligned
    %sum = scf.for %k = %c0 to %c2 step %c1 iter_args(%acc = %zeros) -> (!llvm.struct<(f32, f32, f32, f32)>) : i32 {

// ----- ok-backwards
// accept: odd order
// why: the quarters of a step from the last to the first
// edit
    %d2 = arith.constant 2 : i64
// to
    %d2 = arith.constant 4 : i64
// edit
    %d4 = arith.constant 4 : i64
// to
    %d4 = arith.constant 2 : i64

// ----- ok-scaled-between-steps
// accept: odd registers
// why: the accumulators are multiplied by one between the steps: waited for before, fenced after
// edit
      nvvm.wgmma.wait.group.sync.aligned 1
// to
      nvvm.wgmma.wait.group.sync.aligned 0
// edit
      scf.yield %p3 : !llvm.struct<(f32, f32, f32, f32)>
// to
      %q0 = llvm.extractvalue %p3[0] : !llvm.struct<(f32, f32, f32, f32)>
      %q1 = llvm.extractvalue %p3[1] : !llvm.struct<(f32, f32, f32, f32)>
      %q2 = llvm.extractvalue %p3[2] : !llvm.struct<(f32, f32, f32, f32)>
      %q3 = llvm.extractvalue %p3[3] : !llvm.struct<(f32, f32, f32, f32)>
      %unit = arith.constant 1.0 : f32
      %m0 = arith.mulf %q0, %unit : f32
      %m1 = arith.mulf %q1, %unit : f32
      %m2 = arith.mulf %q2, %unit : f32
      %m3 = arith.mulf %q3, %unit : f32
      %same = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,=f,=f,=f,0,1,2,3" %m0, %m1, %m2, %m3 : (f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
      scf.yield %same : !llvm.struct<(f32, f32, f32, f32)>

// ----- ok-both-stages-on-one-mbarrier
// accept: odd count
// why: all four boxes complete one phase of one mbarrier
// edit
        %state = nvvm.mbarrier.arrive.expect_tx %f, %expected
// to
        %ff = arith.cmpi eq, %k, %c0 : i32
        scf.if %ff {
          %state = nvvm.mbarrier.arrive.expect_tx %full, %expected
// edit
 : !llvm.ptr<3>, i32 -> i64
        %at
// to
 : !llvm.ptr<3>, i32 -> i64
        }
        %at
// edit
%qa, %mx, %f, box
// to
%qa, %mx, %full, box
// edit
%qb, %mw, %f, box
// to
%qb, %mw, %full, box
// edit
    %expected = arith.constant 9216 : i32
// to
    %expected = arith.constant 18432 : i32
// edit
      nvvm.mbarrier.try_wait.parity %f, %c0, %ticks
// to
      nvvm.mbarrier.try_wait.parity %full, %c0, %ticks

// ----- ok-registers-as-they-are
// accept: odd registers
// why: the registers are read after the wait, with no assembly that ties them to it
// edit
    %tied = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,=f,=f,=f,0,1,2,3" %v0, %v1, %v2, %v3 : (f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %r0 = llvm.extractvalue %tied[0] : !llvm.struct<(f32, f32, f32, f32)>
    %r1 = llvm.extractvalue %tied[1] : !llvm.struct<(f32, f32, f32, f32)>
    %r2 = llvm.extractvalue %tied[2] : !llvm.struct<(f32, f32, f32, f32)>
    %r3 = llvm.extractvalue %tied[3] : !llvm.struct<(f32, f32, f32, f32)>
// to
    %unit = arith.constant 1.0 : f32
    %r0 = arith.mulf %v0, %unit : f32
    %r1 = arith.mulf %v1, %unit : f32
    %r2 = arith.mulf %v2, %unit : f32
    %r3 = arith.mulf %v3, %unit : f32
