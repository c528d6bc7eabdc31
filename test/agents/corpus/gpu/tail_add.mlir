// y = x + x, one thread per element, in blocks of 32.
func.func @main(%x: memref<?xi32> {kc.dims = ["N"]}, %y: memref<?xi32> {kc.dims = ["N"], kc.out}) attributes {kc.sizes = {N = array<i64: 1, 100>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %n = memref.dim %x, %c0 : memref<?xi32>
  %n31 = arith.addi %n, %c31 : index
  %g = arith.divui %n31, %c32 : index
  // common above
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %g, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %o = arith.muli %bx, %c32 : index
    %i = arith.addi %o, %tx : index
    %in = arith.cmpi ult, %i, %n : index
    scf.if %in {
      %v = memref.load %x[%i] : memref<?xi32>
      %w = arith.addi %v, %v : i32
      memref.store %w, %y[%i] : memref<?xi32>
    }
    gpu.terminator
  }
  return
}

// ----- unguarded
// reject aliasing: unguarded tail
// why: threads beyond N store too
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %g, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %o = arith.muli %bx, %c32 : index
    %i = arith.addi %o, %tx : index
    %v = memref.load %x[%i] : memref<?xi32>
    %w = arith.addi %v, %v : i32
    memref.store %w, %y[%i] : memref<?xi32>
    gpu.terminator
  }

// ----- load-unguarded
// reject aliasing: unguarded tail
// why: only the store is guarded; the load reads behind the buffer
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %g, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %o = arith.muli %bx, %c32 : index
    %i = arith.addi %o, %tx : index
    %in = arith.cmpi ult, %i, %n : index
    %v = memref.load %x[%i] : memref<?xi32>
    %w = arith.addi %v, %v : i32
    scf.if %in {
      memref.store %w, %y[%i] : memref<?xi32>
    }
    gpu.terminator
  }

// ----- less-or-equal
// reject aliasing: off by one
// why: the guard lets i = N through: seen where 32 does not divide N
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %g, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %o = arith.muli %bx, %c32 : index
    %i = arith.addi %o, %tx : index
    %in = arith.cmpi ule, %i, %n : index
    scf.if %in {
      %v = memref.load %x[%i] : memref<?xi32>
      %w = arith.addi %v, %v : i32
      memref.store %w, %y[%i] : memref<?xi32>
    }
    gpu.terminator
  }

// ----- grid-rounded-down
// reject numeric: wrong grid
// why: N / 32 blocks, at least one: the tail is never computed
  %h0 = arith.divui %n, %c32 : index
  %h = arith.maxui %h0, %c1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %h, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %o = arith.muli %bx, %c32 : index
    %i = arith.addi %o, %tx : index
    %in = arith.cmpi ult, %i, %n : index
    scf.if %in {
      %v = memref.load %x[%i] : memref<?xi32>
      %w = arith.addi %v, %v : i32
      memref.store %w, %y[%i] : memref<?xi32>
    }
    gpu.terminator
  }

// ----- ok-grid-stride
// accept: grid stride
// why: one block walks over all elements
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    scf.for %i = %tx to %n step %c32 {
      %v = memref.load %x[%i] : memref<?xi32>
      %w = arith.addi %v, %v : i32
      memref.store %w, %y[%i] : memref<?xi32>
    }
    gpu.terminator
  }

// ----- writes-input
// reject aliasing: in-place input
// why: the sum goes into the input first, and the input is put back after a barrier
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %g, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %o = arith.muli %bx, %c32 : index
    %i = arith.addi %o, %tx : index
    %in = arith.cmpi ult, %i, %n : index
    scf.if %in {
      %v = memref.load %x[%i] : memref<?xi32>
      %w = arith.addi %v, %v : i32
      memref.store %w, %x[%i] : memref<?xi32>
      %u = memref.load %x[%i] : memref<?xi32>
      memref.store %u, %y[%i] : memref<?xi32>
      memref.store %v, %x[%i] : memref<?xi32>
    }
    gpu.terminator
  }

// ----- wrong-from-65-on
// reject numeric: hard-coded shape
// why: the third block and those after it forget to double
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %g, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %o = arith.muli %bx, %c32 : index
    %i = arith.addi %o, %tx : index
    %in = arith.cmpi ult, %i, %n : index
    scf.if %in {
      %v = memref.load %x[%i] : memref<?xi32>
      %w = arith.addi %v, %v : i32
      %late = arith.cmpi ugt, %bx, %c1 : index
      %u = arith.select %late, %v, %w : i32
      memref.store %u, %y[%i] : memref<?xi32>
    }
    gpu.terminator
  }
