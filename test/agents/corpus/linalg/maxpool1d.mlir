// Maximum over windows of 3 with one element of padding on both sides; the padding never wins.
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<?xf32> {kc.dims = ["N"]}) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %ninf = arith.constant 0xFF800000 : f32
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  // common above
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %ninf : f32
  } : tensor<?xf32> to tensor<?xf32>
  %f = linalg.fill ins(%ninf : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %w = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%p, %w : tensor<?xf32>, tensor<3xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %u: f32, %o: f32):
    %t = arith.maximumf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// ----- padded-with-zero
// reject numeric: padding
// why: the padding is 0, which wins over negative elements at the ends
// witness: {"sizes": {"N": 4}, "values": {"0": [-1.0, -2.0, -3.0, -4.0]}}
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  } : tensor<?xf32> to tensor<?xf32>
  %f = linalg.fill ins(%ninf : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %w = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%p, %w : tensor<?xf32>, tensor<3xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %u: f32, %o: f32):
    %t = arith.maximumf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- padded-on-one-side
// reject numeric: padding
// why: both paddings on the right: the windows are shifted by one
  %p = tensor.pad %x low[0] high[2] {
  ^bb0(%i: index):
    tensor.yield %ninf : f32
  } : tensor<?xf32> to tensor<?xf32>
  %f = linalg.fill ins(%ninf : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %w = tensor.empty() : tensor<3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%p, %w : tensor<?xf32>, tensor<3xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %u: f32, %o: f32):
    %t = arith.maximumf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- ok-edges-repeated
// accept: padding
// why: repeating the end elements cannot change a maximum over windows that hold them already
  %l = arith.subi %n, %c1 : index
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %first = arith.cmpi eq, %i, %c0 : index
    %im = arith.subi %i, %c1 : index
    %lo = arith.select %first, %i, %im : index
    %ip = arith.addi %i, %c1 : index
    %hi = arith.minui %ip, %l : index
    %u = tensor.extract %x[%lo] : tensor<?xf32>
    %v = tensor.extract %x[%hi] : tensor<?xf32>
    %s = arith.maximumf %u, %a : f32
    %t = arith.maximumf %s, %v : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- out-of-range-extract
// reject aliasing/bounds: out-of-bounds read
// why: the right neighbour of the last element is read and then replaced by -inf
// unchecked: LLVM moves the read behind the condition
// witness: {"sizes": {"N": 16}, "guard": true}
  %l = arith.subi %n, %c1 : index
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %first = arith.cmpi eq, %i, %c0 : index
    %last = arith.cmpi eq, %i, %l : index
    %im = arith.subi %i, %c1 : index
    %lo = arith.select %first, %i, %im : index
    %ip = arith.addi %i, %c1 : index
    %u = tensor.extract %x[%lo] : tensor<?xf32>
    %v0 = tensor.extract %x[%ip] : tensor<?xf32>
    %v = arith.select %last, %ninf, %v0 : f32
    %s = arith.maximumf %u, %a : f32
    %t = arith.maximumf %s, %v : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>

// ----- wraps-round-for-length-two
// reject numeric: small size
// why: neighbours modulo N: right inside, and at the ends only where the other end is not larger
// witness: {"sizes": {"N": 5}, "values": {"0": [9.0, 1.0, 2.0, 3.0, 4.0]}}
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %im = arith.addi %i, %n : index
    %im1 = arith.subi %im, %c1 : index
    %lo = arith.remui %im1, %n : index
    %ip = arith.addi %i, %c1 : index
    %hi = arith.remui %ip, %n : index
    %u = tensor.extract %x[%lo] : tensor<?xf32>
    %v = tensor.extract %x[%hi] : tensor<?xf32>
    %s = arith.maximumf %u, %a : f32
    %t = arith.maximumf %s, %v : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
