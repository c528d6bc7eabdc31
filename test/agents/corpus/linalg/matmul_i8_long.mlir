// c = a @ b for integers of 8 bits, sums in 32 bits.
#ik = affine_map<(i, j, k) -> (i, k)>
#kj = affine_map<(i, j, k) -> (k, j)>
#ij = affine_map<(i, j, k) -> (i, j)>
func.func @main(%a: tensor<?x?xi8> {kc.dims = ["M", "K"]}, %b: tensor<?x?xi8> {kc.dims = ["K", "N"]}) -> tensor<?x?xi32> attributes {kc.sizes = {K = array<i64: 0, 1200>, M = array<i64: 0, 20>, N = array<i64: 0, 20>}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xi8>
  %k = tensor.dim %a, %c1 : tensor<?x?xi8>
  %n = tensor.dim %b, %c1 : tensor<?x?xi8>
  %z = arith.constant 0 : i32
  %e = tensor.empty(%m, %n) : tensor<?x?xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<?x?xi32>) -> tensor<?x?xi32>
  // common above
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) {
  ^bb0(%p: i8, %q: i8, %o: i32):
    %pe = arith.extsi %p : i8 to i32
    %qe = arith.extsi %q : i8 to i32
    %t = arith.muli %pe, %qe : i32
    %s = arith.addi %o, %t : i32
    linalg.yield %s : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// ----- ok-matmul
// accept: named op
// why: linalg.matmul extends signed by default
  %r = linalg.matmul ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- unsigned-cast
// reject numeric: negative integers
// why: linalg.matmul with unsigned casts
  %r = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- in-f32
// reject numeric: precision
// why: f32 holds the sums up to 2^24: 1025 products of 2^14 with one that is odd
// unchecked: the harness cannot fill matrices with -128
// witness: {"sizes": {"M": 2, "K": 1200, "N": 3}}
  %zf = arith.constant 0.0 : f32
  %ef = tensor.empty(%m, %n) : tensor<?x?xf32>
  %ff = linalg.fill ins(%zf : f32) outs(%ef : tensor<?x?xf32>) -> tensor<?x?xf32>
  %g = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%ff : tensor<?x?xf32>) {
  ^bb0(%p: i8, %q: i8, %o: f32):
    %pe = arith.sitofp %p : i8 to f32
    %qe = arith.sitofp %q : i8 to f32
    %t = arith.mulf %pe, %qe : f32
    %s = arith.addf %o, %t : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%g : tensor<?x?xf32>) outs(%e : tensor<?x?xi32>) {
  ^bb0(%p: f32, %o: i32):
    %t = arith.fptosi %p : f32 to i32
    linalg.yield %t : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- pairs-in-i16
// reject numeric: integer overflow
// why: two products are added in 16 bits, as some machines do: (-128)^2 twice is 32768
// witness: {"sizes": {"M": 1, "K": 2, "N": 1}, "values": {"0": [[-128, -128]], "1": [[-128], [-128]]}}
  %c2 = arith.constant 2 : index
  %h = arith.divui %k, %c2 : index
  %h2 = arith.muli %h, %c2 : index
  %rest = arith.subi %k, %h2 : index
  %as = tensor.extract_slice %a[0, 0] [%m, %h2] [1, 1] : tensor<?x?xi8> to tensor<?x?xi8>
  %bs = tensor.extract_slice %b[0, 0] [%h2, %n] [1, 1] : tensor<?x?xi8> to tensor<?x?xi8>
  %ae = tensor.expand_shape %as [[0], [1, 2]] output_shape [%m, %h, 2] : tensor<?x?xi8> into tensor<?x?x2xi8>
  %be = tensor.expand_shape %bs [[0, 1], [2]] output_shape [%h, 2, %n] : tensor<?x?xi8> into tensor<?x2x?xi8>
  %a0 = tensor.extract_slice %ae[0, 0, 0] [%m, %h, 1] [1, 1, 1] : tensor<?x?x2xi8> to tensor<?x?xi8>
  %a1 = tensor.extract_slice %ae[0, 0, 1] [%m, %h, 1] [1, 1, 1] : tensor<?x?x2xi8> to tensor<?x?xi8>
  %b0 = tensor.extract_slice %be[0, 0, 0] [%h, 1, %n] [1, 1, 1] : tensor<?x2x?xi8> to tensor<?x?xi8>
  %b1 = tensor.extract_slice %be[0, 1, 0] [%h, 1, %n] [1, 1, 1] : tensor<?x2x?xi8> to tensor<?x?xi8>
  %g = linalg.generic {indexing_maps = [#ik, #kj, #ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a0, %b0, %a1, %b1 : tensor<?x?xi8>, tensor<?x?xi8>, tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) {
  ^bb0(%p: i8, %q: i8, %p1: i8, %q1: i8, %o: i32):
    %pe = arith.extsi %p : i8 to i16
    %qe = arith.extsi %q : i8 to i16
    %pf = arith.extsi %p1 : i8 to i16
    %qf = arith.extsi %q1 : i8 to i16
    %t = arith.muli %pe, %qe : i16
    %t1 = arith.muli %pf, %qf : i16
    %u = arith.addi %t, %t1 : i16
    %ue = arith.extsi %u : i16 to i32
    %s = arith.addi %o, %ue : i32
    linalg.yield %s : i32
  } -> tensor<?x?xi32>
  %al = tensor.extract_slice %a[0, %h2] [%m, %rest] [1, 1] : tensor<?x?xi8> to tensor<?x?xi8>
  %bl = tensor.extract_slice %b[%h2, 0] [%rest, %n] [1, 1] : tensor<?x?xi8> to tensor<?x?xi8>
  %r = linalg.matmul ins(%al, %bl : tensor<?x?xi8>, tensor<?x?xi8>) outs(%g : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- ok-transposed-operands
// accept: layout
// why: both are transposed first, and the maps say so
  %at0 = tensor.empty(%k, %m) : tensor<?x?xi8>
  %at = linalg.transpose ins(%a : tensor<?x?xi8>) outs(%at0 : tensor<?x?xi8>) permutation = [1, 0]
  %bt0 = tensor.empty(%n, %k) : tensor<?x?xi8>
  %bt = linalg.transpose ins(%b : tensor<?x?xi8>) outs(%bt0 : tensor<?x?xi8>) permutation = [1, 0]
  %r = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (k, i)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%at, %bt : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- transposed-when-square
// reject numeric: transposed result
// why: where M = K = N the maps of b are those of its transpose
// witness: {"sizes": {"M": 5, "K": 5, "N": 5}}
  %s1 = arith.cmpi eq, %m, %k : index
  %s2 = arith.cmpi eq, %k, %n : index
  %sq = arith.andi %s1, %s2 : i1
  %r = scf.if %sq -> (tensor<?x?xi32>) {
    %rr = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) -> tensor<?x?xi32>
    scf.yield %rr : tensor<?x?xi32>
  } else {
    %rr = linalg.matmul ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) -> tensor<?x?xi32>
    scf.yield %rr : tensor<?x?xi32>
  }
  return %r : tensor<?x?xi32>

// ----- ok-batch-of-one
// accept: named op
// why: as a batch of one
  %ax = tensor.expand_shape %a [[0, 1], [2]] output_shape [1, %m, %k] : tensor<?x?xi8> into tensor<1x?x?xi8>
  %bx = tensor.expand_shape %b [[0, 1], [2]] output_shape [1, %k, %n] : tensor<?x?xi8> into tensor<1x?x?xi8>
  %fx = tensor.expand_shape %f [[0, 1], [2]] output_shape [1, %m, %n] : tensor<?x?xi32> into tensor<1x?x?xi32>
  %g = linalg.batch_matmul ins(%ax, %bx : tensor<1x?x?xi8>, tensor<1x?x?xi8>) outs(%fx : tensor<1x?x?xi32>) -> tensor<1x?x?xi32>
  %r = tensor.collapse_shape %g [[0, 1], [2]] : tensor<1x?x?xi32> into tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- ok-quantized-with-zero-points
// accept: named op
// why: zero points of 0
  %r = linalg.quantized_matmul ins(%a, %b, %z, %z : tensor<?x?xi8>, tensor<?x?xi8>, i32, i32) outs(%f : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- ok-karatsuba-halves
// accept: integer reassociation
// why: p = 16 ph + pl: two products of nibbles instead of one
  %c4 = arith.constant 4 : i8
  %c15 = arith.constant 15 : i8
  %c16 = arith.constant 16 : i32
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) {
  ^bb0(%p: i8, %q: i8, %o: i32):
    %ph = arith.shrsi %p, %c4 : i8
    %pl = arith.andi %p, %c15 : i8
    %phe = arith.extsi %ph : i8 to i32
    %ple = arith.extui %pl : i8 to i32
    %qe = arith.extsi %q : i8 to i32
    %t = arith.muli %phe, %qe : i32
    %t1 = arith.muli %t, %c16 : i32
    %t2 = arith.muli %ple, %qe : i32
    %u = arith.addi %t1, %t2 : i32
    %s = arith.addi %u, %o : i32
    linalg.yield %s : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>

// ----- nibbles-logical
// reject numeric: negative integers
// why: the upper nibble is shifted logically
// witness: {"sizes": {"M": 1, "K": 1, "N": 1}, "values": {"0": [[-3]], "1": [[5]]}}
  %c4 = arith.constant 4 : i8
  %c15 = arith.constant 15 : i8
  %c16 = arith.constant 16 : i32
  %r = linalg.generic {indexing_maps = [#ik, #kj, #ij], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%f : tensor<?x?xi32>) {
  ^bb0(%p: i8, %q: i8, %o: i32):
    %ph = arith.shrui %p, %c4 : i8
    %pl = arith.andi %p, %c15 : i8
    %phe = arith.extsi %ph : i8 to i32
    %ple = arith.extui %pl : i8 to i32
    %qe = arith.extsi %q : i8 to i32
    %t = arith.muli %phe, %qe : i32
    %t1 = arith.muli %t, %c16 : i32
    %t2 = arith.muli %ple, %qe : i32
    %u = arith.addi %t1, %t2 : i32
    %s = arith.addi %u, %o : i32
    linalg.yield %s : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
