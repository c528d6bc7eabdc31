"""Scatters on the NVIDIA road, emulated on the CPU with threads in reverse order (see ``gpu_emulator``)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from gpu_emulator import Emulator, compile_to_outline

NAMES = {np.float32: "f32", np.int8: "i8", np.bool_: "i1", np.float16: "f16", np.complex64: "complex<f32>"}
NAMES |= {np.complex128: "complex<f64>", np.int16: "i16", np.uint32: "ui32", ml_dtypes.bfloat16: "bf16"}
# name -> (element type, op of the combiner with the old value first, the same in NumPy)
CASES: dict[str, tuple[Any, str, Any]] = {
    "multiply": (np.float32, "multiply", np.multiply),
    "halves": (np.float16, "multiply", np.multiply),
    "bytes": (np.int8, "add", np.add),
    "words": (np.int16, "multiply", np.multiply),
    "flags": (np.bool_, "xor", np.logical_xor),
    "unsigned": (np.uint32, "maximum", np.maximum),
    "maxima": (np.float32, "maximum", np.maximum),
    "sum": (np.complex128, "add", np.add),
    "product": (np.complex64, "multiply", np.multiply),
    "rows": (np.float32, "add", np.add),
}


def _scatter(name: str, kind: str, combiner: str, attributes: str = "", columns: int = 3) -> str:
    x, u, s = f"tensor<7x{columns}x{kind}>", f"tensor<6x{columns}x{kind}>", f"tensor<{kind}>"
    return f"""
  func.func public @{name}(%x: {x}, %at: tensor<6xi32>, %u: {u}) -> {x} {{
    %0 = "stablehlo.scatter"(%x, %at, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1> {attributes}}}> ({{
    ^bb0(%a: {s}, %b: {s}):
      {combiner}
    }}) : ({x}, tensor<6xi32>, {u}) -> {x}
    return %0 : {x}
  }}"""


def _binary(op: str, kind: str) -> str:
    return f"%r = stablehlo.{op} %a, %b : tensor<{kind}>\n      stablehlo.return %r : tensor<{kind}>"


PAIR = """
  func.func public @pair(%x: tensor<7x3xf32>, %y: tensor<7x3xi8>, %at: tensor<6xi32>, %u: tensor<6x3xf32>,
                         %v: tensor<6x3xi8>) -> (tensor<7x3xf32>, tensor<7x3xi8>) {
    %0:2 = "stablehlo.scatter"(%x, %y, %at, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<i8>, %c: tensor<f32>, %d: tensor<i8>):
      stablehlo.return %c, %d : tensor<f32>, tensor<i8>
    }) : (tensor<7x3xf32>, tensor<7x3xi8>, tensor<6xi32>, tensor<6x3xf32>, tensor<6x3xi8>)
       -> (tensor<7x3xf32>, tensor<7x3xi8>)
    return %0#0, %0#1 : tensor<7x3xf32>, tensor<7x3xi8>
  }"""


@pytest.fixture(scope="module")
def program() -> Emulator:
    functions = [_scatter(name, NAMES[t], _binary(op, NAMES[t])) for name, (t, op, _) in CASES.items()]
    functions += [
        PAIR,
        _scatter("set", "bf16", "stablehlo.return %b : tensor<bf16>"),
        _scatter("unique", "complex<f64>", _binary("multiply", "complex<f64>"), ", unique_indices = true"),
        *(_scatter(f"said{n}", "f32", _binary("add", "f32"), ", unique_indices = true", n) for n in (3, 130)),
        "func.func public @main(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }",
    ]
    module = compile_to_outline("module {" + "".join(functions) + "}", front_end=True)
    return Emulator(module)


def _random(rng: np.random.Generator, shape: tuple[int, ...], kind: Any) -> np.ndarray:
    if np.issubdtype(kind, np.complexfloating):
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(kind)
    if np.issubdtype(kind, np.integer) or kind is np.bool_:
        return rng.integers(0, 2 if kind is np.bool_ else 120, shape).astype(kind)
    return (rng.integers(-8, 9, shape) / 4).astype(kind)  # sums and products in any order are exact


AT = np.array([2, 6, 2, 9, -1, 2], np.int32)


@pytest.mark.parametrize("name", CASES)
def test_duplicates_are_all_counted(program: Emulator, name: str) -> None:
    kind, _, combine = CASES[name]
    rng = np.random.default_rng(3)
    x, u = _random(rng, (7, 3), kind), _random(rng, (6, 3), kind)
    want = x.copy()
    for k, row in zip(AT, u, strict=True):
        if 0 <= k < 7:
            want[k] = combine(want[k], row)
    program.launches.clear()
    (got,) = program(x, AT, u, entry=name)
    np.testing.assert_allclose(got, want, rtol=1e-5 if np.issubdtype(kind, np.complexfloating) else 0)
    assert all(threads > 1 for _, _, threads in program.launches)


def test_the_last_store_wins(program: Emulator) -> None:
    rng = np.random.default_rng(4)
    x, y, u, v = (_random(rng, (rows, 3), kind) for rows in (7, 6) for kind in (np.float32, np.int8))
    want_x, want_y = x.copy(), y.copy()
    for k, a, b in zip(AT, u, v, strict=True):
        if 0 <= k < 7:
            want_x[k], want_y[k] = a, b
    program.launches.clear()
    got_x, got_y = program(x, y, AT, u, v, entry="pair")
    np.testing.assert_array_equal(got_x, want_x)
    np.testing.assert_array_equal(got_y, want_y)
    assert all(threads > 1 for _, _, threads in program.launches)
    bits = _random(rng, (7, 3), np.float32).astype(ml_dtypes.bfloat16)
    rows = u.astype(ml_dtypes.bfloat16)
    (got,) = program(bits, AT, rows, entry="set")
    want = bits.copy()
    want[[2, 6]] = rows[[5, 1]]
    np.testing.assert_array_equal(got, want)


def test_unique_indices_need_no_atomics(program: Emulator) -> None:
    rng = np.random.default_rng(5)
    x, u = _random(rng, (7, 3), np.complex128), _random(rng, (6, 3), np.complex128)
    at = np.array([5, 0, 3, 8, 2, 6], np.int32)
    want = x.copy()
    want[[5, 0, 3, 2, 6]] *= u[[0, 1, 2, 4, 5]]
    program.launches.clear()
    (got,) = program(x, at, u, entry="unique")
    np.testing.assert_allclose(got, want, rtol=1e-14)
    assert all(threads > 1 for _, _, threads in program.launches)


@pytest.mark.parametrize("columns", [3, 130])
def test_indices_that_are_not_unique_but_said_to_be(program: Emulator, columns: int) -> None:
    rng = np.random.default_rng(6)
    x, u = _random(rng, (7, columns), np.float32), _random(rng, (6, columns), np.float32)
    want = x.copy()
    want[2] += u[0] + u[2] + u[5]
    want[6] += u[1]
    (got,) = program(x, AT, u, entry=f"said{columns}")
    np.testing.assert_array_equal(got, want)
