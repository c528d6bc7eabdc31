// Quantise to i8: x / 0.125, rounded half to even, saturated; NaN becomes 0.
#id = affine_map<(i) -> (i)>
func.func @main(%x: tensor<?xf32> {kc.dims = ["N"]}) -> tensor<?xi8> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xi8>
  %s = arith.constant 0.125 : f32
  %lo = arith.constant -128.0 : f32
  %hi = arith.constant 127.0 : f32
  %z = arith.constant 0.0 : f32
  // common above
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xi8>) {
  ^bb0(%p: f32, %o: i8):
    %q = arith.divf %p, %s : f32
    %t = math.roundeven %q : f32
    %a = arith.maximumf %t, %lo : f32
    %b = arith.minimumf %a, %hi : f32
    %nan = arith.cmpf uno, %b, %b : f32
    %c = arith.select %nan, %z, %b : f32
    %d = arith.fptosi %c : f32 to i8
    linalg.yield %d : i8
  } -> tensor<?xi8>
  return %r : tensor<?xi8>
}

// ----- half-away
// reject numeric: rounding
// why: math.round rounds halves away from zero
// witness: {"set": {"0": [[0, 0.0625], [1, 0.3125]]}}
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xi8>) {
  ^bb0(%p: f32, %o: i8):
    %q = arith.divf %p, %s : f32
    %t = math.round %q : f32
    %a = arith.maximumf %t, %lo : f32
    %b = arith.minimumf %a, %hi : f32
    %nan = arith.cmpf uno, %b, %b : f32
    %c = arith.select %nan, %z, %b : f32
    %d = arith.fptosi %c : f32 to i8
    linalg.yield %d : i8
  } -> tensor<?xi8>
  return %r : tensor<?xi8>

// ----- ok-times-eight
// accept: strength reduction
// why: 0.125 is a power of two: dividing by it is multiplying by 8, bit for bit
  %k = arith.constant 8.0 : f32
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xi8>) {
  ^bb0(%p: f32, %o: i8):
    %q = arith.mulf %p, %k : f32
    %a = arith.minimumf %q, %hi : f32
    %b = arith.maximumf %a, %lo : f32
    %t = math.roundeven %b : f32
    %nan = arith.cmpf uno, %t, %t : f32
    %c = arith.select %nan, %z, %t : f32
    %d = arith.fptosi %c : f32 to i8
    linalg.yield %d : i8
  } -> tensor<?xi8>
  return %r : tensor<?xi8>

// ----- floor-of-plus-half
// reject numeric: rounding
// why: floor(q + 0.5) rounds halves up
// witness: {"set": {"0": [[0, 0.0625], [1, 0.3125]]}}
  %h = arith.constant 0.5 : f32
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xi8>) {
  ^bb0(%p: f32, %o: i8):
    %q = arith.divf %p, %s : f32
    %q1 = arith.addf %q, %h : f32
    %t = math.floor %q1 : f32
    %a = arith.maximumf %t, %lo : f32
    %b = arith.minimumf %a, %hi : f32
    %nan = arith.cmpf uno, %b, %b : f32
    %c = arith.select %nan, %z, %b : f32
    %d = arith.fptosi %c : f32 to i8
    linalg.yield %d : i8
  } -> tensor<?xi8>
  return %r : tensor<?xi8>

// ----- wraps
// reject numeric: saturation
// why: saturates to 16 bits only and then cuts to 8
// witness: {"set": {"0": [[0, 20.0], [1, -17.0]]}}
  %lo16 = arith.constant -32768.0 : f32
  %hi16 = arith.constant 32767.0 : f32
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xi8>) {
  ^bb0(%p: f32, %o: i8):
    %q = arith.divf %p, %s : f32
    %t = math.roundeven %q : f32
    %a = arith.maximumf %t, %lo16 : f32
    %b = arith.minimumf %a, %hi16 : f32
    %nan = arith.cmpf uno, %b, %b : f32
    %c = arith.select %nan, %z, %b : f32
    %d = arith.fptosi %c : f32 to i16
    %d8 = arith.trunci %d : i16 to i8
    linalg.yield %d8 : i8
  } -> tensor<?xi8>
  return %r : tensor<?xi8>

// ----- symmetric
// reject numeric: saturation
// why: saturates at -127
// witness: {"set": {"0": [[0, -100.0]]}}
  %lo7 = arith.constant -127.0 : f32
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xi8>) {
  ^bb0(%p: f32, %o: i8):
    %q = arith.divf %p, %s : f32
    %t = math.roundeven %q : f32
    %a = arith.maximumf %t, %lo7 : f32
    %b = arith.minimumf %a, %hi : f32
    %nan = arith.cmpf uno, %b, %b : f32
    %c = arith.select %nan, %z, %b : f32
    %d = arith.fptosi %c : f32 to i8
    linalg.yield %d : i8
  } -> tensor<?xi8>
  return %r : tensor<?xi8>

// ----- nan-to-lowest
// reject numeric: nan/inf
// why: maxnum makes -128 of NaN
// witness: {"set": {"0": [[2, "nan"]]}}
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xi8>) {
  ^bb0(%p: f32, %o: i8):
    %q = arith.divf %p, %s : f32
    %t = math.roundeven %q : f32
    %a = arith.maxnumf %t, %lo : f32
    %b = arith.minnumf %a, %hi : f32
    %d = arith.fptosi %b : f32 to i8
    linalg.yield %d : i8
  } -> tensor<?xi8>
  return %r : tensor<?xi8>

// ----- magic-number-rounding
// reject numeric: rounding
// why: adding and taking off 1.5 * 2^22 rounds to halves, and the ceiling of that is no rounding to even
// witness: {"set": {"0": [[0, 0.0625], [1, 0.1875], [2, 0.04]]}}
  %mg = arith.constant 6291456.0 : f32
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xi8>) {
  ^bb0(%p: f32, %o: i8):
    %q = arith.divf %p, %s : f32
    %q1 = arith.addf %q, %mg : f32
    %t0 = arith.subf %q1, %mg : f32
    %t = math.ceil %t0 : f32
    %a = arith.maximumf %t, %lo : f32
    %b = arith.minimumf %a, %hi : f32
    %nan = arith.cmpf uno, %b, %b : f32
    %c = arith.select %nan, %z, %b : f32
    %d = arith.fptosi %c : f32 to i8
    linalg.yield %d : i8
  } -> tensor<?xi8>
  return %r : tensor<?xi8>
