"""Small inputs on which compilers of this kind have failed (public bug reports, in our own words), run on the CPU.

The expected values come from the operations' definitions.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kc

F32, I32 = np.float32, np.int32
INF, NAN = float("inf"), float("nan")


def run(text: str, *arrays: np.ndarray) -> list[np.ndarray]:
    return [np.asarray(r) for r in kc.compile(text)(*arrays)]


def same(actual: np.ndarray, expected: np.ndarray | list) -> None:
    """Equal values, NaN equal to NaN, and equal signs of zeros."""
    expected = np.asarray(expected, dtype=actual.dtype)
    np.testing.assert_array_equal(actual, expected)
    if actual.dtype.kind not in "iub":
        zero = expected == 0
        np.testing.assert_array_equal(
            np.signbit(actual.astype(np.float64))[zero], np.signbit(expected.astype(np.float64))[zero]
        )


def test_scatter_add_keeps_duplicates_and_drops_what_is_out_of_bounds():
    text = """
    func.func @main(%x: tensor<4xi32>, %i: tensor<5x1xi32>, %u: tensor<5xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
      %0 = "stablehlo.scatter"(%x, %i, %u) <{indices_are_sorted = false, unique_indices = false,
        scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
          index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) : (tensor<4xi32>, tensor<5x1xi32>, tensor<5xi32>) -> tensor<4xi32>
      return %0, %x : tensor<4xi32>, tensor<4xi32>
    }"""
    ones = np.ones(4, I32)
    result, operand = run(text, ones, np.array([[0], [0], [3], [4], [-1]], I32), np.array([10, 100, 5, 7, 9], I32))
    same(result, [111, 1, 1, 6])
    same(operand, [1, 1, 1, 1])
    same(ones, [1, 1, 1, 1])


def test_scatter_into_a_dimension_that_is_not_the_first():
    text = """
    func.func @main(%x: tensor<2x3x2xf32>, %i: tensor<1x1xi32>, %u: tensor<2x1x2xf32>) -> tensor<2x3x2xf32> {
      %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 2],
          inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        stablehlo.return %b : tensor<f32>
      }) : (tensor<2x3x2xf32>, tensor<1x1xi32>, tensor<2x1x2xf32>) -> tensor<2x3x2xf32>
      return %0 : tensor<2x3x2xf32>
    }"""
    expected = np.zeros((2, 3, 2), F32)
    expected[:, 2, :] = [[1, 2], [3, 4]]
    update = np.array([[[1, 2]], [[3, 4]]], F32)
    same(run(text, np.zeros((2, 3, 2), F32), np.array([[2]], I32), update)[0], expected)


@pytest.mark.parametrize("constant", [False, True])
def test_integer_division_at_its_edges(constant: bool):
    a, b = [7, -7, -2147483648, 5, -7], [-2, 2, -1, 0, -2]
    if constant:
        text = f"""
        func.func @main() -> (tensor<5xi32>, tensor<5xi32>) {{
          %a = stablehlo.constant dense<{a}> : tensor<5xi32>
          %b = stablehlo.constant dense<{b}> : tensor<5xi32>"""
        arrays = []
    else:
        text = "func.func @main(%a: tensor<5xi32>, %b: tensor<5xi32>) -> (tensor<5xi32>, tensor<5xi32>) {"
        arrays = [np.array(a, I32), np.array(b, I32)]
    text += """
      %q = stablehlo.divide %a, %b : tensor<5xi32>
      %r = stablehlo.remainder %a, %b : tensor<5xi32>
      return %q, %r : tensor<5xi32>, tensor<5xi32>
    }"""
    quotient, remainder = run(text, *arrays)
    same(quotient, [-3, -3, -2147483648, -1, 3])
    same(remainder, [1, -1, 0, 5, -1])


def test_shifts_by_the_width_and_more():
    text = """
    func.func @main(%a: tensor<4xi32>, %s: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
      %0 = stablehlo.shift_left %a, %s : tensor<4xi32>
      %1 = stablehlo.shift_right_logical %a, %s : tensor<4xi32>
      %2 = stablehlo.shift_right_arithmetic %a, %s : tensor<4xi32>
      return %0, %1, %2 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
    }"""
    left, logical, arithmetic = run(text, np.array([-8, -8, -8, 1], I32), np.array([1, 31, 32, 40], I32))
    same(left, [-16, 0, 0, 0])
    same(logical, [2147483644, 1, 0, 0])
    same(arithmetic, [-4, -1, -1, 0])


@pytest.mark.parametrize(("i", "j"), [(9, 0), (3, 5)])
def test_nested_dynamic_slices_clamp_one_by_one(i: int, j: int):
    text = """
    func.func @main(%x: tensor<10xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<1xf32> {
      %0 = stablehlo.dynamic_slice %x, %i, sizes = [4] : (tensor<10xf32>, tensor<i32>) -> tensor<4xf32>
      %1 = stablehlo.dynamic_slice %0, %j, sizes = [1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
      return %1 : tensor<1xf32>
    }"""
    same(run(text, np.arange(10, dtype=F32), np.array(i, I32), np.array(j, I32))[0], [6])


@pytest.mark.parametrize("constant", [False, True])
def test_an_unsigned_index_is_not_sign_extended(constant: bool):
    header = "func.func @main(%x: tensor<300xi32>) -> tensor<1xi32> {\n%i = stablehlo.constant dense<200> : tensor<ui8>"
    if not constant:
        header = "func.func @main(%x: tensor<300xi32>, %i: tensor<ui8>) -> tensor<1xi32> {"
    text = (
        header
        + """
      %0 = stablehlo.dynamic_slice %x, %i, sizes = [1] : (tensor<300xi32>, tensor<ui8>) -> tensor<1xi32>
      return %0 : tensor<1xi32>
    }"""
    )
    arrays = [] if constant else [np.array(200, np.uint8)]
    same(run(text, np.arange(300, dtype=I32), *arrays)[0], [200])


def test_pad_of_an_empty_tensor():
    text = """
    func.func @main(%x: tensor<0x2xi16>, %v: tensor<i16>) -> tensor<3x3xi16> {
      %0 = stablehlo.pad %x, %v, low = [1, 0], high = [2, 1], interior = [1, 0]
        : (tensor<0x2xi16>, tensor<i16>) -> tensor<3x3xi16>
      return %0 : tensor<3x3xi16>
    }"""
    same(run(text, np.zeros((0, 2), np.int16), np.array(5, np.int16))[0], np.full((3, 3), 5))


def test_reduction_over_nothing_is_the_initial_value():
    text = """
    func.func @main(%x: tensor<0x3xf32>, %v: tensor<f32>) -> tensor<3xf32> {
      %0 = stablehlo.reduce(%x init: %v) applies stablehlo.add across dimensions = [0]
        : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
      return %0 : tensor<3xf32>
    }"""
    same(run(text, np.zeros((0, 3), F32), np.array(2.5, F32))[0], [2.5, 2.5, 2.5])


def test_inverse_pairs_overflow():
    text = """
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %0 = stablehlo.exponential %x : tensor<2xf32>
      %1 = stablehlo.log %0 : tensor<2xf32>
      %2 = stablehlo.multiply %x, %x : tensor<2xf32>
      %3 = stablehlo.sqrt %2 : tensor<2xf32>
      return %1, %3 : tensor<2xf32>, tensor<2xf32>
    }"""
    log_exp, sqrt_square = run(text, np.array([1, 1e20], F32))
    np.testing.assert_allclose(log_exp, [1, INF], rtol=1e-6)
    same(sqrt_square, [1, INF])


def test_convolution_dilates_before_it_cuts():
    text = """
    func.func @main(%x: tensor<1x3x1xf32>, %w: tensor<1x1x1xf32>) -> tensor<1x4x1xf32> {
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
        window = {pad = [[-1, 0]], lhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x3x1xf32>, tensor<1x1x1xf32>) -> tensor<1x4x1xf32>
      return %0 : tensor<1x4x1xf32>
    }"""
    x = np.array([1, 2, 3], F32).reshape(1, 3, 1)
    same(run(text, x, np.ones((1, 1, 1), F32))[0].reshape(-1), [0, 2, 0, 3])


@pytest.mark.parametrize(
    ("dtype", "name"), [(np.float16, "f16"), (ml_dtypes.bfloat16, "bf16"), (F32, "f32"), (np.float64, "f64")]
)
def test_rounding_of_ties(dtype: type, name: str):
    text = f"""
    func.func @main(%x: tensor<6x{name}>) -> (tensor<6x{name}>, tensor<6x{name}>) {{
      %0 = stablehlo.round_nearest_even %x : tensor<6x{name}>
      %1 = stablehlo.round_nearest_afz %x : tensor<6x{name}>
      return %0, %1 : tensor<6x{name}>, tensor<6x{name}>
    }}"""
    even, away = run(text, np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5]).astype(dtype))
    same(even, np.array([0, 2, 2, -0.0, -2, -2]).astype(dtype))
    same(away, np.array([1, 2, 3, -1, -2, -3]).astype(dtype))


def test_bfloat16_rounds_to_nearest_even():
    text = """
    func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xbf16>
      %1 = stablehlo.convert %0 : (tensor<4xbf16>) -> tensor<4xf32>
      %2 = stablehlo.reduce_precision %x, format = e8m7 : tensor<4xf32>
      return %1, %2 : tensor<4xf32>, tensor<4xf32>
    }"""
    for result in run(text, np.array([1.00390625, 1.01171875, 257, 3.4e38], F32)):
        same(result, [1, 1.015625, 256, INF])


def test_loop_carried_tensors_that_swap():
    text = """
    func.func @main(%x: tensor<ui32>, %y: tensor<ui32>, %r1: tensor<2xui32>, %r2: tensor<2xui32>)
        -> (tensor<ui32>, tensor<ui32>) {
      %zero = stablehlo.constant dense<0> : tensor<ui32>
      %one = stablehlo.constant dense<1> : tensor<ui32>
      %five = stablehlo.constant dense<5> : tensor<ui32>
      %width = stablehlo.constant dense<32> : tensor<ui32>
      %w:5 = stablehlo.while(%i = %zero, %a = %x, %b = %y, %p = %r1, %q = %r2)
          : tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<2xui32>, tensor<2xui32>
        cond {
          %c = stablehlo.compare LT, %i, %five : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %s0 = stablehlo.slice %p [0:1] : (tensor<2xui32>) -> tensor<1xui32>
          %s = stablehlo.reshape %s0 : (tensor<1xui32>) -> tensor<ui32>
          %t = stablehlo.subtract %width, %s : tensor<ui32>
          %a2 = stablehlo.add %a, %b : tensor<ui32>
          %l = stablehlo.shift_left %b, %s : tensor<ui32>
          %h = stablehlo.shift_right_logical %b, %t : tensor<ui32>
          %rot = stablehlo.or %l, %h : tensor<ui32>
          %b2 = stablehlo.xor %a2, %rot : tensor<ui32>
          %j = stablehlo.add %i, %one : tensor<ui32>
          stablehlo.return %j, %a2, %b2, %q, %p
            : tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<2xui32>, tensor<2xui32>
        }
      return %w#1, %w#2 : tensor<ui32>, tensor<ui32>
    }"""
    u32 = np.uint32
    x, y = run(text, np.array(1, u32), np.array(7, u32), np.array([13, 17], u32), np.array([15, 29], u32))
    assert (int(x), int(y)) == (388728451, 2820927968)


def test_sort_is_stable_in_total_order():
    text = """
    func.func @main(%k: tensor<5xf32>, %v: tensor<5xi32>) -> (tensor<5xf32>, tensor<5xi32>) {
      %0:2 = "stablehlo.sort"(%k, %v) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
        %p = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }) : (tensor<5xf32>, tensor<5xi32>) -> (tensor<5xf32>, tensor<5xi32>)
      return %0#0, %0#1 : tensor<5xf32>, tensor<5xi32>
    }"""
    keys, payload = run(text, np.array([0, NAN, -0.0, 1, 0], F32), np.arange(5, dtype=I32))
    same(keys, [-0.0, 0, 0, 1, NAN])
    same(payload, [2, 0, 4, 3, 1])


def test_adding_zero_to_minus_zero():
    text = """
    func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<3xf32>
      %one = stablehlo.constant dense<1.0> : tensor<3xf32>
      %c = stablehlo.ceil %x : tensor<3xf32>
      %s = stablehlo.add %c, %zero : tensor<3xf32>
      %0 = stablehlo.divide %one, %s : tensor<3xf32>
      %1 = stablehlo.divide %one, %c : tensor<3xf32>
      return %0, %1 : tensor<3xf32>, tensor<3xf32>
    }"""
    with_zero, without = run(text, np.array([-0.5, -0.1, -0.9], F32))
    same(with_zero, [INF] * 3)
    same(without, [-INF] * 3)


def test_dynamic_gather():
    text = """
    func.func @main(%x: tensor<4x2xf32>, %i: tensor<3xi64>) -> tensor<3x2xf32> {
      %sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
      %0 = "stablehlo.dynamic_gather"(%x, %i, %sizes) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
        collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}>
        : (tensor<4x2xf32>, tensor<3xi64>, tensor<2xi32>) -> tensor<3x2xf32>
      return %0 : tensor<3x2xf32>
    }"""
    x = np.arange(8, dtype=F32).reshape(4, 2)
    same(run(text, x, np.array([2, 0, 3]))[0], x[[2, 0, 3]])


def test_dynamic_sort_leaves_its_operand_alone():
    text = """
    func.func @main(%n: tensor<1xi32>) -> (tensor<?xi32>, tensor<?xi32>) {
      %iota = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
      %neg = stablehlo.negate %iota : tensor<?xi32>
      %0:2 = "stablehlo.sort"(%neg, %iota) <{dimension = 0 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
        %p = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }) : (tensor<?xi32>, tensor<?xi32>) -> (tensor<?xi32>, tensor<?xi32>)
      return %0#1, %iota : tensor<?xi32>, tensor<?xi32>
    }"""
    payload, iota = run(text, np.array([4], I32))
    same(payload, [3, 2, 1, 0])
    same(iota, [0, 1, 2, 3])


def test_a_long_chain_compiles_in_near_linear_time():
    import time

    def seconds(length: int) -> float:
        body = "\n".join(f"%v{k + 1} = stablehlo.add %v{k}, %v0 : tensor<4xf32>" for k in range(length))
        text = f"func.func @main(%v0: tensor<4xf32>) -> tensor<4xf32> {{\n{body}\nreturn %v{length} : tensor<4xf32>\n}}"
        started = time.process_time()
        kc.lower(text, to="linalg")
        return time.process_time() - started

    seconds(100)
    short, long = seconds(500), seconds(2000)
    assert long < 4 * short * 2.5
