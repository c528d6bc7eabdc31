// RUN: kc-opt %s --pass-pipeline='builtin.module(kc-check-shapes)' | FileCheck %s

// Which sizes an op compares, and the texts of its checks, which stand in functions at the end of the module.

// CHECK-LABEL: func.func @dot(
// CHECK: call @[[$DOT0:kc_check_[0-9]+]](
// CHECK: call @[[$DOT1:kc_check_[0-9]+]](
func.func @dot(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [2], contracting_dims = [1] x [0]
      : (tensor<?x?x?xf32>, tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @concatenate(
// CHECK: call @[[$CONCATENATE0:kc_check_[0-9]+]](
func.func @concatenate(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @reshape(
// CHECK: call @[[$RESHAPE0:kc_check_[0-9]+]](
// CHECK: call @[[$RESHAPE1:kc_check_[0-9]+]](
// CHECK: call @[[$RESHAPE2:kc_check_[0-9]+]](
// CHECK: call @[[$RESHAPE3:kc_check_[0-9]+]](
// CHECK: call @[[$RESHAPE4:kc_check_[0-9]+]](
func.func @reshape(%a: tensor<?x4xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_reshape %a, %s : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK: call @[[$SLICE0:kc_check_[0-9]+]](
// CHECK: call @[[$SLICE1:kc_check_[0-9]+]](
func.func @slice(%a: tensor<?x?xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.slice %a [0:3, 1:5] : (tensor<?x?xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @dslice(
// CHECK: call @[[$DSLICE0:kc_check_[0-9]+]](
// CHECK: call @[[$DSLICE1:kc_check_[0-9]+]](
func.func @dslice(%a: tensor<?x?xf32>, %i: tensor<i32>) -> tensor<3x4xf32> {
  %0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [3, 4]
      : (tensor<?x?xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @update(
// CHECK: call @[[$UPDATE0:kc_check_[0-9]+]](
// CHECK: call @[[$UPDATE1:kc_check_[0-9]+]](
func.func @update(%a: tensor<?x8xf32>, %u: tensor<?x?xf32>, %i: tensor<i32>) -> tensor<?x8xf32> {
  %0 = stablehlo.dynamic_update_slice %a, %u, %i, %i
      : (tensor<?x8xf32>, tensor<?x?xf32>, tensor<i32>, tensor<i32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @rslice(
// CHECK: call @[[$RSLICE0:kc_check_[0-9]+]](
// CHECK: call @[[$RSLICE1:kc_check_[0-9]+]](
// CHECK: call @[[$RSLICE2:kc_check_[0-9]+]](
// CHECK: call @[[$RSLICE3:kc_check_[0-9]+]](
func.func @rslice(%a: tensor<?xf32>, %s: tensor<1xi64>, %l: tensor<1xi64>, %t: tensor<1xi64>)
      -> tensor<?xf32> {
  %0 = stablehlo.real_dynamic_slice %a, %s, %l, %t
      : (tensor<?xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @scatter(
// CHECK: call @[[$SCATTER0:kc_check_[0-9]+]](
// CHECK: call @[[$SCATTER1:kc_check_[0-9]+]](
func.func @scatter(%a: tensor<?x?xf32>, %i: tensor<?x1xi32>, %u: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = "stablehlo.scatter"(%a, %i, %u)
      <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %y : tensor<f32>
  }) : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @gather(
// CHECK: call @[[$GATHER0:kc_check_[0-9]+]](
// CHECK: call @[[$GATHER1:kc_check_[0-9]+]](
func.func @gather(%a: tensor<?x?xf32>, %i: tensor<?xi32>) -> tensor<?x4xf32> {
  %0 = "stablehlo.gather"(%a, %i)
      <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}>
      : (tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @sort(
// CHECK: call @[[$SORT0:kc_check_[0-9]+]](
func.func @sort(%a: tensor<?x3xf32>, %b: tensor<?x3xi32>) -> (tensor<?x3xf32>, tensor<?x3xi32>) {
  %0:2 = "stablehlo.sort"(%a, %b) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %p: tensor<i32>, %q: tensor<i32>):
    %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<?x3xf32>, tensor<?x3xi32>) -> (tensor<?x3xf32>, tensor<?x3xi32>)
  return %0#0, %0#1 : tensor<?x3xf32>, tensor<?x3xi32>
}

// CHECK-LABEL: func.func @broadcast(
// CHECK: call @[[$BROADCAST0:kc_check_[0-9]+]](
// CHECK: call @[[$BROADCAST1:kc_check_[0-9]+]](
// CHECK: call @[[$BROADCAST2:kc_check_[0-9]+]](
// CHECK: call @[[$BROADCAST3:kc_check_[0-9]+]](
// CHECK: call @[[$BROADCAST4:kc_check_[0-9]+]](
func.func @broadcast(%a: tensor<?xf32>, %s: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1]
      : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @pad(
// CHECK: call @[[$PAD0:kc_check_[0-9]+]](
// CHECK: call @[[$PAD1:kc_check_[0-9]+]](
// CHECK: call @[[$PAD2:kc_check_[0-9]+]](
// CHECK: call @[[$PAD3:kc_check_[0-9]+]](
// CHECK: call @[[$PAD2]](
// CHECK: call @[[$PAD3]](
// CHECK: call @[[$PAD6:kc_check_[0-9]+]](
// CHECK: call @[[$PAD7:kc_check_[0-9]+]](
func.func @pad(%a: tensor<?xf32>, %v: tensor<f32>, %l: tensor<1xi64>, %h: tensor<1xi64>, %i: tensor<1xi64>)
      -> tensor<?xf32> {
  %0 = stablehlo.dynamic_pad %a, %v, %l, %h, %i
      : (tensor<?xf32>, tensor<f32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @solve(
// CHECK: call @[[$SOLVE0:kc_check_[0-9]+]](
// CHECK: call @[[$SOLVE1:kc_check_[0-9]+]](
func.func @solve(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = "stablehlo.triangular_solve"(%a, %b)
      <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>
      : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @cholesky(
// CHECK: call @[[$CHOLESKY0:kc_check_[0-9]+]](
func.func @cholesky(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @fft(
// CHECK: call @[[$FFT0:kc_check_[0-9]+]](
func.func @fft(%a: tensor<2x?xcomplex<f32>>) -> tensor<2x6xf32> {
  %0 = stablehlo.fft %a, type = IRFFT, length = [6] : (tensor<2x?xcomplex<f32>>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @batch_norm(
// CHECK: call @[[$BATCH_NORM0:kc_check_[0-9]+]](
// CHECK: call @[[$BATCH_NORM1:kc_check_[0-9]+]](
// CHECK: call @[[$BATCH_NORM2:kc_check_[0-9]+]](
// CHECK: call @[[$BATCH_NORM3:kc_check_[0-9]+]](
func.func @batch_norm(%x: tensor<?x?xf32>, %s: tensor<?xf32>, %o: tensor<?xf32>, %m: tensor<?xf32>, %v: tensor<?xf32>)
      -> tensor<?x?xf32> {
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) <{epsilon = 0.1 : f32, feature_index = 1 : i64}>
      : (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @declared(
// CHECK: call @[[$DECLARED0:kc_check_[0-9]+]](
func.func @declared(%a: tensor<?x3xf32>) -> tensor<5x3xf32> {
  %0 = stablehlo.exponential %a : (tensor<?x3xf32>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// CHECK: func.func private @[[$DOT0]]({{.*}}kc.check = "'stablehlo.dot_general' at {{.*}}: dimension 0 of operand 0 has size {0}, dimension 2 of operand 1 has size {1}"
// CHECK: func.func private @[[$DOT1]]({{.*}}kc.check = "'stablehlo.dot_general' at {{.*}}: dimension 1 of operand 0 has size {0}, dimension 0 of operand 1 has size {1}"
// CHECK: func.func private @[[$CONCATENATE0]]({{.*}}kc.check = "'stablehlo.concatenate' at {{.*}}: dimension 0 of operand 0 has size {0}, dimension 0 of operand 1 has size {1}"
// CHECK: func.func private @[[$RESHAPE0]]({{.*}}kc.check = "'stablehlo.dynamic_reshape' at {{.*}}: size {1} is asked for in dimension 0"
// CHECK: func.func private @[[$RESHAPE1]]({{.*}}kc.check = "'stablehlo.dynamic_reshape' at {{.*}}: size {1} is asked for in dimension 1"
// CHECK: func.func private @[[$RESHAPE2]]({{.*}}kc.check = "'stablehlo.dynamic_reshape' at {{.*}}: size {0} is asked for in dimension 0, where at most {1} is possible"
// CHECK: func.func private @[[$RESHAPE3]]({{.*}}kc.check = "'stablehlo.dynamic_reshape' at {{.*}}: size {0} is asked for in dimension 1, where at most {1} is possible"
// CHECK: func.func private @[[$RESHAPE4]]({{.*}}kc.check = "'stablehlo.dynamic_reshape' at {{.*}}: {0} elements cannot take a shape of {1}"
// CHECK: func.func private @[[$SLICE0]]({{.*}}kc.check = "'stablehlo.slice' at {{.*}}: the slice ends at {0} in dimension 0, which has size {1}"
// CHECK: func.func private @[[$SLICE1]]({{.*}}kc.check = "'stablehlo.slice' at {{.*}}: the slice ends at {0} in dimension 1, which has size {1}"
// CHECK: func.func private @[[$DSLICE0]]({{.*}}kc.check = "'stablehlo.dynamic_slice' at {{.*}}: a slice of size {0} is taken from dimension 0, which has size {1}"
// CHECK: func.func private @[[$DSLICE1]]({{.*}}kc.check = "'stablehlo.dynamic_slice' at {{.*}}: a slice of size {0} is taken from dimension 1, which has size {1}"
// CHECK: func.func private @[[$UPDATE0]]({{.*}}kc.check = "'stablehlo.dynamic_update_slice' at {{.*}}: an update of size {0} goes into dimension 0, which has size {1}"
// CHECK: func.func private @[[$UPDATE1]]({{.*}}kc.check = "'stablehlo.dynamic_update_slice' at {{.*}}: an update of size {0} goes into dimension 1, which has size {1}"
// CHECK: func.func private @[[$RSLICE0]]({{.*}}kc.check = "'stablehlo.real_dynamic_slice' at {{.*}}: the slice starts at {1} in dimension 0"
// CHECK: func.func private @[[$RSLICE1]]({{.*}}kc.check = "'stablehlo.real_dynamic_slice' at {{.*}}: the slice is from {0} to {1} in dimension 0"
// CHECK: func.func private @[[$RSLICE2]]({{.*}}kc.check = "'stablehlo.real_dynamic_slice' at {{.*}}: the slice ends at {0} in dimension 0, which has size {1}"
// CHECK: func.func private @[[$RSLICE3]]({{.*}}kc.check = "'stablehlo.real_dynamic_slice' at {{.*}}: the slice has stride {1} in dimension 0"
// CHECK: func.func private @[[$SCATTER0]]({{.*}}kc.check = "'stablehlo.scatter' at {{.*}}: dimension 0 of operand 1 has size {0}, dimension 0 of operand 2 has size {1}"
// CHECK: func.func private @[[$SCATTER1]]({{.*}}kc.check = "'stablehlo.scatter' at {{.*}}: dimension 1 of operand 2 has size {0}, dimension 1 of operand 0 has size {1}"
// CHECK: func.func private @[[$GATHER0]]({{.*}}kc.check = "'stablehlo.gather' at {{.*}}: a slice of size {0} is taken from dimension 0, which has size {1}"
// CHECK: func.func private @[[$GATHER1]]({{.*}}kc.check = "'stablehlo.gather' at {{.*}}: a slice of size {0} is taken from dimension 1, which has size {1}"
// CHECK: func.func private @[[$SORT0]]({{.*}}kc.check = "'stablehlo.sort' at {{.*}}: dimension 0 of operand 0 has size {0}, dimension 0 of operand 1 has size {1}"
// CHECK: func.func private @[[$BROADCAST0]]({{.*}}kc.check = "'stablehlo.dynamic_broadcast_in_dim' at {{.*}}: size {1} is asked for in dimension 0"
// CHECK: func.func private @[[$BROADCAST1]]({{.*}}kc.check = "'stablehlo.dynamic_broadcast_in_dim' at {{.*}}: size {1} is asked for in dimension 1"
// CHECK: func.func private @[[$BROADCAST2]]({{.*}}kc.check = "'stablehlo.dynamic_broadcast_in_dim' at {{.*}}: size {0} is asked for in dimension 0, where at most {1} is possible"
// CHECK: func.func private @[[$BROADCAST3]]({{.*}}kc.check = "'stablehlo.dynamic_broadcast_in_dim' at {{.*}}: size {0} is asked for in dimension 1, where at most {1} is possible"
// CHECK: func.func private @[[$BROADCAST4]]({{.*}}kc.check = "'stablehlo.dynamic_broadcast_in_dim' at {{.*}}: dimension 0 of the operand has size {0}, which cannot be repeated to {1}"
// CHECK: func.func private @[[$PAD0]]({{.*}}kc.check = "'stablehlo.dynamic_pad' at {{.*}}: {1} elements are asked for between those of dimension 0"
// CHECK: func.func private @[[$PAD1]]({{.*}}kc.check = "'stablehlo.dynamic_pad' at {{.*}}: {0} elements are asked for between those of dimension 0, where at most {1} are possible"
// CHECK: func.func private @[[$PAD2]]({{.*}}kc.check = "'stablehlo.dynamic_pad' at {{.*}}: padding by {0} is asked for in dimension 0, {1} is possible"
// CHECK: func.func private @[[$PAD3]]({{.*}}kc.check = "'stablehlo.dynamic_pad' at {{.*}}: padding by {1} is asked for in dimension 0, {0} is possible"
// CHECK: func.func private @[[$PAD6]]({{.*}}kc.check = "'stablehlo.dynamic_pad' at {{.*}}: padding leaves {1} elements of dimension 0"
// CHECK: func.func private @[[$PAD7]]({{.*}}kc.check = "'stablehlo.dynamic_pad' at {{.*}}: size {0} is asked for in dimension 0, where at most {1} is possible"
// CHECK: func.func private @[[$SOLVE0]]({{.*}}kc.check = "'stablehlo.triangular_solve' at {{.*}}: dimension 0 of operand 0 has size {0}, dimension 1 of operand 0 has size {1}"
// CHECK: func.func private @[[$SOLVE1]]({{.*}}kc.check = "'stablehlo.triangular_solve' at {{.*}}: dimension 0 of operand 0 has size {0}, dimension 0 of operand 1 has size {1}"
// CHECK: func.func private @[[$CHOLESKY0]]({{.*}}kc.check = "'stablehlo.cholesky' at {{.*}}: dimension 0 of operand 0 has size {0}, dimension 1 of operand 0 has size {1}"
// CHECK: func.func private @[[$FFT0]]({{.*}}kc.check = "'stablehlo.fft' at {{.*}}: dimension 1 of operand 0 has size {0}, the transform takes {1}"
// CHECK: func.func private @[[$BATCH_NORM0]]({{.*}}kc.check = "'stablehlo.batch_norm_inference' at {{.*}}: dimension 1 of operand 0 has size {0}, dimension 0 of operand 1 has size {1}"
// CHECK: func.func private @[[$BATCH_NORM1]]({{.*}}kc.check = "'stablehlo.batch_norm_inference' at {{.*}}: dimension 1 of operand 0 has size {0}, dimension 0 of operand 2 has size {1}"
// CHECK: func.func private @[[$BATCH_NORM2]]({{.*}}kc.check = "'stablehlo.batch_norm_inference' at {{.*}}: dimension 1 of operand 0 has size {0}, dimension 0 of operand 3 has size {1}"
// CHECK: func.func private @[[$BATCH_NORM3]]({{.*}}kc.check = "'stablehlo.batch_norm_inference' at {{.*}}: dimension 1 of operand 0 has size {0}, dimension 0 of operand 4 has size {1}"
// CHECK: func.func private @[[$DECLARED0]]({{.*}}kc.check = "'stablehlo.exponential' at {{.*}}: dimension 0 of the result has size {0}, its type says {1}"
