// y[i][j] = x[i][j] + 1 and s[i] = the largest element of row i (0 for empty rows), integers.
func.func @main(%x: memref<?x?xi32> {kc.dims = ["M", "N"]}, %y: memref<?x?xi32> {kc.dims = ["M", "N"], kc.out}, %s: memref<?xi32> {kc.dims = ["M"], kc.out}) attributes {kc.sizes = {M = array<i64: 0, 20>, N = array<i64: 0, 20>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xi32>
  %n = memref.dim %x, %c1 : memref<?x?xi32>
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // common above
  scf.for %i = %c0 to %m step %c1 {
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z) -> (i32) {
      %v = memref.load %x[%i, %j] : memref<?x?xi32>
      %w = arith.addi %v, %one : i32
      memref.store %w, %y[%i, %j] : memref<?x?xi32>
      %first = arith.cmpi eq, %j, %c0 : index
      %g = arith.maxsi %a, %v : i32
      %b = arith.select %first, %v, %g : i32
      scf.yield %b : i32
    }
    memref.store %r, %s[%i] : memref<?xi32>
  }
  return
}

// ----- affine-parallel-columns
// reject determinism: race
// why: affine.parallel over both dimensions, with a load, max and store on the row's cell
  scf.for %i = %c0 to %m step %c1 {
    %some = arith.cmpi ne, %n, %c0 : index
    %f = scf.if %some -> (i32) {
      %q = memref.load %x[%i, %c0] : memref<?x?xi32>
      scf.yield %q : i32
    } else {
      scf.yield %z : i32
    }
    memref.store %f, %s[%i] : memref<?xi32>
  }
  affine.parallel (%i, %j) = (0, 0) to (symbol(%m), symbol(%n)) {
    %v = memref.load %x[%i, %j] : memref<?x?xi32>
    %w = arith.addi %v, %one : i32
    memref.store %w, %y[%i, %j] : memref<?x?xi32>
    %a = memref.load %s[%i] : memref<?xi32>
    %g = arith.maxsi %a, %v : i32
    memref.store %g, %s[%i] : memref<?xi32>
  }
// schedule
  scf.for %i = %c0 to %m step %c1 {
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z) -> (i32) {
      %v = memref.load %x[%i, %j] : memref<?x?xi32>
      %w = arith.addi %v, %one : i32
      memref.store %w, %y[%i, %j] : memref<?x?xi32>
      scf.yield %v : i32
    }
    memref.store %r, %s[%i] : memref<?xi32>
  }

// ----- forall-columns
// reject determinism: race
// why: scf.forall over both dimensions, storing the maximum so far of the row
  scf.for %i = %c0 to %m step %c1 {
    memref.store %z, %s[%i] : memref<?xi32>
  }
  scf.forall (%i, %j) in (%m, %n) {
    %v = memref.load %x[%i, %j] : memref<?x?xi32>
    %w = arith.addi %v, %one : i32
    memref.store %w, %y[%i, %j] : memref<?x?xi32>
    %first = arith.cmpi eq, %j, %c0 : index
    %a = memref.load %s[%i] : memref<?xi32>
    %g = arith.maxsi %a, %v : i32
    %b = arith.select %first, %v, %g : i32
    memref.store %b, %s[%i] : memref<?xi32>
  }
// schedule
  scf.for %i = %c0 to %m step %c1 {
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z) -> (i32) {
      %v = memref.load %x[%i, %j] : memref<?x?xi32>
      %w = arith.addi %v, %one : i32
      memref.store %w, %y[%i, %j] : memref<?x?xi32>
      scf.yield %v : i32
    }
    memref.store %r, %s[%i] : memref<?xi32>
  }

// ----- ok-atomic-max
// accept: atomic
// why: the maxima by an atomic maximum, started from the first element before the loop
  scf.for %i = %c0 to %m step %c1 {
    %some = arith.cmpi ne, %n, %c0 : index
    %f = scf.if %some -> (i32) {
      %q = memref.load %x[%i, %c0] : memref<?x?xi32>
      scf.yield %q : i32
    } else {
      scf.yield %z : i32
    }
    memref.store %f, %s[%i] : memref<?xi32>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%m, %n) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x?xi32>
    %w = arith.addi %v, %one : i32
    memref.store %w, %y[%i, %j] : memref<?x?xi32>
    %o = memref.atomic_rmw maxs %v, %s[%i] : (i32, memref<?xi32>) -> i32
    scf.reduce
  }

// ----- ok-nested-parallel-reduce
// accept: parallel
// why: a parallel loop over rows, in each a parallel maximum of integers, which may be combined in any order
  %min = arith.constant -2147483648 : i32
  scf.parallel (%i) = (%c0) to (%m) step (%c1) {
    %r = scf.parallel (%j) = (%c0) to (%n) step (%c1) init (%min) -> i32 {
      %v = memref.load %x[%i, %j] : memref<?x?xi32>
      %w = arith.addi %v, %one : i32
      memref.store %w, %y[%i, %j] : memref<?x?xi32>
      scf.reduce(%v : i32) {
      ^bb0(%a: i32, %b: i32):
        %g = arith.maxsi %a, %b : i32
        scf.reduce.return %g : i32
      }
    }
    %none = arith.cmpi eq, %n, %c0 : index
    %q = arith.select %none, %z, %r : i32
    memref.store %q, %s[%i] : memref<?xi32>
    scf.reduce
  }

// ----- reduce-by-subtraction
// reject determinism: race
// why: the reduction subtracts, which may not be combined in another order; the maximum is only right for the serial one
  scf.for %i = %c0 to %m step %c1 {
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z) -> (i32) {
      %v = memref.load %x[%i, %j] : memref<?x?xi32>
      %w = arith.addi %v, %one : i32
      memref.store %w, %y[%i, %j] : memref<?x?xi32>
      %first = arith.cmpi eq, %j, %c0 : index
      %g = arith.maxsi %a, %v : i32
      %b = arith.select %first, %v, %g : i32
      scf.yield %b : i32
    }
    %d = scf.parallel (%j) = (%c0) to (%n) step (%c1) init (%r) -> i32 {
      %v = memref.load %x[%i, %j] : memref<?x?xi32>
      scf.reduce(%v : i32) {
      ^bb0(%a: i32, %b: i32):
        %g = arith.subi %a, %b : i32
        scf.reduce.return %g : i32
      }
    }
    %back = scf.for %j = %c0 to %n step %c1 iter_args(%a = %d) -> (i32) {
      %v = memref.load %x[%i, %j] : memref<?x?xi32>
      %b = arith.addi %a, %v : i32
      scf.yield %b : i32
    }
    memref.store %back, %s[%i] : memref<?xi32>
  }
// schedule
  scf.for %i = %c0 to %m step %c1 {
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z) -> (i32) {
      %v = memref.load %x[%i, %j] : memref<?x?xi32>
      %w = arith.addi %v, %one : i32
      memref.store %w, %y[%i, %j] : memref<?x?xi32>
      %b = arith.subi %a, %v : i32
      scf.yield %b : i32
    }
    memref.store %r, %s[%i] : memref<?xi32>
  }

// ----- race-when-square
// reject determinism: race
// why: where M = N, iteration (i, j) also stores y[j][i]: right values, put there before the owner's
// witness: {"sizes": {"M": 6, "N": 6}}
  %sq = arith.cmpi eq, %m, %n : index
  scf.for %i = %c0 to %m step %c1 {
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%a = %z) -> (i32) {
      %v = memref.load %x[%i, %j] : memref<?x?xi32>
      %first = arith.cmpi eq, %j, %c0 : index
      %g = arith.maxsi %a, %v : i32
      %b = arith.select %first, %v, %g : i32
      scf.yield %b : i32
    }
    memref.store %r, %s[%i] : memref<?xi32>
  }
  scf.parallel (%i) = (%c0) to (%m) step (%c1) {
    scf.for %j = %c0 to %n step %c1 {
      %up = arith.cmpi ugt, %j, %i : index
      %both = arith.andi %up, %sq : i1
      scf.if %both {
        %o = memref.load %x[%j, %i] : memref<?x?xi32>
        memref.store %o, %y[%j, %i] : memref<?x?xi32>
      }
      %v = memref.load %x[%i, %j] : memref<?x?xi32>
      %w = arith.addi %v, %one : i32
      memref.store %w, %y[%i, %j] : memref<?x?xi32>
    }
    scf.reduce
  }
// schedule
  memref.copy %x, %y : memref<?x?xi32> to memref<?x?xi32>
  scf.for %i = %c0 to %m step %c1 {
    memref.store %z, %s[%i] : memref<?xi32>
  }
