// Adds rows into a table at given rows; rows out of range are left out.
func.func @main(%t: tensor<6x4xi32>, %i: tensor<5xi32>, %u: tensor<5x4xi32>) -> tensor<6x4xi32> {
  %j = stablehlo.reshape %i : (tensor<5xi32>) -> tensor<5x1xi32>
  // common above
  %r = "stablehlo.scatter"(%t, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<6x4xi32>, tensor<5x1xi32>, tensor<5x4xi32>) -> tensor<6x4xi32>
  return %r : tensor<6x4xi32>
}

// ----- replaces
// reject numeric: repeated index
// why: gathers the rows, adds, and writes them back: of equal indices one update stays
// witness: {"values": {"1": [2, 2, 4, 1, 2]}}
  %g = "stablehlo.gather"(%t, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>, indices_are_sorted = false}> : (tensor<6x4xi32>, tensor<5x1xi32>) -> tensor<5x4xi32>
  %w = stablehlo.add %g, %u : tensor<5x4xi32>
  %r = "stablehlo.scatter"(%t, %j, %w) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<6x4xi32>, tensor<5x1xi32>, tensor<5x4xi32>) -> tensor<6x4xi32>
  return %r : tensor<6x4xi32>

// ----- clamps
// reject numeric: out-of-range index
// why: indices are clamped into the table instead of being left out
// witness: {"values": {"1": [7, -1, 4, 1, 2]}}
  %lo = stablehlo.constant dense<0> : tensor<i32>
  %hi = stablehlo.constant dense<5> : tensor<i32>
  %c = stablehlo.clamp %lo, %j, %hi : (tensor<i32>, tensor<5x1xi32>, tensor<i32>) -> tensor<5x1xi32>
  %r = "stablehlo.scatter"(%t, %c, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<6x4xi32>, tensor<5x1xi32>, tensor<5x4xi32>) -> tensor<6x4xi32>
  return %r : tensor<6x4xi32>

// ----- ok-one-hot-product
// accept: scatter
// why: a one-hot matrix times the updates; indices out of range give rows of zeros
  %q = stablehlo.iota dim = 0 : tensor<6x5xi32>
  %b = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<5xi32>) -> tensor<6x5xi32>
  %e = stablehlo.compare EQ, %q, %b : (tensor<6x5xi32>, tensor<6x5xi32>) -> tensor<6x5xi1>
  %h = stablehlo.convert %e : (tensor<6x5xi1>) -> tensor<6x5xi32>
  %d = stablehlo.dot_general %h, %u, contracting_dims = [1] x [0] : (tensor<6x5xi32>, tensor<5x4xi32>) -> tensor<6x4xi32>
  %r = stablehlo.add %t, %d : tensor<6x4xi32>
  return %r : tensor<6x4xi32>

// ----- claims-unique-indices
// reject assumption: false assumption
// why: declares the indices unique on the op and in its assumptions; nothing grants that
// assumes: unique(arg1)
  %r = "stablehlo.scatter"(%t, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<6x4xi32>, tensor<5x1xi32>, tensor<5x4xi32>) -> tensor<6x4xi32>
  return %r : tensor<6x4xi32>

// ----- unique-flag-unsaid
// reject assumption: false assumption
// why: unique_indices = true on the op is an assumption that nobody granted: a compiler may then drop atomics
// witness: {"values": {"1": [2, 2, 4, 1, 2]}}
  %r = "stablehlo.scatter"(%t, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<6x4xi32>, tensor<5x1xi32>, tensor<5x4xi32>) -> tensor<6x4xi32>
  return %r : tensor<6x4xi32>
// schedule
  %g = "stablehlo.gather"(%t, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>, indices_are_sorted = false}> : (tensor<6x4xi32>, tensor<5x1xi32>) -> tensor<5x4xi32>
  %w = stablehlo.add %g, %u : tensor<5x4xi32>
  %r = "stablehlo.scatter"(%t, %j, %w) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) : (tensor<6x4xi32>, tensor<5x1xi32>, tensor<5x4xi32>) -> tensor<6x4xi32>
  return %r : tensor<6x4xi32>

// ----- wraps-negative
// reject numeric: negative integers
// why: negative indices count from the end, as in Python
// witness: {"values": {"1": [-1, 0, 4, 1, 2]}}
  %z = stablehlo.constant dense<0> : tensor<5x1xi32>
  %n = stablehlo.constant dense<6> : tensor<5x1xi32>
  %neg = stablehlo.compare LT, %j, %z : (tensor<5x1xi32>, tensor<5x1xi32>) -> tensor<5x1xi1>
  %jn = stablehlo.add %j, %n : tensor<5x1xi32>
  %c = stablehlo.select %neg, %jn, %j : tensor<5x1xi1>, tensor<5x1xi32>
  %r = "stablehlo.scatter"(%t, %c, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<6x4xi32>, tensor<5x1xi32>, tensor<5x4xi32>) -> tensor<6x4xi32>
  return %r : tensor<6x4xi32>
