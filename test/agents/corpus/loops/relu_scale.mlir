// y[i] = max(x[i], 0) * s + b[i] for 32-bit floats; s a scalar.
func.func @main(%x: memref<?xf32> {kc.dims = ["N"]}, %b: memref<?xf32> {kc.dims = ["N"]}, %s: f32, %y: memref<?xf32> {kc.dims = ["N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %z = arith.constant 0.0 : f32
  // common above
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = memref.load %b[%i] : memref<?xf32>
    %r = arith.maximumf %v, %z : f32
    %p = arith.mulf %r, %s : f32
    %q = arith.addf %p, %w : f32
    memref.store %q, %y[%i] : memref<?xf32>
  }
  return
}

// ----- ok-masked-store
// accept: masked tail
// why: masks made by vector.create_mask for loads and the store
  %c8 = arith.constant 8 : index
  %zv = arith.constant dense<0.0> : vector<8xf32>
  %sv = vector.broadcast %s : f32 to vector<8xf32>
  scf.for %i = %c0 to %n step %c8 {
    %left = arith.subi %n, %i : index
    %k = vector.create_mask %left : vector<8xi1>
    %v = vector.maskedload %x[%i], %k, %zv : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %w = vector.maskedload %b[%i], %k, %zv : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %r = arith.maximumf %v, %zv : vector<8xf32>
    %p = arith.mulf %r, %sv : vector<8xf32>
    %q = arith.addf %p, %w : vector<8xf32>
    vector.maskedstore %y[%i], %k, %q : memref<?xf32>, vector<8xi1>, vector<8xf32>
  }

// ----- mask-one-too-many
// reject aliasing/bounds: out-of-bounds write
// why: the mask has one lane too many, except in the last full vector
// witness: {"sizes": {"N": 9}, "guard": true}
  %c8 = arith.constant 8 : index
  %zv = arith.constant dense<0.0> : vector<8xf32>
  %sv = vector.broadcast %s : f32 to vector<8xf32>
  scf.for %i = %c0 to %n step %c8 {
    %left = arith.subi %n, %i : index
    %left1 = arith.addi %left, %c1 : index
    %k = vector.create_mask %left1 : vector<8xi1>
    %v = vector.maskedload %x[%i], %k, %zv : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %w = vector.maskedload %b[%i], %k, %zv : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    %r = arith.maximumf %v, %zv : vector<8xf32>
    %p = arith.mulf %r, %sv : vector<8xf32>
    %q = arith.addf %p, %w : vector<8xf32>
    vector.maskedstore %y[%i], %k, %q : memref<?xf32>, vector<8xi1>, vector<8xf32>
  }

// ----- ok-while
// accept: loop form
// why: scf.while with the index carried along
  %e = scf.while (%i = %c0) : (index) -> index {
    %go = arith.cmpi ult, %i, %n : index
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    %v = memref.load %x[%i] : memref<?xf32>
    %w = memref.load %b[%i] : memref<?xf32>
    %r = arith.maximumf %z, %v : f32
    %p = arith.mulf %s, %r : f32
    %q = arith.addf %w, %p : f32
    memref.store %q, %y[%i] : memref<?xf32>
    %i1 = arith.addi %i, %c1 : index
    scf.yield %i1 : index
  }

// ----- while-not-equal-by-two
// reject resource: endless loop
// why: counts in twos until the index is N: for odd N it never is, which a break-out at N + 1 hides for N below 40
// witness: {"sizes": {"N": 41}}
  %c2 = arith.constant 2 : index
  %c40 = arith.constant 40 : index
  %small = arith.cmpi ult, %n, %c40 : index
  %n1 = arith.addi %n, %c1 : index
  %e = scf.while (%i = %c0) : (index) -> index {
    %a = arith.cmpi ne, %i, %n : index
    %b1 = arith.cmpi ne, %i, %n1 : index
    %ns = arith.cmpi uge, %n, %c40 : index
    %c = arith.ori %b1, %ns : i1
    %go = arith.andi %a, %c : i1
    scf.condition(%go) %i : index
  } do {
  ^bb0(%i: index):
    %end0 = arith.addi %i, %c2 : index
    %end = arith.minui %end0, %n : index
    scf.for %j = %i to %end step %c1 {
      %v = memref.load %x[%j] : memref<?xf32>
      %w = memref.load %b[%j] : memref<?xf32>
      %r = arith.maximumf %z, %v : f32
      %p = arith.mulf %s, %r : f32
      %q = arith.addf %w, %p : f32
      memref.store %q, %y[%j] : memref<?xf32>
    }
    %i1 = arith.addi %i, %c2 : index
    scf.yield %i1 : index
  }

// ----- ok-blocks-cf
// accept: loop form
// why: branches between blocks instead of structured loops
  cf.br ^head(%c0 : index)
^head(%i: index):
  %go = arith.cmpi ult, %i, %n : index
  cf.cond_br %go, ^body, ^end
^body:
  %v = memref.load %x[%i] : memref<?xf32>
  %w = memref.load %b[%i] : memref<?xf32>
  %r = arith.maximumf %v, %z : f32
  %p = arith.mulf %r, %s : f32
  %q = arith.addf %p, %w : f32
  memref.store %q, %y[%i] : memref<?xf32>
  %i1 = arith.addi %i, %c1 : index
  cf.br ^head(%i1 : index)
^end:
  return

// ----- ok-forall
// accept: parallel
// why: scf.forall over the elements
  scf.forall (%i) in (%n) {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = memref.load %b[%i] : memref<?xf32>
    %r = arith.maximumf %v, %z : f32
    %p = arith.mulf %r, %s : f32
    %q = arith.addf %p, %w : f32
    memref.store %q, %y[%i] : memref<?xf32>
  }

// ----- ok-affine-parallel
// accept: parallel
// why: affine.parallel by steps of 4 with an inner affine.if at the end
  affine.parallel (%i) = (0) to (symbol(%n)) step (4) {
    affine.for %k = 0 to 4 {
      affine.if affine_set<(d0, d1)[s0] : (-d0 - d1 + s0 - 1 >= 0)>(%i, %k)[%n] {
        %v = affine.load %x[%i + %k] : memref<?xf32>
        %w = affine.load %b[%i + %k] : memref<?xf32>
        %r = arith.maximumf %v, %z : f32
        %p = arith.mulf %r, %s : f32
        %q = arith.addf %p, %w : f32
        affine.store %q, %y[%i + %k] : memref<?xf32>
      }
    }
  }

// ----- affine-if-one-less
// reject numeric: remainder
// why: the condition stops one early where the last group is full
// witness: {"sizes": {"N": 8}}
  affine.parallel (%i) = (0) to (symbol(%n)) step (4) {
    affine.for %k = 0 to 4 {
      affine.if affine_set<(d0, d1)[s0] : (-d0 - d1 + s0 - 2 >= 0)>(%i, %k)[%n] {
        %v = affine.load %x[%i + %k] : memref<?xf32>
        %w = affine.load %b[%i + %k] : memref<?xf32>
        %r = arith.maximumf %v, %z : f32
        %p = arith.mulf %r, %s : f32
        %q = arith.addf %p, %w : f32
        affine.store %q, %y[%i + %k] : memref<?xf32>
      } else {
        affine.if affine_set<(d0)[s0] : (s0 mod 4 - 1 >= 0)>(%i)[%n] {
          affine.if affine_set<(d0, d1)[s0] : (-d0 - d1 + s0 - 1 >= 0)>(%i, %k)[%n] {
            %v = affine.load %x[%i + %k] : memref<?xf32>
            %w = affine.load %b[%i + %k] : memref<?xf32>
            %r = arith.maximumf %v, %z : f32
            %p = arith.mulf %r, %s : f32
            %q = arith.addf %p, %w : f32
            affine.store %q, %y[%i + %k] : memref<?xf32>
          }
        }
      }
    }
  }

// ----- ok-helper-on-views
// accept: calls
// why: a private helper called on both halves as strided views
func.func private @piece(%x: memref<?xf32, strided<[1], offset: ?>>, %b: memref<?xf32, strided<[1], offset: ?>>, %s: f32, %y: memref<?xf32, strided<[1], offset: ?>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32, strided<[1], offset: ?>>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32, strided<[1], offset: ?>>
    %w = memref.load %b[%i] : memref<?xf32, strided<[1], offset: ?>>
    %r = arith.maximumf %v, %z : f32
    %p = arith.mulf %r, %s : f32
    %q = arith.addf %p, %w : f32
    memref.store %q, %y[%i] : memref<?xf32, strided<[1], offset: ?>>
  }
  return
}
func.func @main ... {
  %c2 = arith.constant 2 : index
  %h = arith.divui %n, %c2 : index
  %g = arith.subi %n, %h : index
  %x0 = memref.subview %x[%c0] [%h] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  %x1 = memref.subview %x[%h] [%g] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  %b0 = memref.subview %b[%c0] [%h] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  %b1 = memref.subview %b[%h] [%g] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  %y0 = memref.subview %y[%c0] [%h] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  %y1 = memref.subview %y[%h] [%g] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  func.call @piece(%x1, %b1, %s, %y1) : (memref<?xf32, strided<[1], offset: ?>>, memref<?xf32, strided<[1], offset: ?>>, f32, memref<?xf32, strided<[1], offset: ?>>) -> ()
  func.call @piece(%x0, %b0, %s, %y0) : (memref<?xf32, strided<[1], offset: ?>>, memref<?xf32, strided<[1], offset: ?>>, f32, memref<?xf32, strided<[1], offset: ?>>) -> ()
  return
}

// ----- ok-byte-scratch
// accept: memory
// why: a buffer of bytes taken as floats by memref.view
  %c4 = arith.constant 4 : index
  %nb = arith.muli %n, %c4 : index
  %t = memref.alloc(%nb) : memref<?xi8>
  %f = memref.view %t[%c0][%n] : memref<?xi8> to memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %r = arith.maximumf %v, %z : f32
    memref.store %r, %f[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %r = memref.load %f[%i] : memref<?xf32>
    %w = memref.load %b[%i] : memref<?xf32>
    %p = arith.mulf %r, %s : f32
    %q = arith.addf %p, %w : f32
    memref.store %q, %y[%i] : memref<?xf32>
  }
  memref.dealloc %t : memref<?xi8>

// ----- byte-scratch-too-short
// reject aliasing/bounds: out-of-bounds write
// why: the buffer of bytes has 4N - 1 of them from N = 17 on
// witness: {"sizes": {"N": 33}, "guard": true}
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %nb0 = arith.muli %n, %c4 : index
  %many = arith.cmpi ugt, %n, %c16 : index
  %nb1 = arith.subi %nb0, %c1 : index
  %nb = arith.select %many, %nb1, %nb0 : index
  %t = memref.alloc(%nb) : memref<?xi8>
  %f = memref.view %t[%c0][%n] : memref<?xi8> to memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %r = arith.maximumf %v, %z : f32
    memref.store %r, %f[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %r = memref.load %f[%i] : memref<?xf32>
    %w = memref.load %b[%i] : memref<?xf32>
    %p = arith.mulf %r, %s : f32
    %q = arith.addf %p, %w : f32
    memref.store %q, %y[%i] : memref<?xf32>
  }
  memref.dealloc %t : memref<?xi8>

// ----- ok-interleaved-pairs
// accept: vectorisation
// why: deinterleaves 8 into twice 4, computes, and interleaves again; the rest one by one
  %c8 = arith.constant 8 : index
  %q8 = arith.divui %n, %c8 : index
  %e = arith.muli %q8, %c8 : index
  %zv = arith.constant dense<0.0> : vector<4xf32>
  %sv = vector.broadcast %s : f32 to vector<4xf32>
  scf.for %i = %c0 to %e step %c8 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<8xf32>
    %w = vector.load %b[%i] : memref<?xf32>, vector<8xf32>
    %va, %vb = vector.deinterleave %v : vector<8xf32> -> vector<4xf32>
    %wa, %wb = vector.deinterleave %w : vector<8xf32> -> vector<4xf32>
    %ra = arith.maximumf %va, %zv : vector<4xf32>
    %rb = arith.maximumf %vb, %zv : vector<4xf32>
    %pa = arith.mulf %ra, %sv : vector<4xf32>
    %pb = arith.mulf %rb, %sv : vector<4xf32>
    %qa = arith.addf %pa, %wa : vector<4xf32>
    %qb = arith.addf %pb, %wb : vector<4xf32>
    %q = vector.interleave %qa, %qb : vector<4xf32> -> vector<8xf32>
    vector.store %q, %y[%i] : memref<?xf32>, vector<8xf32>
  }
  scf.for %i = %e to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = memref.load %b[%i] : memref<?xf32>
    %r = arith.maximumf %v, %z : f32
    %p = arith.mulf %r, %s : f32
    %q = arith.addf %p, %w : f32
    memref.store %q, %y[%i] : memref<?xf32>
  }

// ----- ok-gathered-backwards
// accept: vectorisation
// why: gathers with a mask from behind, and scatters there
  %c4 = arith.constant 4 : index
  %zv = arith.constant dense<0.0> : vector<4xf32>
  %sv = vector.broadcast %s : f32 to vector<4xf32>
  %st = arith.constant dense<[0, -1, -2, -3]> : vector<4xi32>
  scf.for %i = %c0 to %n step %c4 {
    %left = arith.subi %n, %i : index
    %last = arith.subi %left, %c1 : index
    %k = vector.create_mask %left : vector<4xi1>
    %v = vector.gather %x[%last] [%st], %k, %zv : memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    %w = vector.gather %b[%last] [%st], %k, %zv : memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    %r = arith.maximumf %v, %zv : vector<4xf32>
    %p = arith.mulf %r, %sv : vector<4xf32>
    %q = arith.addf %p, %w : vector<4xf32>
    vector.scatter %y[%last] [%st], %k, %q : memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>
  }

// ----- gathered-without-mask
// reject aliasing/bounds: out-of-bounds read
// why: the gather reads all four lanes, also those before the start of the buffer; only the scatter is masked
// unchecked: the harness has no page before the buffers
// witness: {"sizes": {"N": 5}}
  %c4 = arith.constant 4 : index
  %zv = arith.constant dense<0.0> : vector<4xf32>
  %all = arith.constant dense<true> : vector<4xi1>
  %sv = vector.broadcast %s : f32 to vector<4xf32>
  %st = arith.constant dense<[0, -1, -2, -3]> : vector<4xi32>
  scf.for %i = %c0 to %n step %c4 {
    %left = arith.subi %n, %i : index
    %last = arith.subi %left, %c1 : index
    %k = vector.create_mask %left : vector<4xi1>
    %v = vector.gather %x[%last] [%st], %all, %zv : memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    %w = vector.gather %b[%last] [%st], %k, %zv : memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    %r = arith.maximumf %v, %zv : vector<4xf32>
    %p = arith.mulf %r, %sv : vector<4xf32>
    %q = arith.addf %p, %w : vector<4xf32>
    vector.scatter %y[%last] [%st], %k, %q : memref<?xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>
  }

// ----- in-bounds-claimed
// reject aliasing/bounds: out-of-bounds read
// why: the transfer says in_bounds, which the last vector is not
// witness: {"sizes": {"N": 5}, "guard": true}
  %c4 = arith.constant 4 : index
  %zv = arith.constant dense<0.0> : vector<4xf32>
  %sv = vector.broadcast %s : f32 to vector<4xf32>
  scf.for %i = %c0 to %n step %c4 {
    %v = vector.transfer_read %x[%i], %z {in_bounds = [true]} : memref<?xf32>, vector<4xf32>
    %w = vector.transfer_read %b[%i], %z : memref<?xf32>, vector<4xf32>
    %r = arith.maximumf %v, %zv : vector<4xf32>
    %p = arith.mulf %r, %sv : vector<4xf32>
    %q = arith.addf %p, %w : vector<4xf32>
    vector.transfer_write %q, %y[%i] : vector<4xf32>, memref<?xf32>
  }

// ----- fused
// reject numeric: contraction
// why: vector.fma rounds once
// witness: {"seed": 5, "sizes": {"N": 64}}
  %c4 = arith.constant 4 : index
  %zv = arith.constant dense<0.0> : vector<4xf32>
  %sv = vector.broadcast %s : f32 to vector<4xf32>
  scf.for %i = %c0 to %n step %c4 {
    %v = vector.transfer_read %x[%i], %z : memref<?xf32>, vector<4xf32>
    %w = vector.transfer_read %b[%i], %z : memref<?xf32>, vector<4xf32>
    %r = arith.maximumf %v, %zv : vector<4xf32>
    %q = vector.fma %r, %sv, %w : vector<4xf32>
    vector.transfer_write %q, %y[%i] : vector<4xf32>, memref<?xf32>
  }

// ----- zero-scale-shortcut
// reject numeric: early exit
// why: where s is 0 it copies b: wrong for infinite x, and NaN; and for b = -0
// witness: {"sizes": {"N": 4}, "values": {"2": 0.0}, "set": {"0": [[1, "inf"]]}}
  %zero = arith.cmpf oeq, %s, %z : f32
  scf.if %zero {
    memref.copy %b, %y : memref<?xf32> to memref<?xf32>
  } else {
    scf.for %i = %c0 to %n step %c1 {
      %v = memref.load %x[%i] : memref<?xf32>
      %w = memref.load %b[%i] : memref<?xf32>
      %r = arith.maximumf %v, %z : f32
      %p = arith.mulf %r, %s : f32
      %q = arith.addf %p, %w : f32
      memref.store %q, %y[%i] : memref<?xf32>
    }
  }

// ----- negative-scale-as-minimum
// reject numeric: signed zero
// why: max(x, 0) * s as max(x * s, 0) for s >= 0 and min(x * s, 0) for s < 0: -0 instead of +0 for x < 0, which b = -0 shows
// witness: {"sizes": {"N": 2}, "values": {"0": [-1.0, 2.0], "1": [-0.0, -0.0], "2": -3.0}}
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = memref.load %b[%i] : memref<?xf32>
    %p0 = arith.mulf %v, %s : f32
    %a = arith.maximumf %p0, %z : f32
    %c = arith.minimumf %p0, %z : f32
    %ge = arith.cmpf oge, %s, %z : f32
    %p = arith.select %ge, %a, %c : f32
    %q = arith.addf %p, %w : f32
    memref.store %q, %y[%i] : memref<?xf32>
  }

// ----- ok-select-for-maximum
// accept: select form
// why: x < 0 or x = -0 give +0, NaN stays: told by the bits as a signed integer and an unordered comparison
  %zi = arith.constant 0 : i32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = memref.load %b[%i] : memref<?xf32>
    %bits = arith.bitcast %v : f32 to i32
    %neg = arith.cmpi slt, %bits, %zi : i32
    %num = arith.cmpf ord, %v, %v : f32
    %cut = arith.andi %neg, %num : i1
    %r = arith.select %cut, %z, %v : f32
    %p = arith.mulf %r, %s : f32
    %q = arith.addf %p, %w : f32
    memref.store %q, %y[%i] : memref<?xf32>
  }

// ----- sign-bit-alone
// reject numeric: nan/inf
// why: the sign bit alone decides: NaN with a sign becomes 0
// unchecked: the harness cannot write a NaN with a sign
// witness: {"sizes": {"N": 2}}
  %zi = arith.constant 0 : i32
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = memref.load %b[%i] : memref<?xf32>
    %bits = arith.bitcast %v : f32 to i32
    %neg = arith.cmpi slt, %bits, %zi : i32
    %r = arith.select %neg, %z, %v : f32
    %p = arith.mulf %r, %s : f32
    %q = arith.addf %p, %w : f32
    memref.store %q, %y[%i] : memref<?xf32>
  }

// ----- ok-index-switch
// accept: loop form
// why: the rest of N by 4 is told by scf.index_switch
  %c4 = arith.constant 4 : index
  %q4 = arith.divui %n, %c4 : index
  %e = arith.muli %q4, %c4 : index
  %rest = arith.subi %n, %e : index
  %zv = arith.constant dense<0.0> : vector<4xf32>
  %sv = vector.broadcast %s : f32 to vector<4xf32>
  scf.for %i = %c0 to %e step %c4 {
    %v = vector.load %x[%i] : memref<?xf32>, vector<4xf32>
    %w = vector.load %b[%i] : memref<?xf32>, vector<4xf32>
    %r = arith.maximumf %v, %zv : vector<4xf32>
    %p = arith.mulf %r, %sv : vector<4xf32>
    %q = arith.addf %p, %w : vector<4xf32>
    vector.store %q, %y[%i] : memref<?xf32>, vector<4xf32>
  }
  scf.index_switch %rest
  case 0 {
    scf.yield
  }
  default {
    scf.for %i = %e to %n step %c1 {
      %v = memref.load %x[%i] : memref<?xf32>
      %w = memref.load %b[%i] : memref<?xf32>
      %r = arith.maximumf %v, %z : f32
      %p = arith.mulf %r, %s : f32
      %q = arith.addf %p, %w : f32
      memref.store %q, %y[%i] : memref<?xf32>
    }
    scf.yield
  }

// ----- ok-unsigned-index-flags
// accept: granted assumption
// why: nuw and nsw on index arithmetic, which sizes up to 64 prove
  %c2 = arith.constant 2 : index
  %h0 = arith.addi %n, %c1 overflow<nsw, nuw> : index
  %h = arith.divui %h0, %c2 : index
  scf.for %k = %c0 to %h step %c1 {
    %i0 = arith.muli %k, %c2 overflow<nsw, nuw> : index
    %e0 = arith.addi %i0, %c2 overflow<nsw, nuw> : index
    %e = arith.minui %e0, %n : index
    scf.for %i = %i0 to %e step %c1 {
      %v = memref.load %x[%i] : memref<?xf32>
      %w = memref.load %b[%i] : memref<?xf32>
      %r = arith.maximumf %v, %z : f32
      %p = arith.mulf %r, %s : f32
      %q = arith.addf %p, %w : f32
      memref.store %q, %y[%i] : memref<?xf32>
    }
  }

// ----- ok-affine-loop-flags
// accept: granted assumption
// why: nsw on an index of an affine loop and on a 32-bit copy of it
  %c3 = arith.constant 3 : i32
  affine.for %i = 0 to %n {
    %k = arith.index_cast %i : index to i32
    %k3 = arith.muli %k, %c3 overflow<nsw> : i32
    %j0 = arith.divui %k3, %c3 : i32
    %j = arith.index_castui %j0 : i32 to index
    %v = memref.load %x[%j] : memref<?xf32>
    %w = memref.load %b[%i] : memref<?xf32>
    %r = arith.maximumf %v, %z : f32
    %p = arith.mulf %r, %s : f32
    %q = arith.addf %p, %w : f32
    memref.store %q, %y[%i] : memref<?xf32>
  }

// ----- nnan-on-maximum
// reject assumption: false assumption
// why: the maximum says that there is no NaN
// witness: {"sizes": {"N": 4}, "set": {"0": [[1, "nan"]]}}
// unchecked: LLVM may keep the NaN all the same
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = memref.load %b[%i] : memref<?xf32>
    %r = arith.maximumf %v, %z fastmath<nnan> : f32
    %p = arith.mulf %r, %s : f32
    %q = arith.addf %p, %w : f32
    memref.store %q, %y[%i] : memref<?xf32>
  }
