// Four rows of 32 integers, doubled and exchanged in pairs: blocks in clusters of two read each other's shared memory.
func.func @main(%x: memref<4x32xi32>, %y: memref<4x32xi32> {kc.out}) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %bytes = arith.constant 128 : i32
  %xi = memref.extract_aligned_pointer_as_index %x : memref<4x32xi32> -> index
  %yi = memref.extract_aligned_pointer_as_index %y : memref<4x32xi32> -> index
  %xj = arith.index_cast %xi : index to i64
  %yj = arith.index_cast %yi : index to i64
  %xp = llvm.inttoptr %xj : i64 to !llvm.ptr
  %yp = llvm.inttoptr %yj : i64 to !llvm.ptr
  gpu.launch_func @device::@exchange blocks in (%c4, %c1, %c1) threads in (%c32, %c1, %c1) dynamic_shared_memory_size %bytes args(%xp : !llvm.ptr, %yp : !llvm.ptr)
  return
}
gpu.module @device {
  llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  llvm.func @exchange(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel, nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c7 = arith.constant 7 : i32
    %s = llvm.mlir.addressof @shared : !llvm.ptr<3>
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %t4 = arith.shli %t, %c2 : i32
    %b128 = arith.shli %b, %c7 : i32
    %at = arith.addi %t4, %b128 : i32
    %xa = llvm.getelementptr %x[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %ya = llvm.getelementptr %y[%at] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
    %own = llvm.getelementptr %s[%t4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v = llvm.load %xa {alignment = 4 : i64} : !llvm.ptr<1> -> i32
    %w = arith.addi %v, %v : i32
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
    %other = arith.xori %rank, %c1 : i32
    %theirs = nvvm.mapa %own, %other : !llvm.ptr<3> -> !llvm.ptr<7>
    %u = llvm.load %theirs {alignment = 4 : i64} : !llvm.ptr<7> -> i32
    llvm.store %u, %ya {alignment = 4 : i64} : i32, !llvm.ptr<1>
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
    llvm.return
  }
}

// ----- no-barrier-before-reading
// reject race: cluster barrier
// why: the other block's row may not be there, nor the block have begun
// edit
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
// to
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>

// ----- barrier-of-the-block-only
// reject race: cluster barrier
// why: a barrier of the block says nothing of the other one
// edit
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
// to
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
    nvvm.barrier

// ----- relaxed-arrival
// reject race: cluster barrier
// why: a relaxed arrival passes nothing on of what was stored before it
// edit
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
    nvvm.cluster.arrive {aligned}
// to
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
    nvvm.cluster.arrive.relaxed {aligned}

// ----- no-barrier-at-the-end
// reject race: cluster barrier
// why: the block whose row is read may have ended
// edit
    llvm.store %u, %ya {alignment = 4 : i64} : i32, !llvm.ptr<1>
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
// to
    llvm.store %u, %ya {alignment = 4 : i64} : i32, !llvm.ptr<1>

// ----- arrives-without-waiting
// reject race: cluster barrier
// why: who arrives without waiting may read too early
// edit
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
// to
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
    nvvm.cluster.arrive {aligned}
// edit
    llvm.store %u, %ya {alignment = 4 : i64} : i32, !llvm.ptr<1>
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
// to
    llvm.store %u, %ya {alignment = 4 : i64} : i32, !llvm.ptr<1>
    nvvm.cluster.wait {aligned}

// ----- own-row
// reject numeric: wrong block
// why: each block reads its own row
// edit
    %other = arith.xori %rank, %c1 : i32
// to
    %other = arith.ori %rank, %c1 : i32
    %same = arith.addi %other, %rank : i32
// edit
nvvm.mapa %own, %other
// to
nvvm.mapa %own, %rank

// ----- number-in-the-grid-for-rank
// reject aliasing: wrong block
// why: blocks 2 and 3 have ranks 0 and 1 in their cluster
// edit
    %other = arith.xori %rank, %c1 : i32
// to
    %other = arith.xori %b, %c1 : i32

// ----- clusters-that-do-not-divide
// reject resource: cluster size
// why: four blocks in clusters of three
// edit
nvvm.cluster_dim = array<i32: 2, 1, 1>
// to
nvvm.cluster_dim = array<i32: 3, 1, 1>

// ----- arrives-twice
// reject race: cluster barrier
// why: a second arrival before the wait
// edit
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
    nvvm.cluster.arrive {aligned}
// to
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.arrive {aligned}

// ----- ok-relaxed-after-a-fence
// accept: odd arrival
// why: the fence of the cluster's scope passes on what the relaxed arrival does not
// edit
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
    nvvm.cluster.arrive {aligned}
// to
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
    nvvm.fence.sc.cluster
    nvvm.cluster.arrive.relaxed {aligned}

// ----- ok-work-between-arrival-and-wait
// accept: odd arrival
// why: address arithmetic between the arrival and the wait
// edit
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
// to
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
    nvvm.cluster.arrive {aligned}
// edit
    %theirs = nvvm.mapa %own, %other : !llvm.ptr<3> -> !llvm.ptr<7>
// to
    %theirs = nvvm.mapa %own, %other : !llvm.ptr<3> -> !llvm.ptr<7>
    nvvm.cluster.wait {aligned}

// ----- ok-pushed-instead-of-fetched
// accept: odd direction
// why: each block stores into the other's shared memory, with a barrier before, so that it has begun, and one after
// edit
    llvm.store %w, %own {alignment = 4 : i64} : i32, !llvm.ptr<3>
// to
// edit
    %u = llvm.load %theirs {alignment = 4 : i64} : !llvm.ptr<7> -> i32
// to
    llvm.store %w, %theirs {alignment = 4 : i64} : i32, !llvm.ptr<7>
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
// edit
    llvm.store %u, %ya {alignment = 4 : i64} : i32, !llvm.ptr<1>
    nvvm.cluster.arrive {aligned}
    nvvm.cluster.wait {aligned}
// to
    %u = llvm.load %own {alignment = 4 : i64} : !llvm.ptr<3> -> i32
    llvm.store %u, %ya {alignment = 4 : i64} : i32, !llvm.ptr<1>
