# ruff: noqa: E501 (lines of MLIR)
"""StableHLO ops on the CPU against the reference interpreter, on inputs with the edges of each type in them."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import kc

sys.path.insert(0, str(Path(__file__).parent))
from stablehlo_oracle import interpret

DTYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i64": np.int64,
    "i32": np.int32,
    "i16": np.int16,
    "i8": np.int8,
    "ui64": np.uint64,
    "ui32": np.uint32,
    "ui8": np.uint8,
    "i1": np.bool_,
}
#: relative error of one rounding, and what a function of the C library may be off
ULP = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}


def run(text: str, *arrays: np.ndarray) -> list[np.ndarray]:
    return [np.asarray(r) for r in kc.compile(text)(*arrays)]


def special(dtype: str) -> np.ndarray:
    """Zeros of both signs, infinities, NaN, denormals, extremes and ordinary numbers."""
    t = DTYPES[dtype]
    if dtype == "i1":
        return np.array([False, True], np.bool_)
    if dtype.startswith("ui"):
        top = np.iinfo(t).max
        return np.array([0, 1, 2, 3, 7, 8, 31, top // 2, top // 2 + 1, top - 1, top], t)
    if dtype.startswith("i"):
        info = np.iinfo(t)
        return np.array([0, 1, -1, 2, -2, 3, 7, -7, 31, info.max, info.min, info.max - 1, info.min + 1], t)
    info = ml_dtypes.finfo(t)
    values = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -2.5,
        3.25,
        1e-3,
        20.0,
        -30.0,
        float(info.max),
        float(info.smallest_normal),
        float(info.smallest_subnormal),
        np.inf,
        -np.inf,
        np.nan,
    ]
    return np.array(values).astype(t)


def close(actual: np.ndarray, expected: np.ndarray, ulps: float) -> None:
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    if actual.dtype.kind in "iub":
        np.testing.assert_array_equal(actual, expected)
        return
    name = next(k for k, v in DTYPES.items() if np.dtype(v) == actual.dtype)
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
    np.testing.assert_array_equal(np.isinf(a), np.isinf(b))
    zero = b == 0
    if ulps == 0:
        np.testing.assert_array_equal(np.signbit(a[zero]), np.signbit(b[zero]))
    finite = np.isfinite(b)
    np.testing.assert_array_equal(a[~finite & ~np.isnan(b)], b[~finite & ~np.isnan(b)])
    tiny = float(ml_dtypes.finfo(actual.dtype).smallest_normal)
    np.testing.assert_allclose(a[finite], b[finite], rtol=ulps * ULP[name], atol=0 if ulps == 0 else tiny)


FLOAT_UNARY = {
    "abs": 0,
    "negate": 0,
    "ceil": 0,
    "floor": 0,
    "sign": 0,
    "round_nearest_even": 0,
    "round_nearest_afz": 0,
    "sqrt": 1,
    "exponential": 4,
    "log": 4,
    "tanh": 6,
    "logistic": 6,
    "rsqrt": 4,
    "cbrt": 4,
    "exponential_minus_one": 4,
    "log_plus_one": 4,
}
INT_UNARY = ("abs", "negate", "sign", "not", "popcnt", "count_leading_zeros")
FLOAT_BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum", "remainder")
INT_BINARY = (
    "add",
    "subtract",
    "multiply",
    "maximum",
    "minimum",
    "and",
    "or",
    "xor",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
)


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16"])
def test_float_unary(dtype: str):
    x = special(dtype)
    t = f"tensor<{x.size}x{dtype}>"
    lines = [f"%r{k} = stablehlo.{op} %x : {t}" for k, op in enumerate(FLOAT_UNARY)]
    results = ", ".join(f"%r{k}" for k in range(len(FLOAT_UNARY)))
    types = ", ".join([t] * len(FLOAT_UNARY))
    text = f"func.func @main(%x: {t}) -> ({types}) {{\n" + "\n".join(lines) + f"\nreturn {results} : {types}\n}}"
    for (op, ulps), actual, expected in zip(FLOAT_UNARY.items(), run(text, x), interpret(text, x), strict=True):
        if op == "exponential_minus_one" and dtype == "f32":
            with np.errstate(over="ignore"):
                expected = np.expm1(x.astype(np.float64)).astype(np.float32)
        try:
            close(actual, expected, ulps)
        except AssertionError as error:
            raise AssertionError(f"{op} on {dtype}: {x} gives {actual}, wanted {expected}") from error


@pytest.mark.parametrize("dtype", ["i8", "i32", "i64", "ui8", "ui32", "ui64"])
def test_integer_unary(dtype: str):
    x = special(dtype)
    t = f"tensor<{x.size}x{dtype}>"
    ops = [op for op in INT_UNARY if not (dtype.startswith("ui") and op in ("abs", "sign"))]
    types = ", ".join([t] * len(ops))
    text = (
        f"func.func @main(%x: {t}) -> ({types}) {{\n"
        + "\n".join(f"%r{k} = stablehlo.{op} %x : {t}" for k, op in enumerate(ops))
        + "\nreturn "
        + ", ".join(f"%r{k}" for k in range(len(ops)))
        + f" : {types}\n}}"
    )
    for actual, expected in zip(run(text, x), interpret(text, x), strict=True):
        close(actual, expected, 0)


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16", "i8", "i32", "i64", "ui8", "ui32", "ui64", "i1"])
def test_binary_and_compare(dtype: str):
    pairs = np.array(list(itertools.product(range(len(special(dtype))), repeat=2)))
    a, b = special(dtype)[pairs[:, 0]], special(dtype)[pairs[:, 1]]
    t, flag = f"tensor<{a.size}x{dtype}>", f"tensor<{a.size}xi1>"
    if dtype == "i1":
        ops: tuple[str, ...] = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")
    else:
        ops = FLOAT_BINARY if "f" in dtype else INT_BINARY
    lines = [f"%r{k} = stablehlo.{op} %a, %b : {t}" for k, op in enumerate(ops)]
    directions = ("EQ", "NE", "LT", "LE", "GT", "GE")
    kinds = ("", ", TOTALORDER") if "f" in dtype else ("",)
    lines += [
        f"%c{k}_{n} = stablehlo.compare {d}, %a, %b{kind} : ({t}, {t}) -> {flag}"
        for k, d in enumerate(directions)
        for n, kind in enumerate(kinds)
    ]
    names = [line.split(" = ")[0] for line in lines]
    types = ", ".join([t] * len(ops) + [flag] * (len(lines) - len(ops)))
    text = (
        f"func.func @main(%a: {t}, %b: {t}) -> ({types}) {{\n"
        + "\n".join(lines)
        + f"\nreturn {', '.join(names)} : {types}\n}}"
    )
    for line, actual, expected in zip(lines, run(text, a, b), interpret(text, a, b), strict=True):
        if "TOTALORDER" in line:  # the interpreter compares as if it were not there
            word = next(w for w in line.split() if w.rstrip(",") in directions).rstrip(",")
            expected = getattr(np, NUMPY_COMPARE[word])(total_order(a), total_order(b))
        try:
            # fmod of f16 and bf16 is done in f32 and rounded
            close(actual, expected, 1 if "remainder" in line else 0)
        except AssertionError as error:
            raise AssertionError(f"{line}: {error}") from error


NUMPY_COMPARE = {
    "EQ": "equal",
    "NE": "not_equal",
    "LT": "less",
    "LE": "less_equal",
    "GT": "greater",
    "GE": "greater_equal",
}


def total_order(x: np.ndarray) -> np.ndarray:
    """Integers in the order of IEEE 754's totalOrder predicate."""
    bits = x.view(f"i{x.itemsize}")
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def test_integer_powers():
    base = np.array([0, 1, -1, 2, -2, 3, -3, 7, 2, -1, -1, 5, 0], np.int32)
    exponent = np.array([0, 5, 3, 10, 3, 4, 5, 2, -1, -3, -4, -2, 3], np.int32)
    text = """func.func @main(%a: tensor<13xi32>, %b: tensor<13xi32>) -> tensor<13xi32> {
      %0 = stablehlo.power %a, %b : tensor<13xi32>
      return %0 : tensor<13xi32>
    }"""
    expected = [1, 1, -1, 1024, -8, 81, -243, 49, 0, -1, 1, 0, 0]
    np.testing.assert_array_equal(run(text, base, exponent)[0], expected)


@pytest.mark.parametrize("source", ["f32", "f64", "f16", "bf16", "i8", "i32", "i64", "ui8", "ui32", "i1"])
def test_convert(source: str):
    x = special(source)
    targets = [d for d in DTYPES if d != source]
    types = ", ".join(f"tensor<{x.size}x{d}>" for d in targets)
    text = (
        f"func.func @main(%x: tensor<{x.size}x{source}>) -> ({types}) {{\n"
        + "\n".join(
            f"%r{k} = stablehlo.convert %x : (tensor<{x.size}x{source}>) -> tensor<{x.size}x{d}>"
            for k, d in enumerate(targets)
        )
        + "\nreturn "
        + ", ".join(f"%r{k}" for k in range(len(targets)))
        + f" : {types}\n}}"
    )
    for target, actual in zip(targets, run(text, x), strict=True):
        wide = x.astype(np.float64) if "f" in source else x
        if "f" in target:
            with np.errstate(over="ignore"):
                expected = x.astype(DTYPES[target])
        elif target == "i1":
            expected = wide != 0
        elif "f" in source:  # saturates, NaN is 0
            info = np.iinfo(DTYPES[target])
            expected = np.array(
                [
                    0 if np.isnan(v) else info.max if v >= float(info.max) else info.min if v <= info.min else int(v)
                    for v in wide
                ],
                DTYPES[target],
            )
        else:
            expected = x.astype(DTYPES[target])
        try:
            close(actual, expected, 0)
        except AssertionError as error:
            raise AssertionError(f"{source} to {target} of {x}: {error}") from error


@pytest.mark.parametrize("bits", [(5, 10), (8, 7), (4, 3), (5, 2), (3, 0), (8, 23), (2, 5)])
def test_reduce_precision(bits: tuple[int, int]):
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [special("f32"), (rng.standard_normal(200) * 10.0 ** rng.integers(-6, 6, 200)).astype(np.float32)]
    )
    t = f"tensor<{x.size}xf32>"
    text = f"""func.func @main(%x: {t}) -> {t} {{
      %0 = stablehlo.reduce_precision %x, format = e{bits[0]}m{bits[1]} : {t}
      return %0 : {t}
    }}"""
    close(run(text, x)[0], interpret(text, x)[0], 0)


# ------------------------------------------------------------------------------ ops with a shape of their own

_REDUCER = """({{
      ^bb0(%a: tensor<{0}>, %b: tensor<{0}>):
        %r = stablehlo.{1} %a, %b : tensor<{0}>
        stablehlo.return %r : tensor<{0}>
      }})"""


def reducer(dtype: str, op: str) -> str:
    return _REDUCER.format(dtype, op)


SHAPED: dict[str, tuple[str, list[tuple[tuple[int, ...], str]]]] = {
    # name: (module, [(shape, dtype) of the arguments])
    "dot_general batch in the middle": (
        """
    func.func @main(%a: tensor<3x2x5xf32>, %b: tensor<5x2x4xf32>) -> tensor<2x3x4xf32> {
      %0 = stablehlo.dot_general %a, %b, batching_dims = [1] x [1], contracting_dims = [2] x [0]
        : (tensor<3x2x5xf32>, tensor<5x2x4xf32>) -> tensor<2x3x4xf32>
      return %0 : tensor<2x3x4xf32>
    }""",
        [((3, 2, 5), "f32"), ((5, 2, 4), "f32")],
    ),
    "dot_general two contracted, none free": (
        """
    func.func @main(%a: tensor<3x5xf64>, %b: tensor<5x3xf64>) -> tensor<f64> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [0, 1] x [1, 0] : (tensor<3x5xf64>, tensor<5x3xf64>) -> tensor<f64>
      return %0 : tensor<f64>
    }""",
        [((3, 5), "f64"), ((5, 3), "f64")],
    ),
    "dot_general signed bytes to int": (
        """
    func.func @main(%a: tensor<3x7xi8>, %b: tensor<7x2xi8>) -> tensor<3x2xi32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x7xi8>, tensor<7x2xi8>) -> tensor<3x2xi32>
      return %0 : tensor<3x2xi32>
    }""",
        [((3, 7), "i8"), ((7, 2), "i8")],
    ),
    "convolution strided, padded, dilated": (
        """
    func.func @main(%x: tensor<2x7x8x3xf32>, %w: tensor<3x2x3x4xf32>) -> tensor<2x4x9x4xf32> {
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {stride = [2, 1], pad = [[1, 2], [0, 3]], rhs_dilate = [1, 2]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<2x7x8x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x4x9x4xf32>
      return %0 : tensor<2x4x9x4xf32>
    }""",
        [((2, 7, 8, 3), "f32"), ((3, 2, 3, 4), "f32")],
    ),
    "convolution with feature groups, NCHW": (
        """
    func.func @main(%x: tensor<2x6x5x5xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x4x3x3xf32> {
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {} {batch_group_count = 1 : i64, feature_group_count = 2 : i64}
        : (tensor<2x6x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x3x3xf32>
      return %0 : tensor<2x4x3x3xf32>
    }""",
        [((2, 6, 5, 5), "f32"), ((4, 3, 3, 3), "f32")],
    ),
    "convolution with batch groups": (
        """
    func.func @main(%x: tensor<4x6x2xf32>, %w: tensor<3x2x6xf32>) -> tensor<2x4x6xf32> {
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
        window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64}
        : (tensor<4x6x2xf32>, tensor<3x2x6xf32>) -> tensor<2x4x6xf32>
      return %0 : tensor<2x4x6xf32>
    }""",
        [((4, 6, 2), "f32"), ((3, 2, 6), "f32")],
    ),
    "convolution transposed, reversed window": (
        """
    func.func @main(%x: tensor<1x4x4x2xf32>, %w: tensor<3x3x2x3xf32>) -> tensor<1x8x9x3xf32> {
      %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
        window = {pad = [[1, 2], [2, 2]], lhs_dilate = [2, 2], reverse = [true, false]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x4x4x2xf32>, tensor<3x3x2x3xf32>) -> tensor<1x8x9x3xf32>
      return %0 : tensor<1x8x9x3xf32>
    }""",
        [((1, 4, 4, 2), "f32"), ((3, 3, 2, 3), "f32")],
    ),
    "reduce two axes with maximum": (
        f"""
    func.func @main(%x: tensor<3x4x5xf32>, %v: tensor<f32>) -> tensor<4xf32> {{
      %0 = "stablehlo.reduce"(%x, %v) {reducer("f32", "maximum")} {{dimensions = array<i64: 0, 2>}}
        : (tensor<3x4x5xf32>, tensor<f32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }}""",
        [((3, 4, 5), "f32"), ((), "f32")],
    ),
    "reduce with a subtraction of the accumulator": (
        """
    func.func @main(%x: tensor<6xi32>, %v: tensor<i32>) -> tensor<i32> {
      %0 = "stablehlo.reduce"(%x, %v) ({
      ^bb0(%a: tensor<i32>, %b: tensor<i32>):
        %two = stablehlo.constant dense<2> : tensor<i32>
        %d = stablehlo.multiply %b, %two : tensor<i32>
        %s = stablehlo.add %a, %d : tensor<i32>
        stablehlo.return %s : tensor<i32>
      }) {dimensions = array<i64: 0>} : (tensor<6xi32>, tensor<i32>) -> tensor<i32>
      return %0 : tensor<i32>
    }""",
        [((6,), "i32"), ((), "i32")],
    ),
    "reduce_window overlapping, padded, dilated": (
        f"""
    func.func @main(%x: tensor<6x7xf32>, %v: tensor<f32>) -> tensor<5x5xf32> {{
      %0 = "stablehlo.reduce_window"(%x, %v) {reducer("f32", "add")} {{window_dimensions = array<i64: 2, 3>,
        window_strides = array<i64: 1, 2>, base_dilations = array<i64: 1, 2>, window_dilations = array<i64: 2, 1>,
        padding = dense<[[1, 0], [0, -1]]> : tensor<2x2xi64>}} : (tensor<6x7xf32>, tensor<f32>) -> tensor<5x5xf32>
      return %0 : tensor<5x5xf32>
    }}""",
        [((6, 7), "f32"), ((), "f32")],
    ),
    "select_and_scatter overlapping and padded": (
        f"""
    func.func @main(%x: tensor<5x6xf32>, %s: tensor<3x6xf32>) -> tensor<5x6xf32> {{
      %v = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = "stablehlo.select_and_scatter"(%x, %s, %v) ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }}, {reducer("f32", "add")[1:-1]}) {{window_dimensions = array<i64: 3, 2>, window_strides = array<i64: 2, 1>,
        padding = dense<[[1, 1], [0, 1]]> : tensor<2x2xi64>}}
        : (tensor<5x6xf32>, tensor<3x6xf32>, tensor<f32>) -> tensor<5x6xf32>
      return %0 : tensor<5x6xf32>
    }}""",
        [((5, 6), "f32"), ((3, 6), "f32")],
    ),
    "gather with batching and out of range indices": (
        """
    func.func @main(%x: tensor<2x5x4xf32>, %i: tensor<2x3x1xi32>) -> tensor<2x3x2xf32> {
      %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2],
        collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [2],
        index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 2>, indices_are_sorted = false}>
        : (tensor<2x5x4xf32>, tensor<2x3x1xi32>) -> tensor<2x3x2xf32>
      return %0 : tensor<2x3x2xf32>
    }""",
        [((2, 5, 4), "f32"), ((2, 3, 1), "i32")],
    ),
    "gather with an implicit index vector": (
        """
    func.func @main(%x: tensor<5x4xf32>, %i: tensor<3x2xi64>) -> tensor<3x2x4xf32> {
      %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2],
        collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 4>,
        indices_are_sorted = false}> : (tensor<5x4xf32>, tensor<3x2xi64>) -> tensor<3x2x4xf32>
      return %0 : tensor<3x2x4xf32>
    }""",
        [((5, 4), "f32"), ((3, 2), "i64")],
    ),
    "scatter with batching, multiply": (
        f"""
    func.func @main(%x: tensor<2x5xf32>, %i: tensor<2x3x1xi32>, %u: tensor<2x3xf32>) -> tensor<2x5xf32> {{
      %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
        input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1],
        index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false}}> {reducer("f32", "multiply")}
        : (tensor<2x5xf32>, tensor<2x3x1xi32>, tensor<2x3xf32>) -> tensor<2x5xf32>
      return %0 : tensor<2x5xf32>
    }}""",
        [((2, 5), "f32"), ((2, 3, 1), "i32"), ((2, 3), "f32")],
    ),
    "scatter of windows that hang over the edge": (
        f"""
    func.func @main(%x: tensor<4x6xi32>, %i: tensor<3x2xi32>, %u: tensor<3x2x3xi32>) -> tensor<4x6xi32> {{
      %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2],
        scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, indices_are_sorted = false,
        unique_indices = false}}> {reducer("i32", "add")} : (tensor<4x6xi32>, tensor<3x2xi32>, tensor<3x2x3xi32>) -> tensor<4x6xi32>
      return %0 : tensor<4x6xi32>
    }}""",
        [((4, 6), "i32"), ((3, 2), "i32"), ((3, 2, 3), "i32")],
    ),
    "dynamic_update_slice": (
        """
    func.func @main(%x: tensor<4x5xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<4x5xf32> {
      %0 = stablehlo.dynamic_update_slice %x, %u, %i, %j
        : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>
      return %0 : tensor<4x5xf32>
    }""",
        [((4, 5), "f32"), ((2, 3), "f32"), ((), "i32"), ((), "i32")],
    ),
    "pad of every kind": (
        """
    func.func @main(%x: tensor<4x5x3xf32>, %v: tensor<f32>) -> tensor<5x8x7xf32> {
      %0 = stablehlo.pad %x, %v, low = [2, -1, 1], high = [-1, 0, 1], interior = [0, 1, 1]
        : (tensor<4x5x3xf32>, tensor<f32>) -> tensor<5x8x7xf32>
      return %0 : tensor<5x8x7xf32>
    }""",
        [((4, 5, 3), "f32"), ((), "f32")],
    ),
    "transpose, reverse, concatenate, slice": (
        """
    func.func @main(%x: tensor<2x3x4xi32>, %y: tensor<4x1x2xi32>) -> tensor<2x4x2xi32> {
      %0 = stablehlo.transpose %x, dims = [2, 1, 0] : (tensor<2x3x4xi32>) -> tensor<4x3x2xi32>
      %1 = stablehlo.reverse %0, dims = [0, 2] : tensor<4x3x2xi32>
      %2 = stablehlo.concatenate %1, %y, dim = 1 : (tensor<4x3x2xi32>, tensor<4x1x2xi32>) -> tensor<4x4x2xi32>
      %3 = stablehlo.slice %2 [1:4:2, 0:4, 0:2] : (tensor<4x4x2xi32>) -> tensor<2x4x2xi32>
      return %3 : tensor<2x4x2xi32>
    }""",
        [((2, 3, 4), "i32"), ((4, 1, 2), "i32")],
    ),
    "reshapes": (
        """
    func.func @main(%x: tensor<2x6x1x5xf32>) -> (tensor<12x5xf32>, tensor<3x4x5xf32>, tensor<1x60x1xf32>, tensor<4x15xf32>) {
      %0 = stablehlo.reshape %x : (tensor<2x6x1x5xf32>) -> tensor<12x5xf32>
      %1 = stablehlo.reshape %x : (tensor<2x6x1x5xf32>) -> tensor<3x4x5xf32>
      %2 = stablehlo.reshape %x : (tensor<2x6x1x5xf32>) -> tensor<1x60x1xf32>
      %3 = stablehlo.reshape %0 : (tensor<12x5xf32>) -> tensor<4x15xf32>
      return %0, %1, %2, %3 : tensor<12x5xf32>, tensor<3x4x5xf32>, tensor<1x60x1xf32>, tensor<4x15xf32>
    }""",
        [((2, 6, 1, 5), "f32")],
    ),
    "reshapes of one element": (
        """
    func.func @main(%x: tensor<f32>) -> (tensor<1x1xf32>, tensor<f32>) {
      %0 = stablehlo.reshape %x : (tensor<f32>) -> tensor<1x1xf32>
      %1 = stablehlo.reshape %0 : (tensor<1x1xf32>) -> tensor<f32>
      return %0, %1 : tensor<1x1xf32>, tensor<f32>
    }""",
        [((), "f32")],
    ),
    "bitcasts between widths": (
        """
    func.func @main(%x: tensor<3xi32>, %y: tensor<2x4xi8>) -> (tensor<3x4xi8>, tensor<2xf32>, tensor<3xf32>) {
      %0 = stablehlo.bitcast_convert %x : (tensor<3xi32>) -> tensor<3x4xi8>
      %1 = stablehlo.bitcast_convert %y : (tensor<2x4xi8>) -> tensor<2xf32>
      %2 = stablehlo.bitcast_convert %x : (tensor<3xi32>) -> tensor<3xf32>
      return %0, %1, %2 : tensor<3x4xi8>, tensor<2xf32>, tensor<3xf32>
    }""",
        [((3,), "i32"), ((2, 4), "i8")],
    ),
    "sort a middle axis by the second operand": (
        """
    func.func @main(%x: tensor<2x9x3xf32>, %k: tensor<2x9x3xi32>) -> (tensor<2x9x3xf32>, tensor<2x9x3xi32>) {
      %0:2 = "stablehlo.sort"(%x, %k) <{dimension = 1 : i64, is_stable = true}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
        %p = stablehlo.compare GT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %p : tensor<i1>
      }) : (tensor<2x9x3xf32>, tensor<2x9x3xi32>) -> (tensor<2x9x3xf32>, tensor<2x9x3xi32>)
      return %0#0, %0#1 : tensor<2x9x3xf32>, tensor<2x9x3xi32>
    }""",
        [((2, 9, 3), "f32"), ((2, 9, 3), "i32")],
    ),
    "case with an index out of range, and if": (
        """
    func.func @main(%i: tensor<i32>, %x: tensor<3xf32>) -> (tensor<3xf32>, tensor<i32>) {
      %seven = stablehlo.constant dense<7> : tensor<i32>
      %p = stablehlo.compare GT, %i, %seven : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %0 = "stablehlo.case"(%i) ({
        %a = stablehlo.add %x, %x : tensor<3xf32>
        stablehlo.return %a : tensor<3xf32>
      }, {
        %b = stablehlo.multiply %x, %x : tensor<3xf32>
        stablehlo.return %b : tensor<3xf32>
      }, {
        stablehlo.return %x : tensor<3xf32>
      }) : (tensor<i32>) -> tensor<3xf32>
      %1 = "stablehlo.if"(%p) ({
        stablehlo.return %seven : tensor<i32>
      }, {
        stablehlo.return %i : tensor<i32>
      }) : (tensor<i1>) -> tensor<i32>
      return %0, %1 : tensor<3xf32>, tensor<i32>
    }""",
        [((), "i32"), ((3,), "f32")],
    ),
    "map and clamp": (
        """
    func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %lo: tensor<f32>, %hi: tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
      %0 = "stablehlo.map"(%x, %y) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.multiply %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %1 = stablehlo.clamp %lo, %x, %hi : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
      return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
    }""",
        [((2, 3), "f32"), ((2, 3), "f32"), ((), "f32"), ((), "f32")],
    ),
    "iota in every type": (
        """
    func.func @main() -> (tensor<3x4xi8>, tensor<3x4xf32>, tensor<3x4xf16>, tensor<3x4xui32>) {
      %0 = stablehlo.iota dim = 0 : tensor<3x4xi8>
      %1 = stablehlo.iota dim = 1 : tensor<3x4xf32>
      %2 = stablehlo.iota dim = 1 : tensor<3x4xf16>
      %3 = stablehlo.iota dim = 0 : tensor<3x4xui32>
      return %0, %1, %2, %3 : tensor<3x4xi8>, tensor<3x4xf32>, tensor<3x4xf16>, tensor<3x4xui32>
    }""",
        [],
    ),
}


def random_input(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
    if "f" in dtype:
        return np.asarray(rng.standard_normal(shape)).astype(DTYPES[dtype])
    return np.asarray(rng.integers(-4, 9, shape)).astype(DTYPES[dtype])


@pytest.mark.parametrize("name", SHAPED)
def test_shaped(name: str):
    text, arguments = SHAPED[name]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        arrays = [random_input(shape, dtype, rng) for shape, dtype in arguments]
        before = [a.copy() for a in arrays]
        actual, expected = run(text, *arrays), interpret(text, *arrays)
        for a, b in zip(actual, expected, strict=True):
            if a.dtype.kind == "f":
                assert a.shape == b.shape and a.dtype == b.dtype
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
            else:
                close(a, b, 0)
        for a, b in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(a, b)


def test_slices_of_empty_tensors():
    text = """
    func.func @main(%x: tensor<3x0xf32>, %y: tensor<2x0xf32>, %i: tensor<i32>)
        -> (tensor<1x0xf32>, tensor<5x0xf32>, tensor<2x0xf32>, tensor<3x0xf32>) {
      %0 = stablehlo.slice %x [1:3:2, 0:0:3] : (tensor<3x0xf32>) -> tensor<1x0xf32>
      %1 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<3x0xf32>, tensor<2x0xf32>) -> tensor<5x0xf32>
      %2 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 0]
        : (tensor<3x0xf32>, tensor<i32>, tensor<i32>) -> tensor<2x0xf32>
      %3 = stablehlo.dynamic_update_slice %x, %y, %i, %i
        : (tensor<3x0xf32>, tensor<2x0xf32>, tensor<i32>, tensor<i32>) -> tensor<3x0xf32>
      return %0, %1, %2, %3 : tensor<1x0xf32>, tensor<5x0xf32>, tensor<2x0xf32>, tensor<3x0xf32>
    }"""
    results = kc.compile(text)(np.zeros((3, 0), np.float32), np.zeros((2, 0), np.float32), np.int32(1))
    assert [r.shape for r in results] == [(1, 0), (5, 0), (2, 0), (3, 0)]


def test_empty_tensors():
    """The interpreter aborts on these."""
    text = """
    func.func @main(%a: tensor<3x0xf32>, %b: tensor<0x2xf32>, %y: tensor<2x0x3xf32>)
        -> (tensor<3x2xf32>, tensor<0x5xf32>, tensor<0x2xf32>, tensor<0x2xf32>) {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<3x0xf32>, tensor<0x2xf32>) -> tensor<3x2xf32>
      %1 = stablehlo.reshape %y : (tensor<2x0x3xf32>) -> tensor<0x5xf32>
      %2 = stablehlo.add %b, %b : tensor<0x2xf32>
      %3 = "stablehlo.sort"(%b) <{dimension = 0 : i64}> ({
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }) : (tensor<0x2xf32>) -> tensor<0x2xf32>
      return %0, %1, %2, %3 : tensor<3x2xf32>, tensor<0x5xf32>, tensor<0x2xf32>, tensor<0x2xf32>
    }"""
    product, reshaped, total, ordered = run(text, *(np.zeros(s, np.float32) for s in ((3, 0), (0, 2), (2, 0, 3))))
    np.testing.assert_array_equal(product, np.zeros((3, 2), np.float32))
    assert (reshaped.shape, total.shape, ordered.shape) == ((0, 5), (0, 2), (0, 2))


def test_composites_chlo_and_private_functions():
    text = """
    func.func @main(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<2xf32>, tensor<2xi32>, tensor<5xf32>) {
      %0 = stablehlo.composite "my.scale" %x {decomposition = @scale, version = 1 : i32} : (tensor<5xf32>) -> tensor<5xf32>
      %1:2 = chlo.top_k(%x, k = 2) : tensor<5xf32> -> (tensor<2xf32>, tensor<2xi32>)
      %2 = chlo.erfc %x : tensor<5xf32> -> tensor<5xf32>
      return %0, %1#0, %1#1, %2 : tensor<5xf32>, tensor<2xf32>, tensor<2xi32>, tensor<5xf32>
    }
    func.func private @scale(%x: tensor<5xf32>) -> tensor<5xf32> {
      %0 = call @double(%x) : (tensor<5xf32>) -> tensor<5xf32>
      return %0 : tensor<5xf32>
    }
    func.func private @double(%x: tensor<5xf32>) -> tensor<5xf32> {
      %0 = stablehlo.add %x, %x : tensor<5xf32>
      return %0 : tensor<5xf32>
    }"""
    from math import erfc

    x = np.array([0.5, -3, 7.25, 0, 2], np.float32)
    scaled, values, indices, complement = run(text, x)
    np.testing.assert_array_equal(scaled, 2 * x)
    np.testing.assert_array_equal(values, [7.25, 2])
    np.testing.assert_array_equal(indices, [2, 4])
    np.testing.assert_allclose(complement, [erfc(v) for v in x], rtol=2e-6)


def test_quantised_arithmetic():
    text = """
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
      %1 = stablehlo.add %0, %0 : tensor<4x!quant.uniform<i8:f32, 0.5:3>>
      %2 = stablehlo.uniform_dequantize %1 : (tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4xf32>
      return %2 : tensor<4xf32>
    }"""
    x = np.array([1.0, -2.3, 100.0, -0.26], np.float32)
    q = np.clip(np.rint(x / 0.5) + 3, -128, 127)  # round to nearest even, then saturate
    expected = (np.clip(2 * q - 3, -128, 127) - 3) * 0.5
    np.testing.assert_array_equal(run(text, x)[0], expected.astype(np.float32))


def test_division_of_unsigned_and_widening_of_bytes():
    text = """
    func.func @main(%a: tensor<3xui8>, %b: tensor<3xui8>) -> (tensor<3xui8>, tensor<3xi32>, tensor<3xf32>, tensor<ui32>) {
      %0 = stablehlo.divide %a, %b : tensor<3xui8>
      %1 = stablehlo.convert %a : (tensor<3xui8>) -> tensor<3xi32>
      %2 = stablehlo.convert %a : (tensor<3xui8>) -> tensor<3xf32>
      %3 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<3xui8>, tensor<3xui8>) -> tensor<ui32>
      return %0, %1, %2, %3 : tensor<3xui8>, tensor<3xi32>, tensor<3xf32>, tensor<ui32>
    }"""
    a, b = np.array([200, 255, 7], np.uint8), np.array([3, 255, 0], np.uint8)
    quotient, wide, real, product = run(text, a, b)
    assert quotient.dtype == np.uint8 and product.dtype == np.uint32
    np.testing.assert_array_equal(quotient, [66, 1, 255])
    np.testing.assert_array_equal(wide, a.astype(np.int32))
    np.testing.assert_array_equal(real, a.astype(np.float32))
    assert product == 200 * 3 + 255 * 255


def test_batch_norms():
    t, f = "tensor<2x5x3xf32>", "tensor<3xf32>"
    attributes = "<{epsilon = 1.0e-03 : f32, feature_index = 2 : i64}>"
    text = f"""
    func.func @main(%x: {t}, %s: {f}, %o: {f}, %g: {t}) -> ({t}, {f}, {f}, {t}, {t}, {f}, {f}) {{
      %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) {attributes} : ({t}, {f}, {f}) -> ({t}, {f}, {f})
      %1 = "stablehlo.batch_norm_inference"(%x, %s, %o, %0#1, %0#2) {attributes} : ({t}, {f}, {f}, {f}, {f}) -> {t}
      %2:3 = "stablehlo.batch_norm_grad"(%x, %s, %0#1, %0#2, %g) {attributes} : ({t}, {f}, {f}, {f}, {t}) -> ({t}, {f}, {f})
      return %0#0, %0#1, %0#2, %1, %2#0, %2#1, %2#2 : {t}, {f}, {f}, {t}, {t}, {f}, {f}
    }}"""
    rng = np.random.default_rng(0)
    x, g = (rng.standard_normal((2, 5, 3)).astype(np.float32) for _ in range(2))
    s, o = (rng.standard_normal(3).astype(np.float32) for _ in range(2))
    y, mean, variance, z, dx, ds, do = run(text, x, s, o, g)

    def norm(v: np.ndarray) -> np.ndarray:
        return (v - v.mean((0, 1))) / np.sqrt(v.var((0, 1)) + 1e-3) * s + o

    wide = x.astype(np.float64)
    np.testing.assert_allclose(y, norm(wide), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(z, norm(wide), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(mean, wide.mean((0, 1)), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(variance, wide.var((0, 1)), rtol=1e-5)
    np.testing.assert_allclose(do, g.sum((0, 1)), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(ds, (g * (norm(wide) - o) / s).sum((0, 1)), rtol=1e-4, atol=1e-5)
    numeric = np.zeros_like(wide)
    for at in np.ndindex(x.shape):
        step = np.zeros_like(wide)
        step[at] = 1e-6
        numeric[at] = ((norm(wide + step) - norm(wide - step)) * g).sum() / 2e-6
    np.testing.assert_allclose(dx, numeric, rtol=1e-3, atol=1e-4)


def test_slices_at_positions_that_the_kernel_itself_would_compute():
    # fused with what it slices at, the consumer would wait for its own result
    text = """
    func.func @main(%a: tensor<8xi32>, %c: tensor<17xi32>) -> (tensor<8xi32>, tensor<4xi32>) {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %n = stablehlo.negate %a : tensor<8xi32>
      %0 = stablehlo.slice %n [3:4] : (tensor<8xi32>) -> tensor<1xi32>
      %i = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
      %1 = stablehlo.dynamic_slice %c, %i, sizes = [8] : (tensor<17xi32>, tensor<i32>) -> tensor<8xi32>
      %2 = stablehlo.add %n, %1 : tensor<8xi32>
      %sum = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
      %j = stablehlo.negate %sum : tensor<i32>
      %k = stablehlo.negate %c : tensor<17xi32>
      %3 = stablehlo.dynamic_slice %k, %j, sizes = [13] : (tensor<17xi32>, tensor<i32>) -> tensor<13xi32>
      %4 = stablehlo.dynamic_slice %3, %i, sizes = [4] : (tensor<13xi32>, tensor<i32>) -> tensor<4xi32>
      %5 = stablehlo.negate %4 : tensor<4xi32>
      return %2, %5 : tensor<8xi32>, tensor<4xi32>
    }"""
    a, c = np.array([1, 2, 3, -5, -1, -1, -1, -1], np.int32), np.arange(100, 117, dtype=np.int32)
    first, second = kc.compile(text)(a, c)
    np.testing.assert_array_equal(first, -a + c[5:13])
    np.testing.assert_array_equal(second, c[3:][5:9])
