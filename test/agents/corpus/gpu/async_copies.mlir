// Three rows of 32 integers, each turned round: asynchronous copies into shared memory, one stage ahead.
func.func @main(%x: memref<3x32xi32>, %y: memref<3x32xi32> {kc.out}) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@reverse blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<3x32xi32>, %y : memref<3x32xi32>)
  return
}
gpu.module @device {
  gpu.func @reverse(%x: memref<3x32xi32>, %y: memref<3x32xi32>) workgroup(%s: memref<2x32xi32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c31 = arith.constant 31 : index
    %c32 = arith.constant 32 : index
    %b4 = arith.constant 4 : i64
    %b128 = arith.constant 128 : i64
    %t = gpu.thread_id x
    %xp = memref.extract_aligned_pointer_as_index %x : memref<3x32xi32> -> index
    %xi = arith.index_cast %xp : index to i64
    %sp = memref.extract_aligned_pointer_as_index %s : memref<2x32xi32, #gpu.address_space<workgroup>> -> index
    %si = arith.index_cast %sp : index to i64
    %ti = arith.index_cast %t : index to i64
    %o = arith.muli %ti, %b4 : i64
    %copies = arith.cmpi ult, %t, %c32 : index
    %mirror0 = arith.subi %c31, %t : index
    %mirror = arith.maxsi %mirror0, %c0 : index
    scf.if %copies {
      %g0 = arith.addi %xi, %o : i64
      %d0 = arith.addi %si, %o : i64
      %gp0 = llvm.inttoptr %g0 : i64 to !llvm.ptr<1>
      %dp0 = llvm.inttoptr %d0 : i64 to !llvm.ptr<3>
      nvvm.cp.async.shared.global %dp0, %gp0, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
    }
    nvvm.cp.async.commit.group
    scf.for %r = %c0 to %c3 step %c1 {
      %r1 = arith.addi %r, %c1 : index
      %more = arith.cmpi ult, %r1, %c3 : index
      %ahead = arith.andi %more, %copies : i1
      scf.if %ahead {
        %h = arith.remui %r1, %c2 : index
        %hi = arith.index_cast %h : index to i64
        %ri = arith.index_cast %r1 : index to i64
        %go = arith.muli %ri, %b128 : i64
        %do = arith.muli %hi, %b128 : i64
        %g0 = arith.addi %xi, %o : i64
        %g1 = arith.addi %g0, %go : i64
        %d0 = arith.addi %si, %o : i64
        %d1 = arith.addi %d0, %do : i64
        %gp = llvm.inttoptr %g1 : i64 to !llvm.ptr<1>
        %dp = llvm.inttoptr %d1 : i64 to !llvm.ptr<3>
        nvvm.cp.async.shared.global %dp, %gp, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
      }
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 1
      gpu.barrier
      %h2 = arith.remui %r, %c2 : index
      scf.if %copies {
        %v = memref.load %s[%h2, %mirror] : memref<2x32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %t] : memref<3x32xi32>
      }
      gpu.barrier
    }
    gpu.return
  }
}

// ----- wait-group-2
// reject race: stale stage
// why: waits until two groups are under way: the row that is read has not arrived
gpu.module @device {
  gpu.func @reverse(%x: memref<3x32xi32>, %y: memref<3x32xi32>) workgroup(%s: memref<2x32xi32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c31 = arith.constant 31 : index
    %c32 = arith.constant 32 : index
    %b4 = arith.constant 4 : i64
    %b128 = arith.constant 128 : i64
    %t = gpu.thread_id x
    %xp = memref.extract_aligned_pointer_as_index %x : memref<3x32xi32> -> index
    %xi = arith.index_cast %xp : index to i64
    %sp = memref.extract_aligned_pointer_as_index %s : memref<2x32xi32, #gpu.address_space<workgroup>> -> index
    %si = arith.index_cast %sp : index to i64
    %ti = arith.index_cast %t : index to i64
    %o = arith.muli %ti, %b4 : i64
    %copies = arith.cmpi ult, %t, %c32 : index
    %mirror0 = arith.subi %c31, %t : index
    %mirror = arith.maxsi %mirror0, %c0 : index
    scf.if %copies {
      %g0 = arith.addi %xi, %o : i64
      %d0 = arith.addi %si, %o : i64
      %gp0 = llvm.inttoptr %g0 : i64 to !llvm.ptr<1>
      %dp0 = llvm.inttoptr %d0 : i64 to !llvm.ptr<3>
      nvvm.cp.async.shared.global %dp0, %gp0, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
    }
    nvvm.cp.async.commit.group
    scf.for %r = %c0 to %c3 step %c1 {
      %r1 = arith.addi %r, %c1 : index
      %more = arith.cmpi ult, %r1, %c3 : index
      %ahead = arith.andi %more, %copies : i1
      scf.if %ahead {
        %h = arith.remui %r1, %c2 : index
        %hi = arith.index_cast %h : index to i64
        %ri = arith.index_cast %r1 : index to i64
        %go = arith.muli %ri, %b128 : i64
        %do = arith.muli %hi, %b128 : i64
        %g0 = arith.addi %xi, %o : i64
        %g1 = arith.addi %g0, %go : i64
        %d0 = arith.addi %si, %o : i64
        %d1 = arith.addi %d0, %do : i64
        %gp = llvm.inttoptr %g1 : i64 to !llvm.ptr<1>
        %dp = llvm.inttoptr %d1 : i64 to !llvm.ptr<3>
        nvvm.cp.async.shared.global %dp, %gp, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
      }
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 2
      gpu.barrier
      %h2 = arith.remui %r, %c2 : index
      scf.if %copies {
        %v = memref.load %s[%h2, %mirror] : memref<2x32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %t] : memref<3x32xi32>
      }
      gpu.barrier
    }
    gpu.return
  }
}
func.func @main ... {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@reverse blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<3x32xi32>, %y : memref<3x32xi32>)
  return
}

// ----- no-wait
// reject race: missing wait
// why: nothing waits for the copies
gpu.module @device {
  gpu.func @reverse(%x: memref<3x32xi32>, %y: memref<3x32xi32>) workgroup(%s: memref<2x32xi32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c31 = arith.constant 31 : index
    %c32 = arith.constant 32 : index
    %b4 = arith.constant 4 : i64
    %b128 = arith.constant 128 : i64
    %t = gpu.thread_id x
    %xp = memref.extract_aligned_pointer_as_index %x : memref<3x32xi32> -> index
    %xi = arith.index_cast %xp : index to i64
    %sp = memref.extract_aligned_pointer_as_index %s : memref<2x32xi32, #gpu.address_space<workgroup>> -> index
    %si = arith.index_cast %sp : index to i64
    %ti = arith.index_cast %t : index to i64
    %o = arith.muli %ti, %b4 : i64
    %copies = arith.cmpi ult, %t, %c32 : index
    %mirror0 = arith.subi %c31, %t : index
    %mirror = arith.maxsi %mirror0, %c0 : index
    scf.if %copies {
      %g0 = arith.addi %xi, %o : i64
      %d0 = arith.addi %si, %o : i64
      %gp0 = llvm.inttoptr %g0 : i64 to !llvm.ptr<1>
      %dp0 = llvm.inttoptr %d0 : i64 to !llvm.ptr<3>
      nvvm.cp.async.shared.global %dp0, %gp0, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
    }
    nvvm.cp.async.commit.group
    scf.for %r = %c0 to %c3 step %c1 {
      %r1 = arith.addi %r, %c1 : index
      %more = arith.cmpi ult, %r1, %c3 : index
      %ahead = arith.andi %more, %copies : i1
      scf.if %ahead {
        %h = arith.remui %r1, %c2 : index
        %hi = arith.index_cast %h : index to i64
        %ri = arith.index_cast %r1 : index to i64
        %go = arith.muli %ri, %b128 : i64
        %do = arith.muli %hi, %b128 : i64
        %g0 = arith.addi %xi, %o : i64
        %g1 = arith.addi %g0, %go : i64
        %d0 = arith.addi %si, %o : i64
        %d1 = arith.addi %d0, %do : i64
        %gp = llvm.inttoptr %g1 : i64 to !llvm.ptr<1>
        %dp = llvm.inttoptr %d1 : i64 to !llvm.ptr<3>
        nvvm.cp.async.shared.global %dp, %gp, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
      }
      nvvm.cp.async.commit.group
      gpu.barrier
      %h2 = arith.remui %r, %c2 : index
      scf.if %copies {
        %v = memref.load %s[%h2, %mirror] : memref<2x32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %t] : memref<3x32xi32>
      }
      gpu.barrier
    }
    gpu.return
  }
}
func.func @main ... {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@reverse blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<3x32xi32>, %y : memref<3x32xi32>)
  return
}

// ----- no-barrier-after-wait
// reject race: missing barrier
// why: a thread waits for its own copies only; the mirrored element is another one's
gpu.module @device {
  gpu.func @reverse(%x: memref<3x32xi32>, %y: memref<3x32xi32>) workgroup(%s: memref<2x32xi32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c31 = arith.constant 31 : index
    %c32 = arith.constant 32 : index
    %b4 = arith.constant 4 : i64
    %b128 = arith.constant 128 : i64
    %t = gpu.thread_id x
    %xp = memref.extract_aligned_pointer_as_index %x : memref<3x32xi32> -> index
    %xi = arith.index_cast %xp : index to i64
    %sp = memref.extract_aligned_pointer_as_index %s : memref<2x32xi32, #gpu.address_space<workgroup>> -> index
    %si = arith.index_cast %sp : index to i64
    %ti = arith.index_cast %t : index to i64
    %o = arith.muli %ti, %b4 : i64
    %copies = arith.cmpi ult, %t, %c32 : index
    %mirror0 = arith.subi %c31, %t : index
    %mirror = arith.maxsi %mirror0, %c0 : index
    scf.if %copies {
      %g0 = arith.addi %xi, %o : i64
      %d0 = arith.addi %si, %o : i64
      %gp0 = llvm.inttoptr %g0 : i64 to !llvm.ptr<1>
      %dp0 = llvm.inttoptr %d0 : i64 to !llvm.ptr<3>
      nvvm.cp.async.shared.global %dp0, %gp0, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
    }
    nvvm.cp.async.commit.group
    scf.for %r = %c0 to %c3 step %c1 {
      %r1 = arith.addi %r, %c1 : index
      %more = arith.cmpi ult, %r1, %c3 : index
      %ahead = arith.andi %more, %copies : i1
      scf.if %ahead {
        %h = arith.remui %r1, %c2 : index
        %hi = arith.index_cast %h : index to i64
        %ri = arith.index_cast %r1 : index to i64
        %go = arith.muli %ri, %b128 : i64
        %do = arith.muli %hi, %b128 : i64
        %g0 = arith.addi %xi, %o : i64
        %g1 = arith.addi %g0, %go : i64
        %d0 = arith.addi %si, %o : i64
        %d1 = arith.addi %d0, %do : i64
        %gp = llvm.inttoptr %g1 : i64 to !llvm.ptr<1>
        %dp = llvm.inttoptr %d1 : i64 to !llvm.ptr<3>
        nvvm.cp.async.shared.global %dp, %gp, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
      }
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 1
      %h2 = arith.remui %r, %c2 : index
      scf.if %copies {
        %v = memref.load %s[%h2, %mirror] : memref<2x32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %t] : memref<3x32xi32>
      }
      gpu.barrier
    }
    gpu.return
  }
}
func.func @main ... {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@reverse blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<3x32xi32>, %y : memref<3x32xi32>)
  return
}

// ----- no-barrier-before-reuse
// reject race: missing barrier
// why: the stage is overwritten while slower threads of the other warp still read it
gpu.module @device {
  gpu.func @reverse(%x: memref<3x32xi32>, %y: memref<3x32xi32>) workgroup(%s: memref<2x32xi32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c31 = arith.constant 31 : index
    %c32 = arith.constant 32 : index
    %b4 = arith.constant 4 : i64
    %b128 = arith.constant 128 : i64
    %t = gpu.thread_id x
    %xp = memref.extract_aligned_pointer_as_index %x : memref<3x32xi32> -> index
    %xi = arith.index_cast %xp : index to i64
    %sp = memref.extract_aligned_pointer_as_index %s : memref<2x32xi32, #gpu.address_space<workgroup>> -> index
    %si = arith.index_cast %sp : index to i64
    %ti = arith.index_cast %t : index to i64
    %o = arith.muli %ti, %b4 : i64
    %copies = arith.cmpi ult, %t, %c32 : index
    %c63 = arith.constant 63 : index
    %reads = arith.cmpi uge, %t, %c32 : index
    %mirror0 = arith.subi %c63, %t : index
    %place0 = arith.subi %t, %c32 : index
    %place = arith.maxsi %place0, %c0 : index
    %mirror = arith.maxsi %mirror0, %c0 : index
    scf.if %copies {
      %g0 = arith.addi %xi, %o : i64
      %d0 = arith.addi %si, %o : i64
      %gp0 = llvm.inttoptr %g0 : i64 to !llvm.ptr<1>
      %dp0 = llvm.inttoptr %d0 : i64 to !llvm.ptr<3>
      nvvm.cp.async.shared.global %dp0, %gp0, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
    }
    nvvm.cp.async.commit.group
    scf.for %r = %c0 to %c3 step %c1 {
      %r1 = arith.addi %r, %c1 : index
      %more = arith.cmpi ult, %r1, %c3 : index
      %ahead = arith.andi %more, %copies : i1
      scf.if %ahead {
        %h = arith.remui %r1, %c2 : index
        %hi = arith.index_cast %h : index to i64
        %ri = arith.index_cast %r1 : index to i64
        %go = arith.muli %ri, %b128 : i64
        %do = arith.muli %hi, %b128 : i64
        %g0 = arith.addi %xi, %o : i64
        %g1 = arith.addi %g0, %go : i64
        %d0 = arith.addi %si, %o : i64
        %d1 = arith.addi %d0, %do : i64
        %gp = llvm.inttoptr %g1 : i64 to !llvm.ptr<1>
        %dp = llvm.inttoptr %d1 : i64 to !llvm.ptr<3>
        nvvm.cp.async.shared.global %dp, %gp, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
      }
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 1
      gpu.barrier
      %h2 = arith.remui %r, %c2 : index
      scf.if %reads {
        %v = memref.load %s[%h2, %mirror] : memref<2x32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %place] : memref<3x32xi32>
      }
    }
    gpu.return
  }
}
func.func @main ... {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@reverse blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<3x32xi32>, %y : memref<3x32xi32>)
  return
}

// ----- ok-wait-for-all
// accept: asynchronous copies
// why: waits for all groups in every turn: slower, right
gpu.module @device {
  gpu.func @reverse(%x: memref<3x32xi32>, %y: memref<3x32xi32>) workgroup(%s: memref<2x32xi32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c31 = arith.constant 31 : index
    %c32 = arith.constant 32 : index
    %b4 = arith.constant 4 : i64
    %b128 = arith.constant 128 : i64
    %t = gpu.thread_id x
    %xp = memref.extract_aligned_pointer_as_index %x : memref<3x32xi32> -> index
    %xi = arith.index_cast %xp : index to i64
    %sp = memref.extract_aligned_pointer_as_index %s : memref<2x32xi32, #gpu.address_space<workgroup>> -> index
    %si = arith.index_cast %sp : index to i64
    %ti = arith.index_cast %t : index to i64
    %o = arith.muli %ti, %b4 : i64
    %copies = arith.cmpi ult, %t, %c32 : index
    %mirror0 = arith.subi %c31, %t : index
    %mirror = arith.maxsi %mirror0, %c0 : index
    scf.if %copies {
      %g0 = arith.addi %xi, %o : i64
      %d0 = arith.addi %si, %o : i64
      %gp0 = llvm.inttoptr %g0 : i64 to !llvm.ptr<1>
      %dp0 = llvm.inttoptr %d0 : i64 to !llvm.ptr<3>
      nvvm.cp.async.shared.global %dp0, %gp0, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
    }
    nvvm.cp.async.commit.group
    scf.for %r = %c0 to %c3 step %c1 {
      %r1 = arith.addi %r, %c1 : index
      %more = arith.cmpi ult, %r1, %c3 : index
      %ahead = arith.andi %more, %copies : i1
      scf.if %ahead {
        %h = arith.remui %r1, %c2 : index
        %hi = arith.index_cast %h : index to i64
        %ri = arith.index_cast %r1 : index to i64
        %go = arith.muli %ri, %b128 : i64
        %do = arith.muli %hi, %b128 : i64
        %g0 = arith.addi %xi, %o : i64
        %g1 = arith.addi %g0, %go : i64
        %d0 = arith.addi %si, %o : i64
        %d1 = arith.addi %d0, %do : i64
        %gp = llvm.inttoptr %g1 : i64 to !llvm.ptr<1>
        %dp = llvm.inttoptr %d1 : i64 to !llvm.ptr<3>
        nvvm.cp.async.shared.global %dp, %gp, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
      }
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 0
      gpu.barrier
      %h2 = arith.remui %r, %c2 : index
      scf.if %copies {
        %v = memref.load %s[%h2, %mirror] : memref<2x32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %t] : memref<3x32xi32>
      }
      gpu.barrier
    }
    gpu.return
  }
}
func.func @main ... {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@reverse blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<3x32xi32>, %y : memref<3x32xi32>)
  return
}

// ----- wrong-stage
// reject race: stale stage
// why: reads the stage that is being filled
gpu.module @device {
  gpu.func @reverse(%x: memref<3x32xi32>, %y: memref<3x32xi32>) workgroup(%s: memref<2x32xi32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c31 = arith.constant 31 : index
    %c32 = arith.constant 32 : index
    %b4 = arith.constant 4 : i64
    %b128 = arith.constant 128 : i64
    %t = gpu.thread_id x
    %xp = memref.extract_aligned_pointer_as_index %x : memref<3x32xi32> -> index
    %xi = arith.index_cast %xp : index to i64
    %sp = memref.extract_aligned_pointer_as_index %s : memref<2x32xi32, #gpu.address_space<workgroup>> -> index
    %si = arith.index_cast %sp : index to i64
    %ti = arith.index_cast %t : index to i64
    %o = arith.muli %ti, %b4 : i64
    %copies = arith.cmpi ult, %t, %c32 : index
    %mirror0 = arith.subi %c31, %t : index
    %mirror = arith.maxsi %mirror0, %c0 : index
    scf.if %copies {
      %g0 = arith.addi %xi, %o : i64
      %d0 = arith.addi %si, %o : i64
      %gp0 = llvm.inttoptr %g0 : i64 to !llvm.ptr<1>
      %dp0 = llvm.inttoptr %d0 : i64 to !llvm.ptr<3>
      nvvm.cp.async.shared.global %dp0, %gp0, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
    }
    nvvm.cp.async.commit.group
    scf.for %r = %c0 to %c3 step %c1 {
      %r1 = arith.addi %r, %c1 : index
      %more = arith.cmpi ult, %r1, %c3 : index
      %ahead = arith.andi %more, %copies : i1
      scf.if %ahead {
        %h = arith.remui %r1, %c2 : index
        %hi = arith.index_cast %h : index to i64
        %ri = arith.index_cast %r1 : index to i64
        %go = arith.muli %ri, %b128 : i64
        %do = arith.muli %hi, %b128 : i64
        %g0 = arith.addi %xi, %o : i64
        %g1 = arith.addi %g0, %go : i64
        %d0 = arith.addi %si, %o : i64
        %d1 = arith.addi %d0, %do : i64
        %gp = llvm.inttoptr %g1 : i64 to !llvm.ptr<1>
        %dp = llvm.inttoptr %d1 : i64 to !llvm.ptr<3>
        nvvm.cp.async.shared.global %dp, %gp, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
      }
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 1
      gpu.barrier
      %h2 = arith.remui %r1, %c2 : index
      scf.if %copies {
        %v = memref.load %s[%h2, %mirror] : memref<2x32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %t] : memref<3x32xi32>
      }
      gpu.barrier
    }
    gpu.return
  }
}
func.func @main ... {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@reverse blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<3x32xi32>, %y : memref<3x32xi32>)
  return
}
