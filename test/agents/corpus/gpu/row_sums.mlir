// y[b] = sum of the 64 integers of row b: a block per row, two warps, shuffles and one shared cell per warp.
func.func @main(%x: memref<?x64xi32> {kc.dims = ["B"]}, %y: memref<?xi32> {kc.dims = ["B"], kc.out}) attributes {kc.sizes = {B = array<i64: 1, 3>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %z = arith.constant 0 : i32
  %w32 = arith.constant 32 : i32
  %i16 = arith.constant 16 : i32
  %i8 = arith.constant 8 : i32
  %i4 = arith.constant 4 : i32
  %i2 = arith.constant 2 : i32
  %i1 = arith.constant 1 : i32
  %b = memref.dim %x, %c0 : memref<?x64xi32>
  // common above
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<2xi32, #gpu.address_space<workgroup>>) {
    %v = memref.load %x[%bx, %tx] : memref<?x64xi32>
    %a, %p0 = gpu.shuffle xor %v, %i16, %w32 : i32
    %va = arith.addi %v, %a : i32
    %c, %p1 = gpu.shuffle xor %va, %i8, %w32 : i32
    %vc = arith.addi %va, %c : i32
    %d, %p2 = gpu.shuffle xor %vc, %i4, %w32 : i32
    %vd = arith.addi %vc, %d : i32
    %e, %p3 = gpu.shuffle xor %vd, %i2, %w32 : i32
    %ve = arith.addi %vd, %e : i32
    %f, %p4 = gpu.shuffle xor %ve, %i1, %w32 : i32
    %vf = arith.addi %ve, %f : i32
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %first = arith.cmpi eq, %lane, %c0 : index
    scf.if %first {
      memref.store %vf, %s[%warp] : memref<2xi32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %zero = arith.cmpi eq, %tx, %c0 : index
    scf.if %zero {
      %q0 = memref.load %s[%c0] : memref<2xi32, #gpu.address_space<workgroup>>
      %q1 = memref.load %s[%c1] : memref<2xi32, #gpu.address_space<workgroup>>
      %q = arith.addi %q0, %q1 : i32
      memref.store %q, %y[%bx] : memref<?xi32>
    }
    gpu.terminator
  }
  return
}

// ----- no-barrier
// reject race: missing barrier
// why: thread 0 reads the other warp's cell without waiting for it
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<2xi32, #gpu.address_space<workgroup>>) {
    %v = memref.load %x[%bx, %tx] : memref<?x64xi32>
    %a, %p0 = gpu.shuffle xor %v, %i16, %w32 : i32
    %va = arith.addi %v, %a : i32
    %c, %p1 = gpu.shuffle xor %va, %i8, %w32 : i32
    %vc = arith.addi %va, %c : i32
    %d, %p2 = gpu.shuffle xor %vc, %i4, %w32 : i32
    %vd = arith.addi %vc, %d : i32
    %e, %p3 = gpu.shuffle xor %vd, %i2, %w32 : i32
    %ve = arith.addi %vd, %e : i32
    %f, %p4 = gpu.shuffle xor %ve, %i1, %w32 : i32
    %vf = arith.addi %ve, %f : i32
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %first = arith.cmpi eq, %lane, %c0 : index
    scf.if %first {
      memref.store %vf, %s[%warp] : memref<2xi32, #gpu.address_space<workgroup>>
    }
    %zero = arith.cmpi eq, %tx, %c0 : index
    scf.if %zero {
      %q0 = memref.load %s[%c0] : memref<2xi32, #gpu.address_space<workgroup>>
      %q1 = memref.load %s[%c1] : memref<2xi32, #gpu.address_space<workgroup>>
      %q = arith.addi %q0, %q1 : i32
      memref.store %q, %y[%bx] : memref<?xi32>
    }
    gpu.terminator
  }

// ----- shuffle-in-branch
// reject race: non-uniform shuffle
// why: only lanes whose element is positive take part in the shuffles
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<2xi32, #gpu.address_space<workgroup>>) {
    %v = memref.load %x[%bx, %tx] : memref<?x64xi32>
    %some = arith.cmpi ne, %v, %z : i32
    %va = scf.if %some -> (i32) {
      %a, %p0 = gpu.shuffle xor %v, %i16, %w32 : i32
      %t = arith.addi %v, %a : i32
      scf.yield %t : i32
    } else {
      scf.yield %v : i32
    }
    %c, %p1 = gpu.shuffle xor %va, %i8, %w32 : i32
    %vc = arith.addi %va, %c : i32
    %d, %p2 = gpu.shuffle xor %vc, %i4, %w32 : i32
    %vd = arith.addi %vc, %d : i32
    %e, %p3 = gpu.shuffle xor %vd, %i2, %w32 : i32
    %ve = arith.addi %vd, %e : i32
    %f, %p4 = gpu.shuffle xor %ve, %i1, %w32 : i32
    %vf = arith.addi %ve, %f : i32
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %first = arith.cmpi eq, %lane, %c0 : index
    scf.if %first {
      memref.store %vf, %s[%warp] : memref<2xi32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %zero = arith.cmpi eq, %tx, %c0 : index
    scf.if %zero {
      %q0 = memref.load %s[%c0] : memref<2xi32, #gpu.address_space<workgroup>>
      %q1 = memref.load %s[%c1] : memref<2xi32, #gpu.address_space<workgroup>>
      %q = arith.addi %q0, %q1 : i32
      memref.store %q, %y[%bx] : memref<?xi32>
    }
    gpu.terminator
  }

// ----- width-16
// reject numeric: shuffle width
// why: the first step has a width of 16: lanes 16 apart are never added
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<2xi32, #gpu.address_space<workgroup>>) {
    %v = memref.load %x[%bx, %tx] : memref<?x64xi32>
    %c, %p1 = gpu.shuffle xor %v, %i8, %w32 : i32
    %vc = arith.addi %v, %c : i32
    %d, %p2 = gpu.shuffle xor %vc, %i4, %w32 : i32
    %vd = arith.addi %vc, %d : i32
    %e, %p3 = gpu.shuffle xor %vd, %i2, %w32 : i32
    %ve = arith.addi %vd, %e : i32
    %f, %p4 = gpu.shuffle xor %ve, %i1, %w32 : i32
    %vf = arith.addi %ve, %f : i32
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %first = arith.cmpi eq, %lane, %c0 : index
    scf.if %first {
      memref.store %vf, %s[%warp] : memref<2xi32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %zero = arith.cmpi eq, %tx, %c0 : index
    scf.if %zero {
      %q0 = memref.load %s[%c0] : memref<2xi32, #gpu.address_space<workgroup>>
      %q1 = memref.load %s[%c1] : memref<2xi32, #gpu.address_space<workgroup>>
      %q = arith.addi %q0, %q1 : i32
      memref.store %q, %y[%bx] : memref<?xi32>
    }
    gpu.terminator
  }

// ----- second-warp-dropped
// reject numeric: accumulators dropped
// why: the second warp's partial sum is not added
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %v = memref.load %x[%bx, %tx] : memref<?x64xi32>
    %a, %p0 = gpu.shuffle xor %v, %i16, %w32 : i32
    %va = arith.addi %v, %a : i32
    %c, %p1 = gpu.shuffle xor %va, %i8, %w32 : i32
    %vc = arith.addi %va, %c : i32
    %d, %p2 = gpu.shuffle xor %vc, %i4, %w32 : i32
    %vd = arith.addi %vc, %d : i32
    %e, %p3 = gpu.shuffle xor %vd, %i2, %w32 : i32
    %ve = arith.addi %vd, %e : i32
    %f, %p4 = gpu.shuffle xor %ve, %i1, %w32 : i32
    %vf = arith.addi %ve, %f : i32
    %zero = arith.cmpi eq, %tx, %c0 : index
    scf.if %zero {
      memref.store %vf, %y[%bx] : memref<?xi32>
    }
    gpu.terminator
  }

// ----- shared-cell-not-atomic
// reject race: lost update
// why: both warps add their sum to one shared cell by load, add, store
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<1xi32, #gpu.address_space<workgroup>>) {
    %zero = arith.cmpi eq, %tx, %c0 : index
    scf.if %zero {
      memref.store %z, %s[%c0] : memref<1xi32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %v = memref.load %x[%bx, %tx] : memref<?x64xi32>
    %o = memref.load %s[%c0] : memref<1xi32, #gpu.address_space<workgroup>>
    %p = arith.addi %o, %v : i32
    memref.store %p, %s[%c0] : memref<1xi32, #gpu.address_space<workgroup>>
    gpu.barrier
    scf.if %zero {
      %q = memref.load %s[%c0] : memref<1xi32, #gpu.address_space<workgroup>>
      memref.store %q, %y[%bx] : memref<?xi32>
    }
    gpu.terminator
  }

// ----- ok-shared-atomic
// accept: atomic
// why: the same with an atomic addition of integers
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<1xi32, #gpu.address_space<workgroup>>) {
    %zero = arith.cmpi eq, %tx, %c0 : index
    scf.if %zero {
      memref.store %z, %s[%c0] : memref<1xi32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %v = memref.load %x[%bx, %tx] : memref<?x64xi32>
    %o = memref.atomic_rmw addi %v, %s[%c0] : (i32, memref<1xi32, #gpu.address_space<workgroup>>) -> i32
    gpu.barrier
    scf.if %zero {
      %q = memref.load %s[%c0] : memref<1xi32, #gpu.address_space<workgroup>>
      memref.store %q, %y[%bx] : memref<?xi32>
    }
    gpu.terminator
  }

// ----- shared-cell-not-cleared
// reject aliasing: uninitialised shared memory
// why: the shared cell is not cleared before the atomic additions
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<1xi32, #gpu.address_space<workgroup>>) {
    %zero = arith.cmpi eq, %tx, %c0 : index
    %v = memref.load %x[%bx, %tx] : memref<?x64xi32>
    %o = memref.atomic_rmw addi %v, %s[%c0] : (i32, memref<1xi32, #gpu.address_space<workgroup>>) -> i32
    gpu.barrier
    scf.if %zero {
      %q = memref.load %s[%c0] : memref<1xi32, #gpu.address_space<workgroup>>
      memref.store %q, %y[%bx] : memref<?xi32>
    }
    gpu.terminator
  }

// ----- cleared-and-added-in-one-launch
// reject race: wrong barrier scope
// why: block 0 clears the results, the others add to them: a barrier of a block does not order blocks
  %g2 = arith.muli %b, %c2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %g2, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %r = arith.divui %bx, %c2 : index
    %h = arith.remui %bx, %c2 : index
    %o = arith.muli %h, %c32 : index
    %k = arith.addi %o, %tx : index
    %lead = arith.cmpi eq, %k, %c0 : index
    scf.if %lead {
      memref.store %z, %y[%r] : memref<?xi32>
    }
    gpu.barrier
    %v = memref.load %x[%r, %k] : memref<?x64xi32>
    %q = memref.atomic_rmw addi %v, %y[%r] : (i32, memref<?xi32>) -> i32
    gpu.terminator
  }

// ----- ok-cleared-in-a-launch-before
// accept: atomic
// why: one launch clears the results, the next one adds: launches follow one another
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %z, %y[%bx] : memref<?xi32>
    gpu.terminator
  }
  %g2 = arith.muli %b, %c2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %g2, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %r = arith.divui %bx, %c2 : index
    %h = arith.remui %bx, %c2 : index
    %o = arith.muli %h, %c32 : index
    %k = arith.addi %o, %tx : index
    %v = memref.load %x[%r, %k] : memref<?x64xi32>
    %q = memref.atomic_rmw addi %v, %y[%r] : (i32, memref<?xi32>) -> i32
    gpu.terminator
  }

// ----- ok-down-shuffles
// accept: shuffles
// why: shuffles down by 16, 8, 4, 2, 1: lane 0 has the sum, the others something else that nobody reads
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<2xi32, #gpu.address_space<workgroup>>) {
    %v = memref.load %x[%bx, %tx] : memref<?x64xi32>
    %a, %p0 = gpu.shuffle down %v, %i16, %w32 : i32
    %va = arith.addi %v, %a : i32
    %c, %p1 = gpu.shuffle down %va, %i8, %w32 : i32
    %vc = arith.addi %va, %c : i32
    %d, %p2 = gpu.shuffle down %vc, %i4, %w32 : i32
    %vd = arith.addi %vc, %d : i32
    %e, %p3 = gpu.shuffle down %vd, %i2, %w32 : i32
    %ve = arith.addi %vd, %e : i32
    %f, %p4 = gpu.shuffle down %ve, %i1, %w32 : i32
    %vf = arith.addi %ve, %f : i32
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %first = arith.cmpi eq, %lane, %c0 : index
    scf.if %first {
      memref.store %vf, %s[%warp] : memref<2xi32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %zero = arith.cmpi eq, %tx, %c0 : index
    scf.if %zero {
      %q0 = memref.load %s[%c0] : memref<2xi32, #gpu.address_space<workgroup>>
      %q1 = memref.load %s[%c1] : memref<2xi32, #gpu.address_space<workgroup>>
      %q = arith.addi %q1, %q0 : i32
      memref.store %q, %y[%bx] : memref<?xi32>
    }
    gpu.terminator
  }
