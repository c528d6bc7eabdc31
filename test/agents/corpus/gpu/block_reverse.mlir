// y[b][i] = x[b][63 - i]: each block of 64 threads turns its row round in shared memory.
func.func @main(%x: memref<?x64xf32> {kc.dims = ["B"]}, %y: memref<?x64xf32> {kc.dims = ["B"], kc.out}) attributes {kc.sizes = {B = array<i64: 1, 3>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c63 = arith.constant 63 : index
  %c64 = arith.constant 64 : index
  %b = memref.dim %x, %c0 : memref<?x64xf32>
  // common above
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) {
    %v = memref.load %x[%bx, %tx] : memref<?x64xf32>
    memref.store %v, %s[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %j = arith.subi %c63, %tx : index
    %w = memref.load %s[%j] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %w, %y[%bx, %tx] : memref<?x64xf32>
    gpu.terminator
  }
  return
}

// ----- no-barrier
// reject race: missing barrier
// why: the row is read back before all threads have written it
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) {
    %v = memref.load %x[%bx, %tx] : memref<?x64xf32>
    memref.store %v, %s[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    %j = arith.subi %c63, %tx : index
    %w = memref.load %s[%j] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %w, %y[%bx, %tx] : memref<?x64xf32>
    gpu.terminator
  }

// ----- barrier-in-half-the-block
// reject race: barrier in divergent code
// why: only threads below 32 come to the barrier
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) {
    %v = memref.load %x[%bx, %tx] : memref<?x64xf32>
    memref.store %v, %s[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    %low = arith.cmpi ult, %tx, %c32 : index
    scf.if %low {
      gpu.barrier
    }
    %j = arith.subi %c63, %tx : index
    %w = memref.load %s[%j] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %w, %y[%bx, %tx] : memref<?x64xf32>
    gpu.terminator
  }

// ----- barrier-by-lane
// reject race: barrier in divergent code
// why: odd lanes take another branch, with a barrier of its own
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) {
    %v = memref.load %x[%bx, %tx] : memref<?x64xf32>
    %odd = arith.andi %tx, %c1 : index
    %p = arith.cmpi eq, %odd, %c1 : index
    scf.if %p {
      memref.store %v, %s[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
    } else {
      memref.store %v, %s[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
    }
    %j = arith.subi %c63, %tx : index
    %w = memref.load %s[%j] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %w, %y[%bx, %tx] : memref<?x64xf32>
    gpu.terminator
  }

// ----- one-thread-short
// reject aliasing: uninitialised shared memory
// why: thread 63 stores nothing: element 0 of the result is what shared memory held
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) {
    %v = memref.load %x[%bx, %tx] : memref<?x64xf32>
    %in = arith.cmpi ult, %tx, %c63 : index
    scf.if %in {
      memref.store %v, %s[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %j = arith.subi %c63, %tx : index
    %w = memref.load %s[%j] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %w, %y[%bx, %tx] : memref<?x64xf32>
    gpu.terminator
  }

// ----- index-64-minus
// reject aliasing: off by one
// why: 64 - i instead of 63 - i: thread 0 reads behind the shared buffer
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) {
    %v = memref.load %x[%bx, %tx] : memref<?x64xf32>
    memref.store %v, %s[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %j = arith.subi %c64, %tx : index
    %w = memref.load %s[%j] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %w, %y[%bx, %tx] : memref<?x64xf32>
    gpu.terminator
  }

// ----- overlapping-views
// reject race: overlapping shared buffers
// why: two views of the dynamic shared memory overlap by one element: the copy of the lower half writes into the upper one
  %bytes = arith.constant 1024 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) dynamic_shared_memory_size %bytes {
    %d = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %o = arith.constant 124 : index
    %lo = memref.view %d[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
    %hi = memref.view %d[%o][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
    %v = memref.load %x[%bx, %tx] : memref<?x64xf32>
    %low = arith.cmpi ult, %tx, %c32 : index
    scf.if %low {
      memref.store %v, %lo[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
    } else {
      %t = arith.subi %tx, %c32 : index
      memref.store %v, %hi[%t] : memref<32xf32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %j = arith.subi %c63, %tx : index
    %jl = arith.cmpi ult, %j, %c32 : index
    %w = scf.if %jl -> (f32) {
      %q = memref.load %lo[%j] : memref<32xf32, #gpu.address_space<workgroup>>
      scf.yield %q : f32
    } else {
      %jt = arith.subi %j, %c32 : index
      %q = memref.load %hi[%jt] : memref<32xf32, #gpu.address_space<workgroup>>
      scf.yield %q : f32
    }
    memref.store %w, %y[%bx, %tx] : memref<?x64xf32>
    gpu.terminator
  }

// ----- ok-disjoint-views
// accept: shared memory
// why: the same with views that do not overlap
  %bytes = arith.constant 1024 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) dynamic_shared_memory_size %bytes {
    %d = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %o = arith.constant 128 : index
    %lo = memref.view %d[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
    %hi = memref.view %d[%o][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<32xf32, #gpu.address_space<workgroup>>
    %v = memref.load %x[%bx, %tx] : memref<?x64xf32>
    %low = arith.cmpi ult, %tx, %c32 : index
    scf.if %low {
      memref.store %v, %lo[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
    } else {
      %t = arith.subi %tx, %c32 : index
      memref.store %v, %hi[%t] : memref<32xf32, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %j = arith.subi %c63, %tx : index
    %jl = arith.cmpi ult, %j, %c32 : index
    %w = scf.if %jl -> (f32) {
      %q = memref.load %lo[%j] : memref<32xf32, #gpu.address_space<workgroup>>
      scf.yield %q : f32
    } else {
      %jt = arith.subi %j, %c32 : index
      %q = memref.load %hi[%jt] : memref<32xf32, #gpu.address_space<workgroup>>
      scf.yield %q : f32
    }
    memref.store %w, %y[%bx, %tx] : memref<?x64xf32>
    gpu.terminator
  }

// ----- dynamic-shared-too-small
// reject aliasing: shared memory size
// why: the launch asks for 252 bytes of dynamic shared memory, the kernel uses 256
  %bytes = arith.constant 252 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) dynamic_shared_memory_size %bytes {
    %d = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %s = memref.view %d[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    %v = memref.load %x[%bx, %tx] : memref<?x64xf32>
    memref.store %v, %s[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %j = arith.subi %c63, %tx : index
    %w = memref.load %s[%j] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %w, %y[%bx, %tx] : memref<?x64xf32>
    gpu.terminator
  }

// ----- grid-one-short
// reject numeric: wrong grid
// why: one block less than rows
  %g0 = arith.subi %b, %c1 : index
  %g = arith.maxui %g0, %c1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %g, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %j = arith.subi %c63, %tx : index
    %w = memref.load %x[%bx, %j] : memref<?x64xf32>
    memref.store %w, %y[%bx, %tx] : memref<?x64xf32>
    gpu.terminator
  }

// ----- half-the-threads
// reject numeric: wrong block
// why: 32 threads per row of 64
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %j = arith.subi %c63, %tx : index
    %w = memref.load %x[%bx, %j] : memref<?x64xf32>
    memref.store %w, %y[%bx, %tx] : memref<?x64xf32>
    gpu.terminator
  }

// ----- ok-no-shared
// accept: shared memory left out
// why: the reversed element is read from global memory directly
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %b, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %j = arith.subi %c63, %tx : index
    %w = memref.load %x[%bx, %j] : memref<?x64xf32>
    memref.store %w, %y[%bx, %tx] : memref<?x64xf32>
    gpu.terminator
  }

// ----- shared-reused-for-two-rows
// reject race: missing barrier
// why: one block does two rows with one shared buffer: the second row is stored before all have read the first
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<64xf32, #gpu.address_space<workgroup>>) {
    scf.for %r = %c0 to %b step %c1 {
      %v = memref.load %x[%r, %tx] : memref<?x64xf32>
      memref.store %v, %s[%tx] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %j = arith.subi %c63, %tx : index
      %w = memref.load %s[%j] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %w, %y[%r, %tx] : memref<?x64xf32>
    }
    gpu.terminator
  }

// ----- ok-two-buffers-one-barrier
// accept: shared memory
// why: rows alternate between two buffers: one barrier per row is enough
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) workgroup(%s : memref<2x64xf32, #gpu.address_space<workgroup>>) {
    scf.for %r = %c0 to %b step %c1 {
      %h = arith.andi %r, %c1 : index
      %v = memref.load %x[%r, %tx] : memref<?x64xf32>
      memref.store %v, %s[%h, %tx] : memref<2x64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %j = arith.subi %c63, %tx : index
      %w = memref.load %s[%h, %j] : memref<2x64xf32, #gpu.address_space<workgroup>>
      memref.store %w, %y[%r, %tx] : memref<?x64xf32>
    }
    gpu.terminator
  }
