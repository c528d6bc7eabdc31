// Thirty rows of 32 numbers doubled: a warp copies boxes of eight rows in and another one out, in a ring of two stages.
func.func @main(%x: memref<30x32xf32>, %y: memref<30x32xf32> {kc.out}) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i64
  %bytes = arith.constant 4096 : i32
  %mx = llvm.alloca %one x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
  %my = llvm.alloca %one x !llvm.array<128 x i8> {alignment = 64 : i64} : (i64) -> !llvm.ptr
  func.call @map(%mx, %x) : (!llvm.ptr, memref<30x32xf32>) -> ()
  func.call @map(%my, %y) : (!llvm.ptr, memref<30x32xf32>) -> ()
  gpu.launch_func @device::@rows blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) dynamic_shared_memory_size %bytes args(%mx : !llvm.ptr, %my : !llvm.ptr)
  return
}
func.func private @map(%out: !llvm.ptr, %m: memref<30x32xf32>) {
  %one = arith.constant 1 : i64
  %type = arith.constant 7 : i64
  %rank = arith.constant 2 : i64
  %none = arith.constant 0 : i64
  %columns = arith.constant 32 : i64
  %rows = arith.constant 30 : i64
  %pitch = arith.constant 128 : i64
  %boxc = arith.constant 32 : i32
  %boxr = arith.constant 8 : i32
  %i = memref.extract_aligned_pointer_as_index %m : memref<30x32xf32> -> index
  %a = arith.index_cast %i : index to i64
  %base = llvm.inttoptr %a : i64 to !llvm.ptr
  %dims = llvm.alloca %one x !llvm.array<2 x i64> {alignment = 8 : i64} : (i64) -> !llvm.ptr
  %dims1 = llvm.getelementptr %dims[8] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %columns, %dims {alignment = 8 : i64} : i64, !llvm.ptr
  llvm.store %rows, %dims1 {alignment = 8 : i64} : i64, !llvm.ptr
  %steps = llvm.alloca %one x !llvm.array<1 x i64> {alignment = 8 : i64} : (i64) -> !llvm.ptr
  llvm.store %pitch, %steps {alignment = 8 : i64} : i64, !llvm.ptr
  %box = llvm.alloca %one x !llvm.array<2 x i32> {alignment = 8 : i64} : (i64) -> !llvm.ptr
  %box1 = llvm.getelementptr %box[4] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %boxc, %box {alignment = 4 : i64} : i32, !llvm.ptr
  llvm.store %boxr, %box1 {alignment = 4 : i64} : i32, !llvm.ptr
  func.call @kc_gpu_tensor_map_encode(%out, %type, %rank, %base, %dims, %steps, %box, %none, %none) : (!llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
  return
}
func.func private @kc_gpu_tensor_map_encode(!llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64)
gpu.module @device {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  llvm.func @rows(%mx: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %my: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}) attributes {gpu.kernel, nvvm.kernel} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c7 = arith.constant 7 : i32
    %c8 = arith.constant 8 : i32
    %c10 = arith.constant 10 : i32
    %c31 = arith.constant 31 : i32
    %c32 = arith.constant 32 : i32
    %expected = arith.constant 1024 : i32
    %ticks = arith.constant 10000000 : i32
    %all = arith.constant -1 : i32
    %s = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %out = llvm.getelementptr %s[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %full = llvm.getelementptr %s[3072] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %full1 = llvm.getelementptr %s[3080] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %empty = llvm.getelementptr %s[3088] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %empty1 = llvm.getelementptr %s[3096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %lane = arith.andi %t, %c31 : i32
    %leads = arith.cmpi eq, %lane, %c0 : i32
    %first = arith.cmpi eq, %t, %c0 : i32
    scf.if %first {
      nvvm.mbarrier.init %full, %c1 : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %full1, %c1 : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty, %c32 : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty1, %c32 : !llvm.ptr<3>, i32
      nvvm.fence.mbarrier.init
    }
    nvvm.barrier
    %produces = arith.cmpi ult, %t, %c32 : i32
    scf.if %produces {
      scf.if %leads {
        scf.for %r = %c0 to %c4 step %c1 : i32 {
          %stage = arith.andi %r, %c1 : i32
          %round = arith.shrui %r, %c1 : i32
          %parity = arith.xori %round, %c1 : i32
          %b = arith.shli %stage, %c3 : i32
          %f = llvm.getelementptr %full[%b] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
          %e = llvm.getelementptr %empty[%b] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
          nvvm.mbarrier.try_wait.parity %e, %parity, %ticks : !llvm.ptr<3>, i32, i32
          %state = nvvm.mbarrier.arrive.expect_tx %f, %expected : !llvm.ptr<3>, i32 -> i64
          %o = arith.shli %stage, %c10 : i32
          %p = llvm.getelementptr %s[%o] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
          %q = llvm.addrspacecast %p : !llvm.ptr<3> to !llvm.ptr<7>
          %row = arith.shli %r, %c3 : i32
          nvvm.cp.async.bulk.tensor.shared.cluster.global %q, %mx, %f, box[%c0, %row] : !llvm.ptr<7>, !llvm.ptr
        }
      }
    } else {
      scf.for %r = %c0 to %c4 step %c1 : i32 {
        %stage = arith.andi %r, %c1 : i32
        %parity = arith.shrui %r, %c1 : i32
        %b = arith.shli %stage, %c3 : i32
        %f = llvm.getelementptr %full[%b] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
        %e = llvm.getelementptr %empty[%b] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
        scf.if %leads {
          nvvm.cp.async.bulk.wait_group 0 {read}
        }
        nvvm.bar.warp.sync %all : i32
        nvvm.mbarrier.try_wait.parity %f, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %o = arith.shli %stage, %c10 : i32
        scf.for %i = %c0 to %c8 step %c1 : i32 {
          %i7 = arith.shli %i, %c7 : i32
          %l4 = arith.shli %lane, %c2 : i32
          %at = arith.addi %i7, %l4 : i32
          %from = arith.addi %at, %o : i32
          %p = llvm.getelementptr %s[%from] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
          %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr<3> -> f32
          %w = arith.addf %v, %v : f32
          %q = llvm.getelementptr %out[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
          llvm.store %w, %q {alignment = 4 : i64} : f32, !llvm.ptr<3>
        }
        %a = nvvm.mbarrier.arrive %e : !llvm.ptr<3> -> i64
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %row = arith.shli %r, %c3 : i32
          nvvm.cp.async.bulk.tensor.global.shared.cta %my, %out, box[%c0, %row] : !llvm.ptr, !llvm.ptr<3>
          nvvm.cp.async.bulk.commit.group
        }
      }
      scf.if %leads {
        nvvm.cp.async.bulk.wait_group 0
      }
    }
    llvm.return
  }
}

// ----- stale-phase-second-round
// reject race: stale TMA phase
// why: the reader waits for parity 0 in both rounds of a stage: the second wait is over before the copy
// edit
        %parity = arith.shrui %r, %c1 : i32
// to
        %parity = arith.andi %c2, %c1 : i32

// ----- producer-does-not-wait
// reject race: ring re-use
// why: the producer looks for the phase before: it fills a stage again while it is read
// edit
          %parity = arith.xori %round, %c1 : i32
// to
          %parity = arith.ori %c1, %c1 : i32

// ----- released-before-the-last-read
// reject race: ring re-use
// why: the stage is handed back before its rows are read
// edit
        nvvm.mbarrier.try_wait.parity %f, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %o = arith.shli %stage, %c10 : i32
// to
        nvvm.mbarrier.try_wait.parity %f, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %a0 = nvvm.mbarrier.arrive %e : !llvm.ptr<3> -> i64
        %o = arith.shli %stage, %c10 : i32
// edit
        %a = nvvm.mbarrier.arrive %e : !llvm.ptr<3> -> i64
        nvvm.fence.proxy
// to
        nvvm.fence.proxy

// ----- one-lane-releases-for-all
// reject race: ring re-use
// why: a count of 1, and lane 0 arrives when it has read its own column: the other lanes may still read
// edit
      nvvm.mbarrier.init %empty, %c32 : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty1, %c32 : !llvm.ptr<3>, i32
// to
      nvvm.mbarrier.init %empty, %c1 : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty1, %c1 : !llvm.ptr<3>, i32
// edit
        %a = nvvm.mbarrier.arrive %e : !llvm.ptr<3> -> i64
// to
        scf.if %leads {
          %a = nvvm.mbarrier.arrive %e : !llvm.ptr<3> -> i64
        }

// ----- expects-too-few-bytes
// reject race: transaction count
// why: half of the box completes the phase
// edit
    %expected = arith.constant 1024 : i32
// to
    %expected = arith.constant 512 : i32

// ----- expects-too-many-bytes
// reject resource: transaction count
// why: the phase waits for 16 bytes that nobody sends
// edit
    %expected = arith.constant 1024 : i32
// to
    %expected = arith.constant 1040 : i32

// ----- expects-rows-of-the-tensor-only
// reject race: transaction count
// why: a box counts whole, also where it reaches beyond the tensor: the last one has 1024 bytes too
// edit
          %state = nvvm.mbarrier.arrive.expect_tx %f, %expected : !llvm.ptr<3>, i32 -> i64
// to
          %last = arith.cmpi eq, %r, %c3 : i32
          %fewer = arith.constant 768 : i32
          %these = arith.select %last, %fewer, %expected : i32
          %state = nvvm.mbarrier.arrive.expect_tx %f, %these : !llvm.ptr<3>, i32 -> i64

// ----- no-fence-after-init
// reject race: mbarrier init fence
// why: the copies may not see that the mbarriers are initialised
// edit
      nvvm.fence.mbarrier.init
// to

// ----- no-proxy-fence-before-store
// reject race: proxy fence
// why: the copy out may not see what the threads stored
// edit
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// to

// ----- fence-of-the-other-space
// reject race: proxy fence
// why: the fence is of global memory, the stores were to shared memory
// edit
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// to
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}

// ----- fence-before-the-writes
// reject race: proxy fence
// why: the fence comes before the stores that it is for
// edit
        %a = nvvm.mbarrier.arrive %e : !llvm.ptr<3> -> i64
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// to
        %a = nvvm.mbarrier.arrive %e : !llvm.ptr<3> -> i64
// edit
        %o = arith.shli %stage, %c10 : i32
        scf.for
// to
        %o = arith.shli %stage, %c10 : i32
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        scf.for

// ----- fence-without-barrier
// reject race: missing barrier
// why: lane 0 starts the copy out when its own column is stored: the others may not be
// edit
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %row
// to
        scf.if %leads {
          %row

// ----- no-wait-before-the-buffer-is-used-again
// reject race: store wait
// why: the next rows are stored while the copy out may still read the last ones
// edit
          nvvm.cp.async.bulk.wait_group 0 {read}
// to
          nvvm.cp.async.bulk.wait_group 1 {read}

// ----- every-lane-waits-for-its-own-copies
// reject race: store wait
// why: the other lanes have no copies to wait for, and go on before lane 0 has waited
// edit
        scf.if %leads {
          nvvm.cp.async.bulk.wait_group 0 {read}
        }
        nvvm.bar.warp.sync %all : i32
        nvvm.mbarrier
// to
        nvvm.cp.async.bulk.wait_group 0 {read}
        nvvm.mbarrier

// ----- no-commit
// reject race: store wait
// why: copies that are in no group are not waited for
// edit
          nvvm.cp.async.bulk.commit.group
// to

// ----- block-ends-before-its-copy
// reject race: store wait
// why: the block's shared memory may be another's before the last copy out has read it
// edit
        nvvm.cp.async.bulk.wait_group 0
      }
    }
    llvm.return
// to
      }
    }
    llvm.return

// ----- waits-on-the-other-stage
// reject race: wrong stage
// why: the reader waits for the stage that it does not read
// edit
        nvvm.mbarrier.try_wait.parity %f, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %o = arith.shli %stage, %c10 : i32
// to
        %other = arith.xori %b, %c8 : i32
        %f2 = llvm.getelementptr %full[%other] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
        nvvm.mbarrier.try_wait.parity %f2, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %o = arith.shli %stage, %c10 : i32

// ----- all-lanes-issue
// reject race: single thread forgotten
// why: 32 lanes arrive and copy where one should
// edit
      scf.if %leads {
        scf.for %r = %c0 to %c4 step %c1 : i32 {
          %stage
// to
      scf.if %produces {
        scf.for %r = %c0 to %c4 step %c1 : i32 {
          %stage

// ----- tail-by-plain-copy
// reject aliasing: out-of-bounds tail
// why: a plain copy knows nothing of the tensor's end: the last one writes two rows too many
// edit
        scf.if %leads {
          %row = arith.shli %r, %c3 : i32
          nvvm.cp.async.bulk.tensor.global.shared.cta %my, %out, box[%c0, %row] : !llvm.ptr, !llvm.ptr<3>
// to
        scf.if %leads {
          %wide = arith.extui %r : i32 to i64
          %ten = arith.constant 10 : i64
          %far = arith.shli %wide, %ten : i64
          %to = llvm.getelementptr %ya[%far] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
          nvvm.cp.async.bulk.global.shared.cta %to, %out, %expected : !llvm.ptr<1>, !llvm.ptr<3>
// edit
  llvm.func @rows(
// to
  llvm.func @rows(%ya: !llvm.ptr<1>, 
// edit
args(%mx : !llvm.ptr, %my : !llvm.ptr)
// to
args(%yp : !llvm.ptr, %mx : !llvm.ptr, %my : !llvm.ptr)
// edit
  func.call @map(%mx, %x)
// to
  %yi = memref.extract_aligned_pointer_as_index %y : memref<30x32xf32> -> index
  %yj = arith.index_cast %yi : index to i64
  %yp = llvm.inttoptr %yj : i64 to !llvm.ptr
  func.call @map(%mx, %x)

// ----- map-with-too-many-rows
// reject aliasing: out-of-bounds tail
// why: the map says 32 rows, so that nothing is clipped
// edit
  %rows = arith.constant 30 : i64
// to
  %rows = arith.constant 32 : i64

// ----- ok-expects-after-the-copy
// accept: odd order
// why: the bytes are expected after the copy was issued: the arrival that goes with it keeps the phase open
// edit
          %state = nvvm.mbarrier.arrive.expect_tx %f, %expected : !llvm.ptr<3>, i32 -> i64
          %o
// to
          %o
// edit
          nvvm.cp.async.bulk.tensor.shared.cluster.global %q, %mx, %f, box[%c0, %row] : !llvm.ptr<7>, !llvm.ptr
// to
          nvvm.cp.async.bulk.tensor.shared.cluster.global %q, %mx, %f, box[%c0, %row] : !llvm.ptr<7>, !llvm.ptr
          %state = nvvm.mbarrier.arrive.expect_tx %f, %expected : !llvm.ptr<3>, i32 -> i64

// ----- ok-two-boxes-one-count
// accept: odd count
// why: the two halves are expected apart, one before and one with the arrival, and copied by one box
// edit
          %state = nvvm.mbarrier.arrive.expect_tx %f, %expected : !llvm.ptr<3>, i32 -> i64
// to
          %half = arith.constant 512 : i32
          nvvm.mbarrier.expect_tx %f, %half : !llvm.ptr<3>, i32
          %state = nvvm.mbarrier.arrive.expect_tx %f, %half : !llvm.ptr<3>, i32 -> i64

// ----- ok-one-lane-releases-after-a-barrier
// accept: odd release
// why: lane 0 arrives for the warp, after a barrier of the warp
// edit
      nvvm.mbarrier.init %empty, %c32 : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty1, %c32 : !llvm.ptr<3>, i32
// to
      nvvm.mbarrier.init %empty, %c1 : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty1, %c1 : !llvm.ptr<3>, i32
// edit
        %a = nvvm.mbarrier.arrive %e : !llvm.ptr<3> -> i64
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
// to
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          %a = nvvm.mbarrier.arrive %e : !llvm.ptr<3> -> i64

// ----- ok-proxy-fence-instead-of-init-fence
// accept: odd fence
// why: a fence of the asynchronous proxy makes the mbarriers visible to the copies as well
// edit
      nvvm.fence.mbarrier.init
// to
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}

// ----- ok-reversed-rounds
// accept: odd order
// why: the boxes are taken from the last to the first; beyond the tensor they hold zeros, which nobody stores
// edit
          %row = arith.shli %r, %c3 : i32
          nvvm.cp.async.bulk.tensor.shared.cluster.global
// to
          %mirror = arith.subi %c3, %r : i32
          %row = arith.shli %mirror, %c3 : i32
          nvvm.cp.async.bulk.tensor.shared.cluster.global
// edit
          %row = arith.shli %r, %c3 : i32
          nvvm.cp.async.bulk.tensor.global.shared.cta
// to
          %mirror = arith.subi %c3, %r : i32
          %row = arith.shli %mirror, %c3 : i32
          nvvm.cp.async.bulk.tensor.global.shared.cta

// ----- ok-fence-by-the-issuer
// accept: odd fence
// why: the lane that starts the copy out fences after the barrier: that lies between the stores and the copy too
// edit
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
// to
        nvvm.bar.warp.sync %all : i32
        scf.if %leads {
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}

// ----- fence-by-another-lane
// reject race: proxy fence
// why: only the stores of the lane that fences, before the barrier, are shown to the copy
// edit
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// to
        scf.if %leads {
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        }
