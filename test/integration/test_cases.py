"""Small inputs on which compilers of this kind have failed (public bug reports, in our own words), run on the CPU.

The expected values come from the operations' definitions.
"""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import kc

F32, I32 = np.float32, np.int32
INF, NAN = float("inf"), float("nan")


def run(text: str, *arrays: np.ndarray) -> list[np.ndarray]:
    """The results for ``arrays``, given as arguments and again as constants, which folding must not change."""
    results = [np.asarray(r) for r in kc.compile(text)(*arrays)]
    if arrays and "?" not in text.partition("{")[0]:
        for constant, argument in zip(kc.compile(with_constants(text, arrays))(), results, strict=True):
            same(np.asarray(constant), argument)
    return results


def with_constants(text: str, arrays: tuple[np.ndarray, ...]) -> str:
    """The module with a ``main`` that hands constants to the one it had."""
    types, results = re.search(r"@main\((.*?)\)\s*->\s*(\([^)]*\)|\S+)\s*\{", text, re.DOTALL).groups()
    kinds = re.findall(r"tensor<[^>]*>", types)
    outs = re.findall(r"tensor<[^>]*>", results)
    lines = [
        f"%c{k} = stablehlo.constant dense<{literal(array)}> : {kind}"
        for k, (array, kind) in enumerate(zip(arrays, kinds, strict=True))
    ]
    names = ", ".join(f"%c{k}" for k in range(len(kinds)))
    returned = ", ".join(f"%r#{k}" for k in range(len(outs)))
    body = (
        "\n".join(lines) + f"\n%r:{len(outs)} = func.call @inner({names}) : ({', '.join(kinds)}) -> ({', '.join(outs)})"
    )
    head = f"func.func @main() -> ({', '.join(outs)}) {{\n{body}\nreturn {returned} : {', '.join(outs)}\n}}\n"
    return head + text.replace("func.func @main", "func.func private @inner", 1)


def literal(array: np.ndarray) -> str:
    if array.size == 0:
        return ""
    if array.dtype.kind in "iu":
        words = [str(int(v)) for v in array.reshape(-1)]
    else:
        words = [f"0x{int(b):0{2 * array.itemsize}X}" for b in array.reshape(-1).view(f"u{array.itemsize}")]
    if array.ndim == 0:
        return words[0]
    return str(np.array(words, object).reshape(array.shape).tolist()).replace("'", "")


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


@pytest.mark.parametrize(("first", "second"), [(-128, -1), (127, 1), (100, 100)])
def test_sums_without_overflow_stay_defined_when_they_are_merged(first: int, second: int):
    text = f"""
    func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {{
      %e = tensor.empty() : tensor<4xi8>
      %r = linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
          iterator_types = ["parallel"]}} ins(%x : tensor<4xi8>) outs(%e : tensor<4xi8>) {{
      ^bb0(%v: i8, %o: i8):
        %a = arith.constant {first} : i8
        %b = arith.constant {second} : i8
        %t = arith.addi %v, %a overflow<nsw> : i8
        %s = arith.addi %t, %b overflow<nsw> : i8
        linalg.yield %s : i8
      }} -> tensor<4xi8>
      return %r : tensor<4xi8>
    }}"""
    x = np.array([1, 0, 5, -1], np.int8)
    same(run(text, x)[0], x + np.int8(first) + np.int8(second))


def test_a_transpose_into_what_it_reads():
    text = """
    func.func @main(%x: tensor<?x?xi64>, %c: i1) -> tensor<?x?xi64> {
      %v = scf.if %c -> tensor<?x?xi64> {
        scf.yield %x : tensor<?x?xi64>
      } else {
        %zero = arith.constant 0 : index
        %n = tensor.dim %x, %zero : tensor<?x?xi64>
        %e = tensor.empty(%n, %n) : tensor<?x?xi64>
        scf.yield %e : tensor<?x?xi64>
      }
      %r = linalg.transpose ins(%v : tensor<?x?xi64>) outs(%v : tensor<?x?xi64>) permutation = [1, 0]
      return %r : tensor<?x?xi64>
    }"""
    exe = kc.compile(text)
    for n in (2, 17):
        x = np.arange(n * n).reshape(n, n)
        same(np.asarray(exe(x, True)[0]), x.T.copy())
        same(x, np.arange(n * n).reshape(n, n))


def test_that_transpose_of_a_constant():
    text = """
    func.func @main() -> (i64, i64, i64, i64) {
      %k = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
      %true = arith.constant true
      %x = tensor.cast %k : tensor<2x2xi64> to tensor<?x?xi64>
      %v = scf.if %true -> tensor<?x?xi64> {
        scf.yield %x : tensor<?x?xi64>
      } else {
        scf.yield %x : tensor<?x?xi64>
      }
      %r = linalg.transpose ins(%v : tensor<?x?xi64>) outs(%v : tensor<?x?xi64>) permutation = [1, 0]
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %a = tensor.extract %r[%c0, %c0] : tensor<?x?xi64>
      %b = tensor.extract %r[%c0, %c1] : tensor<?x?xi64>
      %c = tensor.extract %r[%c1, %c0] : tensor<?x?xi64>
      %d = tensor.extract %r[%c1, %c1] : tensor<?x?xi64>
      return %a, %b, %c, %d : i64, i64, i64, i64
    }"""
    assert [int(r) for r in kc.compile(text)()] == [1, 3, 2, 4]


@pytest.mark.parametrize("cast", ["cast_signed", "cast_unsigned"])
@pytest.mark.parametrize(
    ("left", "right", "a", "b"),
    [("f16", "f64", -66.9375, -113.37), ("f32", "f32", -3.5, 2.0)],
)
def test_floats_that_are_multiplied_as_integers(cast: str, left: str, right: str, a: float, b: float):
    """Each factor is cut to an integer first; a negative one is the same signed or not, since the sum wraps."""
    m, k, n = (16, 8, 32) if left == "f16" else (64, 64, 64)
    out = f"tensor<{m}x{n}xi32>"
    text = f"""
    func.func @main(%x: tensor<{m}x{k}x{left}>, %y: tensor<{k}x{n}x{right}>, %z: {out}) -> {out} {{
      %r = linalg.matmul {{cast = #linalg.type_fn<{cast}>}}
        ins(%x, %y : tensor<{m}x{k}x{left}>, tensor<{k}x{n}x{right}>) outs(%z : {out}) -> {out}
      return %r : {out}
    }}"""
    types = {"f16": np.float16, "f32": F32, "f64": np.float64}
    x, y, z = np.full((m, k), a, types[left]), np.full((k, n), b, types[right]), np.full((m, n), 22, I32)
    same(np.asarray(kc.compile(text)(x, y, z)[0]), np.full((m, n), 22 + k * int(x[0, 0]) * int(y[0, 0]), I32))


def test_offsets_beyond_32_bits_are_computed_in_64():
    text = """
    func.func @main(%x: tensor<320x7864320xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<1x8xf32> {
      %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [1, 8]
        : (tensor<320x7864320xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      return %0 : tensor<1x8xf32>
    }"""
    lowered = str(kc.lower(text, to="llvm"))
    assert re.search(r"llvm\.(mul|getelementptr)", lowered)
    assert not re.search(r"llvm\.mul .* : i32", lowered)
    assert "7864320 : i32" not in lowered


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
