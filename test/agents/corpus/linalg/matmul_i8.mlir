// i8 matrix product with 32-bit sums.
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#bt = affine_map<(i, j, k) -> (j, k)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @main(%x: tensor<?x?xi8> {kc.dims = ["M", "K"]}, %y: tensor<?x?xi8> {kc.dims = ["K", "N"]}) -> tensor<?x?xi32> attributes {kc.sizes = {M = array<i64: 0, 24>, N = array<i64: 0, 24>, K = array<i64: 0, 64>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xi8>
  %k = tensor.dim %x, %c1 : tensor<?x?xi8>
  %n = tensor.dim %y, %c1 : tensor<?x?xi8>
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %z = arith.constant 0 : i32
  // common above
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) {
  ^bb0(%p: i8, %q: i8, %o: i32):
    %u = arith.extsi %p : i8 to i32
    %v = arith.extsi %q : i8 to i32
    %w = arith.muli %u, %v : i32
    %s = arith.addi %o, %w : i32
    linalg.yield %s : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// ----- sums-of-16-bits
// reject numeric: integer overflow
// why: three products of -128 * -128 do not fit into 16 bits
// witness: {"sizes": {"M": 1, "N": 1, "K": 3}, "values": {"0": [[-128, -128, -128]], "1": [[-128], [-128], [-128]]}}
  %e16 = tensor.empty(%m, %n) : tensor<?x?xi16>
  %z16 = arith.constant 0 : i16
  %f = linalg.fill ins(%z16 : i16) outs(%e16 : tensor<?x?xi16>) -> tensor<?x?xi16>
  %q = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi16>) {
  ^bb0(%p: i8, %q: i8, %o: i16):
    %u = arith.extsi %p : i8 to i16
    %v = arith.extsi %q : i8 to i16
    %w = arith.muli %u, %v : i16
    %s = arith.addi %o, %w : i16
    linalg.yield %s : i16
  } -> tensor<?x?xi16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<?x?xi16>) outs(%e : tensor<?x?xi32>) {
  ^bb0(%p: i16, %o: i32):
    %u = arith.extsi %p : i16 to i32
    linalg.yield %u : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- products-in-8-bits
// reject numeric: integer overflow
// why: the product is taken in 8 bits and then extended
// witness: {"sizes": {"M": 1, "N": 1, "K": 1}, "values": {"0": [[100]], "1": [[100]]}}
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) {
  ^bb0(%p: i8, %q: i8, %o: i32):
    %w8 = arith.muli %p, %q : i8
    %w = arith.extsi %w8 : i8 to i32
    %s = arith.addi %o, %w : i32
    linalg.yield %s : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- unsigned-right-operand
// reject numeric: negative integers
// why: the right operand is extended with zeros
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) {
  ^bb0(%p: i8, %q: i8, %o: i32):
    %u = arith.extsi %p : i8 to i32
    %v = arith.extui %q : i8 to i32
    %w = arith.muli %u, %v : i32
    %s = arith.addi %o, %w : i32
    linalg.yield %s : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- ok-sums-in-f32
// accept: exact in floats
// why: at most 64 products of at most 2^14 sum up to 2^20, which f32 holds exactly
  %ef = tensor.empty(%m, %n) : tensor<?x?xf32>
  %zf = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zf : f32) outs(%ef : tensor<?x?xf32>) -> tensor<?x?xf32>
  %q = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xf32>) {
  ^bb0(%p: i8, %q: i8, %o: f32):
    %u = arith.sitofp %p : i8 to f32
    %v = arith.sitofp %q : i8 to f32
    %w = arith.mulf %u, %v : f32
    %s = arith.addf %o, %w : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<?x?xf32>) outs(%e : tensor<?x?xi32>) {
  ^bb0(%p: f32, %o: i32):
    %u = arith.fptosi %p : f32 to i32
    linalg.yield %u : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- sums-in-f16
// reject numeric: precision
// why: half floats hold integers up to 2048 exactly, sums are larger
// witness: {"sizes": {"M": 1, "N": 1, "K": 2}, "values": {"0": [[127, 3]], "1": [[127], [1]]}}
  %ef = tensor.empty(%m, %n) : tensor<?x?xf16>
  %zf = arith.constant 0.0 : f16
  %f = linalg.fill ins(%zf : f16) outs(%ef : tensor<?x?xf16>) -> tensor<?x?xf16>
  %q = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xf16>) {
  ^bb0(%p: i8, %q: i8, %o: f16):
    %u = arith.sitofp %p : i8 to f16
    %v = arith.sitofp %q : i8 to f16
    %w = arith.mulf %u, %v : f16
    %s = arith.addf %o, %w : f16
    linalg.yield %s : f16
  } -> tensor<?x?xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<?x?xf16>) outs(%e : tensor<?x?xi32>) {
  ^bb0(%p: f16, %o: i32):
    %u = arith.fptosi %p : f16 to i32
    linalg.yield %u : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- ok-named-op
// accept: named op
// why: linalg.matmul extends with the sign and sums in the type of the result
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r = linalg.matmul ins(%x, %y : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- named-op-unsigned
// reject numeric: negative integers
// why: the same with the cast attribute of unsigned operands
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%x, %y : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- not-cleared
// reject numeric: uninitialised read
// why: the sums start from whatever tensor.empty holds
  %r = linalg.matmul ins(%x, %y : tensor<?x?xi8>, tensor<?x?xi8>) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- wrong-when-k-is-inner-size
// reject numeric: transposed result
// why: where K = N the right operand is read transposed
// witness: {"sizes": {"M": 3, "N": 5, "K": 5}}
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %sq = arith.cmpi eq, %k, %n : index
  %r = scf.if %sq -> (tensor<?x?xi32>) {
    %q = linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) {
    ^bb0(%p: i8, %q: i8, %o: i32):
      %u = arith.extsi %p : i8 to i32
      %v = arith.extsi %q : i8 to i32
      %w = arith.muli %u, %v : i32
      %s = arith.addi %o, %w : i32
      linalg.yield %s : i32
    } -> tensor<?x?xi32>
    scf.yield %q : tensor<?x?xi32>
  } else {
    %q = linalg.matmul ins(%x, %y : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) -> tensor<?x?xi32>
    scf.yield %q : tensor<?x?xi32>
  }
  return %r : tensor<?x?xi32>

// ----- empty-k-left-unwritten
// reject numeric: zero size
// why: for K = 0 the empty tensor is returned instead of zeros
// witness: {"sizes": {"M": 3, "N": 5, "K": 0}}
  %none = arith.cmpi eq, %k, %c0 : index
  %r = scf.if %none -> (tensor<?x?xi32>) {
    scf.yield %e : tensor<?x?xi32>
  } else {
    %f = linalg.fill ins(%z : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
    %q = linalg.matmul ins(%x, %y : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) -> tensor<?x?xi32>
    scf.yield %q : tensor<?x?xi32>
  }
  return %r : tensor<?x?xi32>

// ----- ok-k-split
// accept: integer reassociation
// why: two halves of K, added; integer sums wrap the same in any order
  %c2 = arith.constant 2 : index
  %h = arith.ceildivui %k, %c2 : index
  %g = arith.subi %k, %h : index
  %x0 = tensor.extract_slice %x[0, 0] [%m, %h] [1, 1] : tensor<?x?xi8> to tensor<?x?xi8>
  %x1 = tensor.extract_slice %x[0, %h] [%m, %g] [1, 1] : tensor<?x?xi8> to tensor<?x?xi8>
  %y0 = tensor.extract_slice %y[0, 0] [%h, %n] [1, 1] : tensor<?x?xi8> to tensor<?x?xi8>
  %y1 = tensor.extract_slice %y[%h, 0] [%g, %n] [1, 1] : tensor<?x?xi8> to tensor<?x?xi8>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  %p = linalg.matmul ins(%x1, %y1 : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) -> tensor<?x?xi32>
  %r = linalg.matmul ins(%x0, %y0 : tensor<?x?xi8>, tensor<?x?xi8>) outs(%p : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
