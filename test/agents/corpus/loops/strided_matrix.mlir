// y[i, j] = x[i, j] * 2 for matrices with any strides.
func.func @main(%x: memref<?x?xf32, strided<[?, ?], offset: ?>> {kc.dims = ["M", "N"]}, %y: memref<?x?xf32, strided<[?, 1], offset: ?>> {kc.dims = ["M", "N"], kc.out}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  %n = memref.dim %x, %c1 : memref<?x?xf32, strided<[?, ?], offset: ?>>
  %k = arith.constant 2.0 : f32
  // common above
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %d = arith.mulf %v, %k : f32
      memref.store %d, %y[%i, %j] : memref<?x?xf32, strided<[?, 1], offset: ?>>
    }
  }
  return
}

// ----- ok-transposed-views
// accept: layout
// why: both as transposed views, columns outside
  %xt = memref.transpose %x (i, j) -> (j, i) : memref<?x?xf32, strided<[?, ?], offset: ?>> to memref<?x?xf32, strided<[?, ?], offset: ?>>
  %yt = memref.transpose %y (i, j) -> (j, i) : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<?x?xf32, strided<[1, ?], offset: ?>>
  scf.for %j = %c0 to %n step %c1 {
    scf.for %i = %c0 to %m step %c1 {
      %v = memref.load %xt[%j, %i] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %d = arith.addf %v, %v : f32
      memref.store %d, %yt[%j, %i] : memref<?x?xf32, strided<[1, ?], offset: ?>>
    }
  }

// ----- rows-without-gaps
// reject numeric: layout
// why: takes rows of y to follow each other without gaps
// witness: {"sizes": {"M": 3, "N": 5}}
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %y : memref<?x?xf32, strided<[?, 1], offset: ?>> -> memref<f32>, index, index, index, index, index
  %mn = arith.muli %m, %n : index
  %f = memref.reinterpret_cast %y to offset: [%o], sizes: [%mn], strides: [1] : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
  scf.for %i = %c0 to %m step %c1 {
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %d = arith.mulf %v, %k : f32
      %l0 = arith.muli %i, %n : index
      %l = arith.addi %l0, %j : index
      memref.store %d, %f[%l] : memref<?xf32, strided<[1], offset: ?>>
    }
  }

// ----- ok-by-its-own-stride
// accept: layout
// why: the same by the stride of y
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %y : memref<?x?xf32, strided<[?, 1], offset: ?>> -> memref<f32>, index, index, index, index, index
  scf.for %i = %c0 to %m step %c1 {
    %o0 = arith.muli %i, %t#0 : index
    %o1 = arith.addi %o, %o0 : index
    %f = memref.reinterpret_cast %y to offset: [%o1], sizes: [%n], strides: [1] : memref<?x?xf32, strided<[?, 1], offset: ?>> to memref<?xf32, strided<[1], offset: ?>>
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %d = arith.mulf %v, %k : f32
      memref.store %d, %f[%j] : memref<?xf32, strided<[1], offset: ?>>
    }
  }

// ----- offset-forgotten
// reject aliasing/bounds: layout
// why: the same without the offset of the view: right while that is 0
// unchecked: the harness hands over views with offset 0 only
// witness: {"sizes": {"M": 3, "N": 5}}
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %y : memref<?x?xf32, strided<[?, 1], offset: ?>> -> memref<f32>, index, index, index, index, index
  scf.for %i = %c0 to %m step %c1 {
    %o0 = arith.muli %i, %t#0 : index
    %f = memref.reinterpret_cast %b to offset: [%o0], sizes: [%n], strides: [1] : memref<f32> to memref<?xf32, strided<[1], offset: ?>>
    scf.for %j = %c0 to %n step %c1 {
      %v = memref.load %x[%i, %j] : memref<?x?xf32, strided<[?, ?], offset: ?>>
      %d = arith.mulf %v, %k : f32
      memref.store %d, %f[%j] : memref<?xf32, strided<[1], offset: ?>>
    }
  }
