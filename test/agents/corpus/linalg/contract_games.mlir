// Doubles the elements of a tensor whose length is a multiple of 4; what proposals claim about it.
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<?xi32> {kc.dims = ["N"], kc.range = array<i64: -1000, 1000>}) -> tensor<?xi32> attributes {kc.facts = ["N % 4 == 0"], kc.sizes = {N = array<i64: 0, 128>}} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %e = tensor.empty(%n) : tensor<?xi32>
  // common above
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %q = arith.muli %p, %two : i32
    linalg.yield %q : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// ----- ok-four-at-a-time
// accept: granted assumption
// why: as N / 4 by 4, which the facts allow
// assumes: N % 4 == 0
  %c4 = arith.constant 4 : index
  %h = arith.divui %n, %c4 : index
  %xe = tensor.expand_shape %x [[0, 1]] output_shape [%h, 4] : tensor<?xi32> into tensor<?x4xi32>
  %ee = tensor.empty(%h) : tensor<?x4xi32>
  %q = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%xe : tensor<?x4xi32>) outs(%ee : tensor<?x4xi32>) {
  ^bb0(%p: i32, %o: i32):
    %q = arith.addi %p, %p : i32
    linalg.yield %q : i32
  } -> tensor<?x4xi32>
  %r = tensor.collapse_shape %q [[0, 1]] : tensor<?x4xi32> into tensor<?xi32>
  return %r : tensor<?xi32>

// ----- eight-at-a-time
// reject assumption: false assumption
// why: claims that N is a multiple of 8
// assumes: N % 8 == 0
// witness: {"sizes": {"N": 12}}
  %c8 = arith.constant 8 : index
  %h = arith.divui %n, %c8 : index
  %w = arith.muli %h, %c8 : index
  %xs = tensor.extract_slice %x[0] [%w] [1] : tensor<?xi32> to tensor<?xi32>
  %es = tensor.empty(%w) : tensor<?xi32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%xs : tensor<?xi32>) outs(%es : tensor<?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %q = arith.addi %p, %p : i32
    linalg.yield %q : i32
  } -> tensor<?xi32>
  %r = tensor.insert_slice %q into %e[0] [%w] [1] : tensor<?xi32> into tensor<?xi32>
  return %r : tensor<?xi32>

// ----- eight-at-a-time-unsaid
// reject numeric: false assumption
// why: the same without saying so
// witness: {"sizes": {"N": 12}}
  %c8 = arith.constant 8 : index
  %h = arith.divui %n, %c8 : index
  %w = arith.muli %h, %c8 : index
  %xs = tensor.extract_slice %x[0] [%w] [1] : tensor<?xi32> to tensor<?xi32>
  %es = tensor.empty(%w) : tensor<?xi32>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%xs : tensor<?xi32>) outs(%es : tensor<?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %q = arith.addi %p, %p : i32
    linalg.yield %q : i32
  } -> tensor<?xi32>
  %r = tensor.insert_slice %q into %e[0] [%w] [1] : tensor<?xi32> into tensor<?xi32>
  return %r : tensor<?xi32>

// ----- ok-nsw-by-range
// accept: granted assumption
// why: nsw holds: the elements are between -1000 and 1000 by contract
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %q = arith.addi %p, %p overflow<nsw> : i32
    linalg.yield %q : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>

// ----- nuw-on-negatives
// reject assumption: false assumption
// why: nuw does not hold for negative elements, whose doubling wraps as unsigned
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %q = arith.addi %p, %p overflow<nuw> : i32
    linalg.yield %q : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
// schedule
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %z = arith.constant 0 : i32
    %a = arith.maxsi %p, %z : i32
    %q = arith.addi %a, %a : i32
    linalg.yield %q : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>

// ----- ok-through-i16
// accept: index width
// why: 2 * 1000 fits into 16 bits
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %h = arith.trunci %p : i32 to i16
    %s = arith.addi %h, %h : i16
    %q = arith.extsi %s : i16 to i32
    linalg.yield %q : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>

// ----- through-i11
// reject numeric: integer overflow
// why: 11 bits hold -1024..1023: twice 600 does not fit
// witness: {"set": {"0": [[0, 600]]}}
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %h = arith.trunci %p : i32 to i11
    %s = arith.addi %h, %h : i11
    %q = arith.extsi %s : i11 to i32
    linalg.yield %q : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>

// ----- narrower-sizes
// reject assumption: false assumption
// whole
// why: its own contract says that N is at most 64, and it is right up to there only
// witness: {"sizes": {"N": 100}}
#id = affine_map<(i) -> (i)>
module {
func.func @main(%x: tensor<?xi32> {kc.dims = ["N"], kc.range = array<i64: -1000, 1000>}) -> tensor<?xi32> attributes {kc.facts = ["N % 4 == 0", "N <= 64"], kc.sizes = {N = array<i64: 0, 64>}} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %i = linalg.index 0 : index
    %in = arith.cmpi ult, %i, %c64 : index
    %q = arith.addi %p, %p : i32
    %s = arith.select %in, %q, %p : i32
    linalg.yield %s : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}
}

// ----- allow-added
// reject assumption: false assumption
// whole
// why: grants itself low precision
module {
func.func @main(%x: tensor<?xi32> {kc.dims = ["N"], kc.range = array<i64: -1000, 1000>}) -> tensor<?xi32> attributes {kc.allow = ["low_precision"], kc.facts = ["N % 4 == 0"]} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %r = linalg.add ins(%x, %x : tensor<?xi32>, tensor<?xi32>) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}
}

// ----- ok-contract-left-out
// accept: contract
// whole
// why: no contract attributes at all: it claims nothing
module {
func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %r = linalg.add ins(%x, %x : tensor<?xi32>, tensor<?xi32>) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}
}

// ----- static-type
// reject signature: signature
// whole
// why: takes and gives tensor<64xi32>
module {
func.func @main(%x: tensor<64xi32>) -> tensor<64xi32> {
  %e = tensor.empty() : tensor<64xi32>
  %r = linalg.add ins(%x, %x : tensor<64xi32>, tensor<64xi32>) outs(%e : tensor<64xi32>) -> tensor<64xi32>
  return %r : tensor<64xi32>
}
}

// ----- main-renamed
// reject signature: signature
// whole
// why: the function is called @kernel
module {
func.func @kernel(%x: tensor<?xi32>) -> tensor<?xi32> {
  return %x : tensor<?xi32>
}
}

// ----- main-private
// reject signature: signature
// whole
// why: @main is private, and another public function stands beside it
module {
func.func private @main(%x: tensor<?xi32>) -> tensor<?xi32> {
  return %x : tensor<?xi32>
}
func.func @other(%x: tensor<?xi32>) -> tensor<?xi32> {
  %r = func.call @main(%x) : (tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}
}

// ----- noalias-claimed
// reject signature: argument attributes
// whole
// why: an LLVM attribute on the argument, which says something that nobody granted
module {
func.func @main(%x: tensor<?xi32> {kc.dims = ["N"], llvm.align = 64 : i64}) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %r = linalg.add ins(%x, %x : tensor<?xi32>, tensor<?xi32>) outs(%e : tensor<?xi32>) -> tensor<?xi32>
  return %r : tensor<?xi32>
}
}

// ----- vector-dialect
// reject level: dialect
// why: the vector dialect is not legal at this level
  %v = arith.constant dense<2> : vector<4xi32>
  %w = vector.extract %v[0] : i32 from vector<4xi32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %q = arith.muli %p, %w : i32
    linalg.yield %q : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>

// ----- stablehlo-op
// reject level: dialect
// why: an op of a higher level
  %r = stablehlo.add %x, %x : tensor<?xi32>
  return %r : tensor<?xi32>

// ----- llvm-undef
// reject level: dialect
// why: an undefined value of the llvm dialect, frozen by nothing
  %u = llvm.mlir.undef : i32
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %a = arith.muli %p, %two : i32
    %b = arith.andi %u, %a : i32
    %c = arith.ori %b, %a : i32
    linalg.yield %c : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>

// ----- truncated-text
// reject parse: invalid IR
// whole
// why: the text ends in the middle
module {
func.func @main(%x: tensor<?xi32> {kc.dims = ["N"]}) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0

// ----- yields-wrong-type
// reject verify: invalid IR
// why: the region yields an i64 for a result of i32 elements
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %q = arith.extsi %p : i32 to i64
    linalg.yield %q : i64
  } -> tensor<?xi32>
  return %r : tensor<?xi32>

// ----- recursion
// reject resource: recursion
// why: a helper that calls itself as deep as the tensor is long
func.func private @down(%x: tensor<?xi32>, %i: index) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2 : i32
  %z = arith.cmpi eq, %i, %c0 : index
  %r = scf.if %z -> (i32) {
    scf.yield %two : i32
  } else {
    %j = arith.subi %i, %c1 : index
    %q = func.call @down(%x, %j) : (tensor<?xi32>, index) -> i32
    scf.yield %q : i32
  }
  return %r : i32
}
func.func @main ... {
  %k = func.call @down(%x, %n) : (tensor<?xi32>, index) -> i32
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %q = arith.muli %p, %k : i32
    linalg.yield %q : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// ----- out-of-range-shift
// reject numeric: shift amount
// why: shifts left by 33, which is poison, though x86 takes the count modulo 32
  %k = arith.constant 33 : i32
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%p: i32, %o: i32):
    %q = arith.shli %p, %k : i32
    linalg.yield %q : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
