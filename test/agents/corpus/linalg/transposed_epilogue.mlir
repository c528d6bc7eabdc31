// r[j, i] = max(x[i, j], 0) + b[j]: a transposed epilogue.
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#j = affine_map<(i, j) -> (j)>
func.func @main(%x: tensor<?x?xf32> {kc.dims = ["M", "N"]}, %b: tensor<?xf32> {kc.dims = ["N"]}) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  // common above
  %r = linalg.generic {indexing_maps = [#ij, #j, #ji], iterator_types = ["parallel", "parallel"]} ins(%x, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.maximumf %p, %z : f32
    %s = arith.addf %t, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// ----- ok-generate
// accept: loop form
// why: tensor.generate with a load per element
  %r = tensor.generate %n, %m {
  ^bb0(%j: index, %i: index):
    %p = tensor.extract %x[%i, %j] : tensor<?x?xf32>
    %q = tensor.extract %b[%j] : tensor<?xf32>
    %t = arith.maximumf %p, %z : f32
    %s = arith.addf %t, %q : f32
    tensor.yield %s : f32
  } : tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- ok-map-then-transpose
// accept: fusion
// why: linalg.map, linalg.transpose, linalg.broadcast and linalg.add one after the other
  %e1 = tensor.empty(%m, %n) : tensor<?x?xf32>
  %a = linalg.map ins(%x : tensor<?x?xf32>) outs(%e1 : tensor<?x?xf32>)
    (%p: f32, %o: f32) {
      %t = arith.maximumf %p, %z : f32
      linalg.yield %t : f32
    }
  %t = linalg.transpose ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]
  %e2 = tensor.empty(%n, %m) : tensor<?x?xf32>
  %bb = linalg.broadcast ins(%b : tensor<?xf32>) outs(%e2 : tensor<?x?xf32>) dimensions = [1]
  %r = linalg.add ins(%t, %bb : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- broadcast-along-the-other
// reject numeric: broadcast
// why: where M = N the bias is broadcast along the other dimension
// witness: {"sizes": {"M": 3, "N": 3}}
  %sq = arith.cmpi eq, %m, %n : index
  %e1 = tensor.empty(%m, %n) : tensor<?x?xf32>
  %a = linalg.max ins(%x, %x : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e1 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %t = linalg.transpose ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]
  %e2 = tensor.empty(%n, %m) : tensor<?x?xf32>
  %bb = scf.if %sq -> (tensor<?x?xf32>) {
    %q = linalg.broadcast ins(%b : tensor<?xf32>) outs(%e2 : tensor<?x?xf32>) dimensions = [0]
    scf.yield %q : tensor<?x?xf32>
  } else {
    %q = linalg.broadcast ins(%b : tensor<?xf32>) outs(%e2 : tensor<?x?xf32>) dimensions = [1]
    scf.yield %q : tensor<?x?xf32>
  }
  %r = linalg.map ins(%t, %bb : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>)
    (%p: f32, %q: f32, %o: f32) {
      %t0 = arith.maximumf %p, %z : f32
      %s = arith.addf %t0, %q : f32
      linalg.yield %s : f32
    }
  return %r : tensor<?x?xf32>

// ----- ok-nested-helper
// accept: calls
// why: a private function on tensors
func.func private @piece(%x: tensor<?x?xf32>, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %z = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [#ij, #ji], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.maximumf %p, %z : f32
    linalg.yield %t : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
func.func @main ... {
  %t = func.call @piece(%x, %e) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [#ij, affine_map<(i, j) -> (i)>, #ij], iterator_types = ["parallel", "parallel"]} ins(%t, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %q, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// ----- ok-bias-as-destination
// accept: destination
// why: the broadcast bias is the destination into which the maxima are added
  %bb = linalg.broadcast ins(%b : tensor<?xf32>) outs(%e : tensor<?x?xf32>) dimensions = [1]
  %r = linalg.generic {indexing_maps = [#ij, #ji], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x?xf32>) outs(%bb : tensor<?x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.maximumf %p, %z : f32
    %s = arith.addf %t, %o : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- ok-scf-while-rows
// accept: loop form
// why: scf.while over rows with the tensor carried along
  %q:2 = scf.while (%i = %c0, %t = %e) : (index, tensor<?x?xf32>) -> (index, tensor<?x?xf32>) {
    %go = arith.cmpi ult, %i, %m : index
    scf.condition(%go) %i, %t : index, tensor<?x?xf32>
  } do {
  ^bb0(%i: index, %t: tensor<?x?xf32>):
    %row = tensor.extract_slice %x[%i, 0] [1, %n] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
    %re = tensor.empty(%n) : tensor<?xf32>
    %v = linalg.generic {indexing_maps = [affine_map<(j) -> (j)>, affine_map<(j) -> (j)>, affine_map<(j) -> (j)>], iterator_types = ["parallel"]} ins(%row, %b : tensor<?xf32>, tensor<?xf32>) outs(%re : tensor<?xf32>) {
    ^bb0(%p: f32, %w: f32, %o: f32):
      %a = arith.maximumf %p, %z : f32
      %s = arith.addf %a, %w : f32
      linalg.yield %s : f32
    } -> tensor<?xf32>
    %t1 = tensor.insert_slice %v into %t[0, %i] [%n, 1] [1, 1] : tensor<?xf32> into tensor<?x?xf32>
    %i1 = arith.addi %i, %c1 : index
    scf.yield %i1, %t1 : index, tensor<?x?xf32>
  }
  return %q#1 : tensor<?x?xf32>

// ----- ok-concat-of-halves
// accept: slices
// why: two halves of rows, put side by side by tensor.concat
  %c2 = arith.constant 2 : index
  %h = arith.divui %m, %c2 : index
  %g = arith.subi %m, %h : index
  %x0 = tensor.extract_slice %x[0, 0] [%h, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %x1 = tensor.extract_slice %x[%h, 0] [%g, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %e0 = tensor.empty(%n, %h) : tensor<?x?xf32>
  %e1 = tensor.empty(%n, %g) : tensor<?x?xf32>
  %r0 = linalg.generic {indexing_maps = [#ij, #j, #ji], iterator_types = ["parallel", "parallel"]} ins(%x0, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%e0 : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.maximumf %p, %z : f32
    %s = arith.addf %t, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %r1 = linalg.generic {indexing_maps = [#ij, #j, #ji], iterator_types = ["parallel", "parallel"]} ins(%x1, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%e1 : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.maximumf %p, %z : f32
    %s = arith.addf %t, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %r = tensor.concat dim(1) %r0, %r1 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- halves-exchanged-when-even
// reject numeric: slices
// why: the halves are put together in the wrong order where both are equal
// witness: {"sizes": {"M": 4, "N": 3}}
  %c2 = arith.constant 2 : index
  %h = arith.divui %m, %c2 : index
  %g = arith.subi %m, %h : index
  %even = arith.cmpi eq, %h, %g : index
  %o0 = arith.select %even, %h, %c0 : index
  %o1 = arith.select %even, %c0, %h : index
  %x0 = tensor.extract_slice %x[0, 0] [%h, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %x1 = tensor.extract_slice %x[%h, 0] [%g, %n] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %e0 = tensor.empty(%n, %h) : tensor<?x?xf32>
  %e1 = tensor.empty(%n, %g) : tensor<?x?xf32>
  %r0 = linalg.generic {indexing_maps = [#ij, #j, #ji], iterator_types = ["parallel", "parallel"]} ins(%x0, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%e0 : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.maximumf %p, %z : f32
    %s = arith.addf %t, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %r1 = linalg.generic {indexing_maps = [#ij, #j, #ji], iterator_types = ["parallel", "parallel"]} ins(%x1, %b : tensor<?x?xf32>, tensor<?xf32>) outs(%e1 : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.maximumf %p, %z : f32
    %s = arith.addf %t, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %a0 = tensor.insert_slice %r0 into %e[0, %o0] [%n, %h] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  %r = tensor.insert_slice %r1 into %a0[0, %o1] [%n, %g] [1, 1] : tensor<?x?xf32> into tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- ok-flags-on-index
// accept: granted assumption
// why: nsw and nuw on an index of the flat matrix, which the sizes prove
  %fl = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#j, #ji], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%q: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %l0 = arith.muli %i, %n overflow<nsw, nuw> : index
    %l = arith.addi %l0, %j overflow<nsw, nuw> : index
    %p = tensor.extract %fl[%l] : tensor<?xf32>
    %t = arith.maximumf %p, %z : f32
    %s = arith.addf %t, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>

// ----- flat-index-by-the-other-extent
// reject aliasing/bounds: out-of-bounds read
// why: the flat index goes by M instead of N: right for square ones
// unchecked: reads anything
// witness: {"sizes": {"M": 3, "N": 7}}
  %fl = tensor.collapse_shape %x [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#j, #ji], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%q: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %l0 = arith.muli %i, %m : index
    %l = arith.addi %l0, %j : index
    %p = tensor.extract %fl[%l] : tensor<?xf32>
    %t = arith.maximumf %p, %z : f32
    %s = arith.addf %t, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
