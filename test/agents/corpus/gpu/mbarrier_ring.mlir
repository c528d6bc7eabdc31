// Two rows of 32 integers doubled: warp 0 fills a shared row, warp 1 empties it; two mbarriers say full and empty.
func.func @main(%x: memref<2x32xi32>, %y: memref<2x32xi32> {kc.out}) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@ring blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<2x32xi32>, %y : memref<2x32xi32>)
  return
}
gpu.module @device {
  gpu.func @ring(%x: memref<2x32xi32>, %y: memref<2x32xi32>) workgroup(%s: memref<32xi32, #gpu.address_space<workgroup>>, %m: memref<2xi64, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %count = arith.constant 32 : i32
    %one = arith.constant 1 : i32
    %ticks = arith.constant 10000000 : i32
    %b8 = arith.constant 8 : i64
    %t = gpu.thread_id x
    %mp = memref.extract_aligned_pointer_as_index %m : memref<2xi64, #gpu.address_space<workgroup>> -> index
    %full0 = arith.index_cast %mp : index to i64
    %empty0 = arith.addi %full0, %b8 : i64
    %full = llvm.inttoptr %full0 : i64 to !llvm.ptr<3>
    %empty = llvm.inttoptr %empty0 : i64 to !llvm.ptr<3>
    %lead = arith.cmpi eq, %t, %c0 : index
    scf.if %lead {
      nvvm.mbarrier.init %full, %count : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    %fills = arith.cmpi ult, %t, %c32 : index
    scf.if %fills {
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.xori %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %empty, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %x[%r, %t] : memref<2x32xi32>
        %w = arith.addi %v, %v : i32
        memref.store %w, %s[%t] : memref<32xi32, #gpu.address_space<workgroup>>
        %a = nvvm.mbarrier.arrive %full : !llvm.ptr<3> -> i64
      }
    } else {
      %i = arith.subi %t, %c32 : index
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.andi %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %s[%i] : memref<32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %i] : memref<2x32xi32>
        %a = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
      }
    }
    gpu.return
  }
}

// ----- stale-full-phase
// reject race: stale phase
// why: the reader waits for the parity of the phase before: it is over from the start
gpu.module @device {
  gpu.func @ring(%x: memref<2x32xi32>, %y: memref<2x32xi32>) workgroup(%s: memref<32xi32, #gpu.address_space<workgroup>>, %m: memref<2xi64, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %count = arith.constant 32 : i32
    %one = arith.constant 1 : i32
    %ticks = arith.constant 10000000 : i32
    %b8 = arith.constant 8 : i64
    %t = gpu.thread_id x
    %mp = memref.extract_aligned_pointer_as_index %m : memref<2xi64, #gpu.address_space<workgroup>> -> index
    %full0 = arith.index_cast %mp : index to i64
    %empty0 = arith.addi %full0, %b8 : i64
    %full = llvm.inttoptr %full0 : i64 to !llvm.ptr<3>
    %empty = llvm.inttoptr %empty0 : i64 to !llvm.ptr<3>
    %lead = arith.cmpi eq, %t, %c0 : index
    scf.if %lead {
      nvvm.mbarrier.init %full, %count : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    %fills = arith.cmpi ult, %t, %c32 : index
    scf.if %fills {
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.xori %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %empty, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %x[%r, %t] : memref<2x32xi32>
        %w = arith.addi %v, %v : i32
        memref.store %w, %s[%t] : memref<32xi32, #gpu.address_space<workgroup>>
        %a = nvvm.mbarrier.arrive %full : !llvm.ptr<3> -> i64
      }
    } else {
      %i = arith.subi %t, %c32 : index
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.xori %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %s[%i] : memref<32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %i] : memref<2x32xi32>
        %a = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
      }
    }
    gpu.return
  }
}
func.func @main ... {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@ring blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<2x32xi32>, %y : memref<2x32xi32>)
  return
}

// ----- same-parity-twice
// reject race: stale phase
// why: the reader waits for parity 0 in both rounds: the second wait is over at once
gpu.module @device {
  gpu.func @ring(%x: memref<2x32xi32>, %y: memref<2x32xi32>) workgroup(%s: memref<32xi32, #gpu.address_space<workgroup>>, %m: memref<2xi64, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %count = arith.constant 32 : i32
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %ticks = arith.constant 10000000 : i32
    %b8 = arith.constant 8 : i64
    %t = gpu.thread_id x
    %mp = memref.extract_aligned_pointer_as_index %m : memref<2xi64, #gpu.address_space<workgroup>> -> index
    %full0 = arith.index_cast %mp : index to i64
    %empty0 = arith.addi %full0, %b8 : i64
    %full = llvm.inttoptr %full0 : i64 to !llvm.ptr<3>
    %empty = llvm.inttoptr %empty0 : i64 to !llvm.ptr<3>
    %lead = arith.cmpi eq, %t, %c0 : index
    scf.if %lead {
      nvvm.mbarrier.init %full, %count : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    %fills = arith.cmpi ult, %t, %c32 : index
    scf.if %fills {
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.xori %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %empty, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %x[%r, %t] : memref<2x32xi32>
        %w = arith.addi %v, %v : i32
        memref.store %w, %s[%t] : memref<32xi32, #gpu.address_space<workgroup>>
        %a = nvvm.mbarrier.arrive %full : !llvm.ptr<3> -> i64
      }
    } else {
      %i = arith.subi %t, %c32 : index
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.andi %ri, %zero : i32
        nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %s[%i] : memref<32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %i] : memref<2x32xi32>
        %a = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
      }
    }
    gpu.return
  }
}
func.func @main ... {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@ring blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<2x32xi32>, %y : memref<2x32xi32>)
  return
}

// ----- writer-never-waits
// reject race: stale phase
// why: the writer waits for a parity that is over in both rounds: it overwrites what is not read yet
gpu.module @device {
  gpu.func @ring(%x: memref<2x32xi32>, %y: memref<2x32xi32>) workgroup(%s: memref<32xi32, #gpu.address_space<workgroup>>, %m: memref<2xi64, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %count = arith.constant 32 : i32
    %one = arith.constant 1 : i32
    %ticks = arith.constant 10000000 : i32
    %b8 = arith.constant 8 : i64
    %t = gpu.thread_id x
    %mp = memref.extract_aligned_pointer_as_index %m : memref<2xi64, #gpu.address_space<workgroup>> -> index
    %full0 = arith.index_cast %mp : index to i64
    %empty0 = arith.addi %full0, %b8 : i64
    %full = llvm.inttoptr %full0 : i64 to !llvm.ptr<3>
    %empty = llvm.inttoptr %empty0 : i64 to !llvm.ptr<3>
    %lead = arith.cmpi eq, %t, %c0 : index
    scf.if %lead {
      nvvm.mbarrier.init %full, %count : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    %fills = arith.cmpi ult, %t, %c32 : index
    scf.if %fills {
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.ori %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %empty, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %x[%r, %t] : memref<2x32xi32>
        %w = arith.addi %v, %v : i32
        memref.store %w, %s[%t] : memref<32xi32, #gpu.address_space<workgroup>>
        %a = nvvm.mbarrier.arrive %full : !llvm.ptr<3> -> i64
      }
    } else {
      %i = arith.subi %t, %c32 : index
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.andi %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %s[%i] : memref<32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %i] : memref<2x32xi32>
        %a = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
      }
    }
    gpu.return
  }
}
func.func @main ... {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@ring blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<2x32xi32>, %y : memref<2x32xi32>)
  return
}

// ----- count-of-31
// reject race: arrival count
// why: one arrival less completes a phase: the last lane's element may be missing, and the phases slip
gpu.module @device {
  gpu.func @ring(%x: memref<2x32xi32>, %y: memref<2x32xi32>) workgroup(%s: memref<32xi32, #gpu.address_space<workgroup>>, %m: memref<2xi64, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %count = arith.constant 31 : i32
    %one = arith.constant 1 : i32
    %ticks = arith.constant 10000000 : i32
    %b8 = arith.constant 8 : i64
    %t = gpu.thread_id x
    %mp = memref.extract_aligned_pointer_as_index %m : memref<2xi64, #gpu.address_space<workgroup>> -> index
    %full0 = arith.index_cast %mp : index to i64
    %empty0 = arith.addi %full0, %b8 : i64
    %full = llvm.inttoptr %full0 : i64 to !llvm.ptr<3>
    %empty = llvm.inttoptr %empty0 : i64 to !llvm.ptr<3>
    %lead = arith.cmpi eq, %t, %c0 : index
    scf.if %lead {
      nvvm.mbarrier.init %full, %count : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    %fills = arith.cmpi ult, %t, %c32 : index
    scf.if %fills {
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.xori %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %empty, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %x[%r, %t] : memref<2x32xi32>
        %w = arith.addi %v, %v : i32
        memref.store %w, %s[%t] : memref<32xi32, #gpu.address_space<workgroup>>
        %a = nvvm.mbarrier.arrive %full : !llvm.ptr<3> -> i64
      }
    } else {
      %i = arith.subi %t, %c32 : index
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.andi %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %s[%i] : memref<32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %i] : memref<2x32xi32>
        %a = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
      }
    }
    gpu.return
  }
}
func.func @main ... {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@ring blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<2x32xi32>, %y : memref<2x32xi32>)
  return
}

// ----- arrives-before-it-stores
// reject race: missing fence
// why: the arrival comes before the store that it announces
gpu.module @device {
  gpu.func @ring(%x: memref<2x32xi32>, %y: memref<2x32xi32>) workgroup(%s: memref<32xi32, #gpu.address_space<workgroup>>, %m: memref<2xi64, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %count = arith.constant 32 : i32
    %one = arith.constant 1 : i32
    %ticks = arith.constant 10000000 : i32
    %b8 = arith.constant 8 : i64
    %t = gpu.thread_id x
    %mp = memref.extract_aligned_pointer_as_index %m : memref<2xi64, #gpu.address_space<workgroup>> -> index
    %full0 = arith.index_cast %mp : index to i64
    %empty0 = arith.addi %full0, %b8 : i64
    %full = llvm.inttoptr %full0 : i64 to !llvm.ptr<3>
    %empty = llvm.inttoptr %empty0 : i64 to !llvm.ptr<3>
    %lead = arith.cmpi eq, %t, %c0 : index
    scf.if %lead {
      nvvm.mbarrier.init %full, %count : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    %fills = arith.cmpi ult, %t, %c32 : index
    scf.if %fills {
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.xori %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %empty, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %x[%r, %t] : memref<2x32xi32>
        %w = arith.addi %v, %v : i32
        %a = nvvm.mbarrier.arrive %full : !llvm.ptr<3> -> i64
        memref.store %w, %s[%t] : memref<32xi32, #gpu.address_space<workgroup>>
      }
    } else {
      %i = arith.subi %t, %c32 : index
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.andi %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %s[%i] : memref<32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %i] : memref<2x32xi32>
        %a = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
      }
    }
    gpu.return
  }
}
func.func @main ... {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@ring blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<2x32xi32>, %y : memref<2x32xi32>)
  return
}

// ----- no-barrier-after-init
// reject race: missing barrier
// why: warp 1 may look at the mbarriers before they are initialised
gpu.module @device {
  gpu.func @ring(%x: memref<2x32xi32>, %y: memref<2x32xi32>) workgroup(%s: memref<32xi32, #gpu.address_space<workgroup>>, %m: memref<2xi64, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %count = arith.constant 32 : i32
    %one = arith.constant 1 : i32
    %ticks = arith.constant 10000000 : i32
    %b8 = arith.constant 8 : i64
    %t = gpu.thread_id x
    %mp = memref.extract_aligned_pointer_as_index %m : memref<2xi64, #gpu.address_space<workgroup>> -> index
    %full0 = arith.index_cast %mp : index to i64
    %empty0 = arith.addi %full0, %b8 : i64
    %full = llvm.inttoptr %full0 : i64 to !llvm.ptr<3>
    %empty = llvm.inttoptr %empty0 : i64 to !llvm.ptr<3>
    %lead = arith.cmpi eq, %t, %c0 : index
    scf.if %lead {
      nvvm.mbarrier.init %full, %count : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty, %count : !llvm.ptr<3>, i32
    }
    %fills = arith.cmpi ult, %t, %c32 : index
    scf.if %fills {
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.xori %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %empty, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %x[%r, %t] : memref<2x32xi32>
        %w = arith.addi %v, %v : i32
        memref.store %w, %s[%t] : memref<32xi32, #gpu.address_space<workgroup>>
        %a = nvvm.mbarrier.arrive %full : !llvm.ptr<3> -> i64
      }
    } else {
      %i = arith.subi %t, %c32 : index
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.andi %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %s[%i] : memref<32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %i] : memref<2x32xi32>
        %a = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
      }
    }
    gpu.return
  }
}
func.func @main ... {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@ring blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<2x32xi32>, %y : memref<2x32xi32>)
  return
}

// ----- count-of-33
// reject resource: barrier that never completes
// why: a phase waits for 33 arrivals of 32 threads
gpu.module @device {
  gpu.func @ring(%x: memref<2x32xi32>, %y: memref<2x32xi32>) workgroup(%s: memref<32xi32, #gpu.address_space<workgroup>>, %m: memref<2xi64, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %count = arith.constant 33 : i32
    %one = arith.constant 1 : i32
    %ticks = arith.constant 10000000 : i32
    %b8 = arith.constant 8 : i64
    %t = gpu.thread_id x
    %mp = memref.extract_aligned_pointer_as_index %m : memref<2xi64, #gpu.address_space<workgroup>> -> index
    %full0 = arith.index_cast %mp : index to i64
    %empty0 = arith.addi %full0, %b8 : i64
    %full = llvm.inttoptr %full0 : i64 to !llvm.ptr<3>
    %empty = llvm.inttoptr %empty0 : i64 to !llvm.ptr<3>
    %lead = arith.cmpi eq, %t, %c0 : index
    scf.if %lead {
      nvvm.mbarrier.init %full, %count : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    %fills = arith.cmpi ult, %t, %c32 : index
    scf.if %fills {
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.xori %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %empty, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %x[%r, %t] : memref<2x32xi32>
        %w = arith.addi %v, %v : i32
        memref.store %w, %s[%t] : memref<32xi32, #gpu.address_space<workgroup>>
        %a = nvvm.mbarrier.arrive %full : !llvm.ptr<3> -> i64
      }
    } else {
      %i = arith.subi %t, %c32 : index
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.andi %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %s[%i] : memref<32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %i] : memref<2x32xi32>
        %a = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
      }
    }
    gpu.return
  }
}
func.func @main ... {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@ring blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<2x32xi32>, %y : memref<2x32xi32>)
  return
}

// ----- ok-lanes-swapped
// accept: mbarriers
// why: the elements are stored under another index of shared memory, and read back from there
gpu.module @device {
  gpu.func @ring(%x: memref<2x32xi32>, %y: memref<2x32xi32>) workgroup(%s: memref<32xi32, #gpu.address_space<workgroup>>, %m: memref<2xi64, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %count = arith.constant 32 : i32
    %one = arith.constant 1 : i32
    %ticks = arith.constant 10000000 : i32
    %b8 = arith.constant 8 : i64
    %t = gpu.thread_id x
    %mp = memref.extract_aligned_pointer_as_index %m : memref<2xi64, #gpu.address_space<workgroup>> -> index
    %full0 = arith.index_cast %mp : index to i64
    %empty0 = arith.addi %full0, %b8 : i64
    %full = llvm.inttoptr %full0 : i64 to !llvm.ptr<3>
    %empty = llvm.inttoptr %empty0 : i64 to !llvm.ptr<3>
    %lead = arith.cmpi eq, %t, %c0 : index
    scf.if %lead {
      nvvm.mbarrier.init %full, %count : !llvm.ptr<3>, i32
      nvvm.mbarrier.init %empty, %count : !llvm.ptr<3>, i32
    }
    gpu.barrier
    %fills = arith.cmpi ult, %t, %c32 : index
    scf.if %fills {
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.xori %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %empty, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %v = memref.load %x[%r, %t] : memref<2x32xi32>
        %w = arith.addi %v, %v : i32
        %u = arith.xori %t, %c1 : index
        memref.store %w, %s[%u] : memref<32xi32, #gpu.address_space<workgroup>>
        %a = nvvm.mbarrier.arrive %full : !llvm.ptr<3> -> i64
      }
    } else {
      %i = arith.subi %t, %c32 : index
      scf.for %r = %c0 to %c2 step %c1 {
        %ri = arith.index_cast %r : index to i32
        %parity = arith.andi %ri, %one : i32
        nvvm.mbarrier.try_wait.parity %full, %parity, %ticks : !llvm.ptr<3>, i32, i32
        %j = arith.xori %i, %c1 : index
        %v = memref.load %s[%j] : memref<32xi32, #gpu.address_space<workgroup>>
        memref.store %v, %y[%r, %i] : memref<2x32xi32>
        %a = nvvm.mbarrier.arrive %empty : !llvm.ptr<3> -> i64
      }
    }
    gpu.return
  }
}
func.func @main ... {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @device::@ring blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%x : memref<2x32xi32>, %y : memref<2x32xi32>)
  return
}
