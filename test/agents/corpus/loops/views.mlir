// y = every second element of x from offset 1, for views with any stride; y dense; x has 2M + 1 elements or more.
func.func @main(%x: memref<?xf32, strided<[?], offset: ?>> {kc.dims = ["N"]}, %y: memref<?xf32, strided<[1], offset: ?>> {kc.dims = ["M"], kc.out}) attributes {kc.facts = ["M <= 20", "N >= 45"], kc.sizes = {M = array<i64: 0, 20>, N = array<i64: 45, 64>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = memref.dim %y, %c0 : memref<?xf32, strided<[1], offset: ?>>
  // common above
  scf.for %i = %c0 to %m step %c1 {
    %j0 = arith.muli %i, %c2 : index
    %j = arith.addi %j0, %c1 : index
    %v = memref.load %x[%j] : memref<?xf32, strided<[?], offset: ?>>
    memref.store %v, %y[%i] : memref<?xf32, strided<[1], offset: ?>>
  }
  return
}

// ----- ok-subview-copied
// accept: layout
// why: a subview of stride 2, copied
  %s = memref.subview %x[1] [%m] [2] : memref<?xf32, strided<[?], offset: ?>> to memref<?xf32, strided<[?], offset: ?>>
  memref.copy %s, %y : memref<?xf32, strided<[?], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>

// ----- stride-two-taken-for-granted
// reject numeric: layout
// why: a view of the base with stride 2: right for x without gaps
// witness: {"sizes": {"N": 50, "M": 5}}
// unchecked: the harness lays y out with gaps that its type does not allow
  %b, %o, %sz, %st = memref.extract_strided_metadata %x : memref<?xf32, strided<[?], offset: ?>> -> memref<f32>, index, index, index
  %o1 = arith.addi %o, %c1 : index
  %s = memref.reinterpret_cast %b to offset: [%o1], sizes: [%m], strides: [2] : memref<f32> to memref<?xf32, strided<[2], offset: ?>>
  memref.copy %s, %y : memref<?xf32, strided<[2], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>

// ----- offset-taken-for-zero
// reject aliasing/bounds: layout
// why: takes the offset of x for 0
// unchecked: the harness has no offsets
// witness: {"sizes": {"N": 50, "M": 5}}
  %b, %o, %sz, %st = memref.extract_strided_metadata %x : memref<?xf32, strided<[?], offset: ?>> -> memref<f32>, index, index, index
  %st2 = arith.muli %st, %c2 : index
  %s = memref.reinterpret_cast %b to offset: [%st], sizes: [%m], strides: [%st2] : memref<f32> to memref<?xf32, strided<[?], offset: ?>>
  memref.copy %s, %y : memref<?xf32, strided<[?], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>

// ----- ok-by-metadata
// accept: layout
// why: the same by the view's own offset and stride
  %b, %o, %sz, %st = memref.extract_strided_metadata %x : memref<?xf32, strided<[?], offset: ?>> -> memref<f32>, index, index, index
  %o1 = arith.addi %o, %st : index
  %st2 = arith.muli %st, %c2 : index
  %s = memref.reinterpret_cast %b to offset: [%o1], sizes: [%m], strides: [%st2] : memref<f32> to memref<?xf32, strided<[?], offset: ?>>
  memref.copy %s, %y : memref<?xf32, strided<[?], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>

// ----- ok-vector-stores
// accept: vectorisation
// why: y is dense by its type: stores of four; the rest one by one
  %c4 = arith.constant 4 : index
  %q = arith.divui %m, %c4 : index
  %e = arith.muli %q, %c4 : index
  %z = arith.constant 0.0 : f32
  scf.for %i = %c0 to %e step %c4 {
    %j0 = arith.muli %i, %c2 : index
    %j = arith.addi %j0, %c1 : index
    %v = vector.transfer_read %x[%j], %z {in_bounds = [true]} : memref<?xf32, strided<[?], offset: ?>>, vector<8xf32>
    %w = vector.shuffle %v, %v [0, 2, 4, 6] : vector<8xf32>, vector<8xf32>
    vector.store %w, %y[%i] : memref<?xf32, strided<[1], offset: ?>>, vector<4xf32>
  }
  scf.for %i = %e to %m step %c1 {
    %j0 = arith.muli %i, %c2 : index
    %j = arith.addi %j0, %c1 : index
    %v = memref.load %x[%j] : memref<?xf32, strided<[?], offset: ?>>
    memref.store %v, %y[%i] : memref<?xf32, strided<[1], offset: ?>>
  }
