// A 32 x 32 tile transposed: a tensor map copies it in with the 128-byte swizzle, and threads read it by columns.
func.func @main(%x: memref<32x32xf32>, %y: memref<32x32xf32> {kc.out}) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1 : i64
  %type = arith.constant 7 : i64
  %rank = arith.constant 2 : i64
  %none = arith.constant 0 : i64
  %swizzle = arith.constant 3 : i64
  %side = arith.constant 32 : i64
  %pitch = arith.constant 128 : i64
  %edge = arith.constant 32 : i32
  %bytes = arith.constant 4104 : i32
  %mx = llvm.alloca %one x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
  %xi = memref.extract_aligned_pointer_as_index %x : memref<32x32xf32> -> index
  %yi = memref.extract_aligned_pointer_as_index %y : memref<32x32xf32> -> index
  %xj = arith.index_cast %xi : index to i64
  %yj = arith.index_cast %yi : index to i64
  %xp = llvm.inttoptr %xj : i64 to !llvm.ptr
  %yp = llvm.inttoptr %yj : i64 to !llvm.ptr
  %dims = llvm.alloca %one x !llvm.array<2 x i64> {alignment = 8 : i64} : (i64) -> !llvm.ptr
  %dims1 = llvm.getelementptr %dims[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %side, %dims {alignment = 8 : i64} : i64, !llvm.ptr
  llvm.store %side, %dims1 {alignment = 8 : i64} : i64, !llvm.ptr
  %steps = llvm.alloca %one x !llvm.array<1 x i64> {alignment = 8 : i64} : (i64) -> !llvm.ptr
  llvm.store %pitch, %steps {alignment = 8 : i64} : i64, !llvm.ptr
  %box = llvm.alloca %one x !llvm.array<2 x i32> {alignment = 8 : i64} : (i64) -> !llvm.ptr
  %box1 = llvm.getelementptr %box[4] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %edge, %box {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.store %edge, %box1 {alignment = 4 : i64} : i32, !llvm.ptr
  func.call @kc_gpu_tensor_map_encode(%mx, %type, %rank, %xp, %dims, %steps, %box, %swizzle, %none) : (!llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
  gpu.launch_func @device::@turn blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) dynamic_shared_memory_size %bytes args(%mx : !llvm.ptr, %xp : !llvm.ptr, %yp : !llvm.ptr)
  return
}
func.func private @kc_gpu_tensor_map_encode(!llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64)
gpu.module @device {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @turn(%mx: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c7 = arith.constant 7 : i32
    %c32 = arith.constant 32 : i32
    %expected = arith.constant 4096 : i32
    %ticks = arith.constant 10000000 : i32
    %s = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %full = llvm.getelementptr %s[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %first = arith.cmpi eq, %t, %c0 : i32
    scf.if %first {
      nvvm.mbarrier.init %full, %c1 : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
      %state = nvvm.mbarrier.arrive.expect_tx %full, %expected : !llvm.ptr<3>, i32 -> i64
      %q = llvm.addrspacecast %s : !llvm.ptr<3> to !llvm.ptr<7>
      nvvm.cp.async.bulk.tensor.shared.cluster.global %q, %mx, %full, box[%c0, %c0] : !llvm.ptr<7>, !llvm.ptr
    }
    nvvm.barrier
    nvvm.mbarrier.try_wait.parity %full, %c0, %ticks : !llvm.ptr<3>, i32, i32
    scf.for %i = %c0 to %c32 step %c1 : i32 {
      %chunk = arith.shrui %i, %c2 : i32
      %row7 = arith.andi %t, %c7 : i32
      %mixed = arith.xori %chunk, %row7 : i32
      %mixed16 = arith.shli %mixed, %c4 : i32
      %word = arith.andi %i, %c3 : i32
      %word4 = arith.shli %word, %c2 : i32
      %row128 = arith.shli %t, %c7 : i32
      %o1 = arith.addi %mixed16, %word4 : i32
      %o2 = arith.addi %o1, %row128 : i32
      %p = llvm.getelementptr %s[%o2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr<3> -> f32
      %i128 = arith.shli %i, %c7 : i32
      %t4 = arith.shli %t, %c2 : i32
      %to = arith.addi %i128, %t4 : i32
      %r = llvm.getelementptr %y[%to] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
      llvm.store %v, %r {alignment = 4 : i64} : f32, !llvm.ptr<1>
    }
    llvm.return
  }
}

// ----- map-without-swizzle
// reject numeric: wrong swizzle
// why: the tile lies as it is, and is read as if it were swizzled
// edit
  %swizzle = arith.constant 3 : i64
// to
  %swizzle = arith.constant 0 : i64

// ----- read-without-swizzle
// reject numeric: wrong swizzle
// why: the tile is read as if it lay as it is
// edit
      %mixed = arith.xori %chunk, %row7 : i32
// to
      %mixed = arith.xori %chunk, %c0 : i32

// ----- pattern-of-four-rows
// reject numeric: wrong swizzle
// why: the pattern repeats every eight rows, not every four
// edit
      %row7 = arith.andi %t, %c7 : i32
// to
      %row7 = arith.andi %t, %c3 : i32

// ----- narrow-swizzle
// reject resource: tensor map
// why: boxes of 128 bytes are wider than the 64-byte swizzle: the driver refuses the map
// edit
  %swizzle = arith.constant 3 : i64
// to
  %swizzle = arith.constant 2 : i64

// ----- pitch-of-124-bytes
// reject resource: tensor map
// why: pitches are multiples of 16 bytes
// edit
  %pitch = arith.constant 128 : i64
// to
  %pitch = arith.constant 124 : i64

// ----- box-from-the-second-row
// reject numeric: wrong coordinates
// why: a box that begins in the second row
// edit
%q, %mx, %full, box[%c0, %c0]
// to
%q, %mx, %full, box[%c0, %c1]

// ----- begins-64-bytes-further-on
// reject aliasing: misaligned box
// why: boxes begin at multiples of 128 bytes
// edit
      %q = llvm.addrspacecast %s : !llvm.ptr<3> to !llvm.ptr<7>
// to
      %s64 = llvm.getelementptr %s[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %q = llvm.addrspacecast %s64 : !llvm.ptr<3> to !llvm.ptr<7>
// edit
    %full = llvm.getelementptr %s[4096]
// to
    %full = llvm.getelementptr %s[4160]
// edit
  %bytes = arith.constant 4104 : i32
// to
  %bytes = arith.constant 4168 : i32
// edit
      %p = llvm.getelementptr %s[%o2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
// to
      %sp = llvm.getelementptr %s[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %p = llvm.getelementptr %sp[%o2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8

// ----- copied-over-the-mbarrier
// reject race: overlapping buffers
// why: the tile and the mbarrier overlap
// edit
    %full = llvm.getelementptr %s[4096]
// to
    %full = llvm.getelementptr %s[4088]

// ----- count-of-two
// reject resource: barrier that never completes
// why: the phase waits for a second arrival
// edit
      nvvm.mbarrier.init %full, %c1
// to
      nvvm.mbarrier.init %full, %c2

// ----- barrier-instead-of-the-phase
// reject race: stale TMA phase
// why: a barrier of the block does not wait for copies
// edit
    nvvm.mbarrier.try_wait.parity %full, %c0, %ticks : !llvm.ptr<3>, i32, i32
// to
    nvvm.barrier

// ----- one-lane-waits
// reject race: stale TMA phase
// why: the lanes that do not wait may look too early
// edit
    nvvm.mbarrier.try_wait.parity %full, %c0, %ticks : !llvm.ptr<3>, i32, i32
// to
    scf.if %first {
      nvvm.mbarrier.try_wait.parity %full, %c0, %ticks : !llvm.ptr<3>, i32, i32
    }

// ----- ok-one-lane-waits-for-all
// accept: odd wait
// why: one lane waits, and a barrier passes it on
// edit
    nvvm.mbarrier.try_wait.parity %full, %c0, %ticks : !llvm.ptr<3>, i32, i32
// to
    scf.if %first {
      nvvm.mbarrier.try_wait.parity %full, %c0, %ticks : !llvm.ptr<3>, i32, i32
    }
    nvvm.barrier

// ----- ok-no-swizzle-at-all
// accept: odd layout
// why: no swizzle, neither in the map nor where it is read
// edit
  %swizzle = arith.constant 3 : i64
// to
  %swizzle = arith.constant 0 : i64
// edit
      %mixed = arith.xori %chunk, %row7 : i32
// to
      %mixed = arith.xori %chunk, %c0 : i32

// ----- ok-plain-bulk-copy
// accept: odd copy
// why: the tile lies in one piece: a copy without a map will do
// edit
      nvvm.cp.async.bulk.tensor.shared.cluster.global %q, %mx, %full, box[%c0, %c0] : !llvm.ptr<7>, !llvm.ptr
// to
      nvvm.cp.async.bulk.shared.cluster.global %q, %x, %full, %expected : !llvm.ptr<7>, !llvm.ptr<1>
// edit
      %mixed = arith.xori %chunk, %row7 : i32
// to
      %mixed = arith.xori %chunk, %c0 : i32
