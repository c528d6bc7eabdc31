// Keys in descending order with their payloads; the sort is stable.
func.func @main(%k: tensor<12xi32>, %v: tensor<12xi32>) -> (tensor<12xi32>, tensor<12xi32>) {
  // common above
  %r:2 = "stablehlo.sort"(%k, %v) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %c = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<12xi32>, tensor<12xi32>) -> (tensor<12xi32>, tensor<12xi32>)
  return %r#0, %r#1 : tensor<12xi32>, tensor<12xi32>
}

// ----- ascending-reversed
// reject numeric: unstable sort
// why: the stable ascending order reversed puts equal keys the other way round
// witness: {"values": {"0": [5, 5, 1, 2, 5, 1, 7, 8, 2, 2, 0, 0], "1": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}}
  %s:2 = "stablehlo.sort"(%k, %v) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<12xi32>, tensor<12xi32>) -> (tensor<12xi32>, tensor<12xi32>)
  %r0 = stablehlo.reverse %s#0, dims = [0] : tensor<12xi32>
  %r1 = stablehlo.reverse %s#1, dims = [0] : tensor<12xi32>
  return %r0, %r1 : tensor<12xi32>, tensor<12xi32>

// ----- ok-ascending-of-reversed
// accept: sorting
// why: reversed before and after: equal keys keep their order
  %k1 = stablehlo.reverse %k, dims = [0] : tensor<12xi32>
  %v1 = stablehlo.reverse %v, dims = [0] : tensor<12xi32>
  %s:2 = "stablehlo.sort"(%k1, %v1) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<12xi32>, tensor<12xi32>) -> (tensor<12xi32>, tensor<12xi32>)
  %r0 = stablehlo.reverse %s#0, dims = [0] : tensor<12xi32>
  %r1 = stablehlo.reverse %s#1, dims = [0] : tensor<12xi32>
  return %r0, %r1 : tensor<12xi32>, tensor<12xi32>

// ----- ascending-of-negated
// reject numeric: integer overflow
// why: -INT_MIN is INT_MIN
// witness: {"set": {"0": [[3, -2147483648]]}}
  %k1 = stablehlo.negate %k : tensor<12xi32>
  %s:2 = "stablehlo.sort"(%k1, %v) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<12xi32>, tensor<12xi32>) -> (tensor<12xi32>, tensor<12xi32>)
  %r0 = stablehlo.negate %s#0 : tensor<12xi32>
  return %r0, %s#1 : tensor<12xi32>, tensor<12xi32>

// ----- ok-ascending-of-complement
// accept: sorting
// why: ~k turns the order round without overflow
  %k1 = stablehlo.not %k : tensor<12xi32>
  %s:2 = "stablehlo.sort"(%k1, %v) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<12xi32>, tensor<12xi32>) -> (tensor<12xi32>, tensor<12xi32>)
  %r0 = stablehlo.not %s#0 : tensor<12xi32>
  return %r0, %s#1 : tensor<12xi32>, tensor<12xi32>

// ----- payload-breaks-ties
// reject numeric: tie-break
// why: equal keys are ordered by their payload
// witness: {"values": {"0": [5, 5, 1, 2, 5, 1, 7, 8, 2, 2, 0, 0], "1": [9, 2, 3, 4, 5, 6, 7, 8, 1, 10, 11, 12]}}
  %r:2 = "stablehlo.sort"(%k, %v) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
    %c = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %e = stablehlo.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %d = stablehlo.compare LT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %f = stablehlo.and %e, %d : tensor<i1>
    %g = stablehlo.or %c, %f : tensor<i1>
    stablehlo.return %g : tensor<i1>
  }) : (tensor<12xi32>, tensor<12xi32>) -> (tensor<12xi32>, tensor<12xi32>)
  return %r#0, %r#1 : tensor<12xi32>, tensor<12xi32>

// ----- keys-alone
// reject numeric: operation order
// why: keys and payloads are sorted apart
  %r = "stablehlo.sort"(%k) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<12xi32>) -> tensor<12xi32>
  %s = "stablehlo.sort"(%v) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<12xi32>) -> tensor<12xi32>
  return %r, %s : tensor<12xi32>, tensor<12xi32>
