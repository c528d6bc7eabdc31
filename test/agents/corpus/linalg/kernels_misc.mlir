// Concatenates x and the reverse of x, bytes; and counts the positive ones.
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<?xi8> {kc.dims = ["N"]}) -> (tensor<?xi8>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xi8>
  %n2 = arith.addi %n, %n : index
  %e = tensor.empty(%n2) : tensor<?xi8>
  %z = arith.constant 0 : i32
  %z8 = arith.constant 0 : i8
  %ce = tensor.empty() : tensor<i32>
  %cz = linalg.fill ins(%z : i32) outs(%ce : tensor<i32>) -> tensor<i32>
  // common above
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<?xi8>) {
  ^bb0(%o: i8):
    %i = linalg.index 0 : index
    %in = arith.cmpi ult, %i, %n : index
    %l = arith.subi %n2, %c1 : index
    %m = arith.subi %l, %i : index
    %k = arith.select %in, %i, %m : index
    %v = tensor.extract %x[%k] : tensor<?xi8>
    linalg.yield %v : i8
  } -> tensor<?xi8>
  %c = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<?xi8>) outs(%cz : tensor<i32>) {
  ^bb0(%v: i8, %o: i32):
    %p = arith.cmpi sgt, %v, %z8 : i8
    %q = arith.extui %p : i1 to i32
    %s = arith.addi %o, %q : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %r, %c : tensor<?xi8>, tensor<i32>
}

// ----- sign-extended-booleans
// reject numeric: boolean as integer
// why: a boolean extended with its sign is -1: the count is negative
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<?xi8>) {
  ^bb0(%o: i8):
    %i = linalg.index 0 : index
    %in = arith.cmpi ult, %i, %n : index
    %l = arith.subi %n2, %c1 : index
    %m = arith.subi %l, %i : index
    %k = arith.select %in, %i, %m : index
    %v = tensor.extract %x[%k] : tensor<?xi8>
    linalg.yield %v : i8
  } -> tensor<?xi8>
  %c = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<?xi8>) outs(%cz : tensor<i32>) {
  ^bb0(%v: i8, %o: i32):
    %p = arith.cmpi sgt, %v, %z8 : i8
    %q = arith.extsi %p : i1 to i32
    %s = arith.addi %o, %q : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %r, %c : tensor<?xi8>, tensor<i32>

// ----- ok-two-slices
// accept: slices
// why: the halves are put into one tensor by insert_slice; the count by a maximum with 0 and a minimum with 1
  %rev = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : tensor<?xi8>) {
  ^bb0(%o: i8):
    %i = linalg.index 0 : index
    %l = arith.subi %n, %c1 : index
    %m = arith.subi %l, %i : index
    %v = tensor.extract %x[%m] : tensor<?xi8>
    linalg.yield %v : i8
  } -> tensor<?xi8>
  %a = tensor.insert_slice %x into %e[0] [%n] [1] : tensor<?xi8> into tensor<?xi8>
  %r = tensor.insert_slice %rev into %a[%n] [%n] [1] : tensor<?xi8> into tensor<?xi8>
  %one8 = arith.constant 1 : i8
  %c = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<?xi8>) outs(%cz : tensor<i32>) {
  ^bb0(%v: i8, %o: i32):
    %p = arith.maxsi %v, %z8 : i8
    %q8 = arith.minsi %p, %one8 : i8
    %q = arith.extui %q8 : i8 to i32
    %s = arith.addi %o, %q : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %r, %c : tensor<?xi8>, tensor<i32>

// ----- second-half-unwritten
// reject numeric: unwritten elements
// why: only the first half is inserted; the second is what tensor.empty holds
  %r = tensor.insert_slice %x into %e[0] [%n] [1] : tensor<?xi8> into tensor<?xi8>
  %c = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<?xi8>) outs(%cz : tensor<i32>) {
  ^bb0(%v: i8, %o: i32):
    %p = arith.cmpi sgt, %v, %z8 : i8
    %q = arith.extui %p : i1 to i32
    %s = arith.addi %o, %q : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %r, %c : tensor<?xi8>, tensor<i32>

// ----- middle-twice
// reject numeric: off by one
// why: the second half starts with the element before the last
// witness: {"sizes": {"N": 5}}
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<?xi8>) {
  ^bb0(%o: i8):
    %i = linalg.index 0 : index
    %in = arith.cmpi ult, %i, %n : index
    %c2 = arith.constant 2 : index
    %l = arith.subi %n2, %c2 : index
    %m0 = arith.subi %l, %i : index
    %m = arith.maxsi %m0, %c0 : index
    %k = arith.select %in, %i, %m : index
    %v = tensor.extract %x[%k] : tensor<?xi8>
    linalg.yield %v : i8
  } -> tensor<?xi8>
  %c = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<?xi8>) outs(%cz : tensor<i32>) {
  ^bb0(%v: i8, %o: i32):
    %p = arith.cmpi sgt, %v, %z8 : i8
    %q = arith.extui %p : i1 to i32
    %s = arith.addi %o, %q : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %r, %c : tensor<?xi8>, tensor<i32>

// ----- unsigned-positive
// reject numeric: negative integers
// why: counts bytes that are not zero: negative ones too
// witness: {"set": {"0": [[0, -3]]}}
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<?xi8>) {
  ^bb0(%o: i8):
    %i = linalg.index 0 : index
    %in = arith.cmpi ult, %i, %n : index
    %l = arith.subi %n2, %c1 : index
    %m = arith.subi %l, %i : index
    %k = arith.select %in, %i, %m : index
    %v = tensor.extract %x[%k] : tensor<?xi8>
    linalg.yield %v : i8
  } -> tensor<?xi8>
  %c = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<?xi8>) outs(%cz : tensor<i32>) {
  ^bb0(%v: i8, %o: i32):
    %p = arith.cmpi ugt, %v, %z8 : i8
    %q = arith.extui %p : i1 to i32
    %s = arith.addi %o, %q : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %r, %c : tensor<?xi8>, tensor<i32>

// ----- count-in-6-bits
// reject numeric: integer overflow
// why: the count is held in 6 bits: right up to 63 positive bytes, wrong for 64
// witness: {"sizes": {"N": 64}, "values": {"0": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}}
  %mask = arith.constant 63 : i32
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<?xi8>) {
  ^bb0(%o: i8):
    %i = linalg.index 0 : index
    %in = arith.cmpi ult, %i, %n : index
    %l = arith.subi %n2, %c1 : index
    %m = arith.subi %l, %i : index
    %k = arith.select %in, %i, %m : index
    %v = tensor.extract %x[%k] : tensor<?xi8>
    linalg.yield %v : i8
  } -> tensor<?xi8>
  %c = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<?xi8>) outs(%cz : tensor<i32>) {
  ^bb0(%v: i8, %o: i32):
    %p = arith.cmpi sgt, %v, %z8 : i8
    %q = arith.extui %p : i1 to i32
    %s = arith.addi %o, %q : i32
    %t = arith.andi %s, %mask : i32
    linalg.yield %t : i32
  } -> tensor<i32>
  return %r, %c : tensor<?xi8>, tensor<i32>

// ----- parallel-count
// reject determinism: race
// why: the count's dimension is declared parallel, though all iterations update one cell
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<?xi8>) {
  ^bb0(%o: i8):
    %i = linalg.index 0 : index
    %in = arith.cmpi ult, %i, %n : index
    %l = arith.subi %n2, %c1 : index
    %m = arith.subi %l, %i : index
    %k = arith.select %in, %i, %m : index
    %v = tensor.extract %x[%k] : tensor<?xi8>
    linalg.yield %v : i8
  } -> tensor<?xi8>
  %c = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>], iterator_types = ["parallel"]} ins(%x : tensor<?xi8>) outs(%cz : tensor<i32>) {
  ^bb0(%v: i8, %o: i32):
    %p = arith.cmpi sgt, %v, %z8 : i8
    %q = arith.extui %p : i1 to i32
    %s = arith.addi %o, %q : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %r, %c : tensor<?xi8>, tensor<i32>
// schedule
  %r = tensor.insert_slice %x into %e[0] [%n] [1] : tensor<?xi8> into tensor<?xi8>
  return %r, %cz : tensor<?xi8>, tensor<i32>
