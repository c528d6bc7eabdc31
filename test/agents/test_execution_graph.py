"""Level stablehlo: the interpreter, kc's road where the interpreter cannot be had, and who picks."""
from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from kc.agents.execution import Call, Checks, ExecutionError, engine, run
from kc.agents.execution.literals import read, write
from kc.agents.execution.signature import kind_of

F32 = np.float32


def results(text: str, *arguments: Any, **checks: Any) -> tuple[np.ndarray, ...]:
    (outcome,) = run(text, "stablehlo", [Call(arguments)], checks=Checks(**checks))
    assert outcome.fault is None
    return outcome.results


SUM = """func.func @main(%x: tensor<{n}xf32>, %y: tensor<{n}xbf16>)
    -> (tensor<f32>, tensor<{n}xbf16>, tensor<{n}xi1>) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<{n}xf32>, tensor<f32>) -> tensor<f32>
  %p = stablehlo.add %y, %y : tensor<{n}xbf16>
  %c = stablehlo.compare LT, %y, %p : (tensor<{n}xbf16>, tensor<{n}xbf16>) -> tensor<{n}xi1>
  return %s, %p, %c : tensor<f32>, tensor<{n}xbf16>, tensor<{n}xi1>
}}"""


@pytest.mark.parametrize("chosen", ["interpreter", "road"])
@pytest.mark.parametrize("n", [1, 5, 200])
def test_both_engines(chosen: str, n: int) -> None:
    x = (np.arange(n) - 2).astype(F32)
    y = np.linspace(-2, 3, n).astype(ml_dtypes.bfloat16)
    total, double, less = results(SUM.format(n=n), x, y, engine=chosen)
    assert total == x.sum() and double.tobytes() == (y + y).tobytes() and (less == (y < y + y)).all()


DOT = """func.func @main(%x: tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32> {{
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
    : (tensor<{0}x{0}xf32>, tensor<{0}x{0}xf32>) -> tensor<{0}x{0}xf32>
  return %0 : tensor<{0}x{0}xf32>
}}"""
DYNAMIC = """func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}"""
COMPLEX = """func.func @main(%x: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %0 = stablehlo.multiply %x, %x : tensor<3xcomplex<f32>>
  return %0 : tensor<3xcomplex<f32>>
}"""
CHOLESKY = """func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}"""
EMPTY = """func.func @main(%x: tensor<2x0xf32>, %y: tensor<0x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}"""


def test_who_picks_the_engine() -> None:
    assert engine(SUM.format(n=5), DOT.format(8)) == "interpreter"
    for other in (DYNAMIC, COMPLEX, CHOLESKY, DOT.format(64), EMPTY):
        assert engine(SUM.format(n=5), other) == "road"
    assert engine("not a module") == "interpreter"


def test_where_the_interpreter_cannot_be_had() -> None:
    x = np.array([1, 2, 3], F32)
    assert results(DYNAMIC, x)[0].tolist() == [2, 4, 6]
    z = np.array([1 + 2j, 3j, -1], np.complex64)
    assert np.allclose(results(COMPLEX, z)[0], z * z)
    a = np.array([[4, 2], [2, 5]], F32)
    assert np.allclose(np.tril(results(CHOLESKY, a)[0]), np.linalg.cholesky(a))
    assert results(EMPTY, np.zeros((2, 0), F32), np.zeros((0, 3), F32))[0].tolist() == [[0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("element", "values"),
    [
        ("f32", [np.nan, -np.inf, 1e-40, -0.0]), ("bf16", [1.5, np.nan, -0.0, 3e38]), ("f16", [65504, 1e-7, -1, 0]),
        ("f8E4M3FN", [448, -0.0, 0.5, 1]), ("i8", [-128, 127, 0, 1]), ("ui64", [2**64 - 1, 0, 1, 2]),
        ("i1", [True, False, True, True]),
        ("i4", [-8, 7, 0, 1]),
    ],
)
def test_literals_keep_every_bit(element: str, values: list[Any]) -> None:
    from kc.bindings import ir
    from kc.context import make_context

    kind = kind_of(f"tensor<4x{element}>")
    with np.errstate(all="ignore"):
        array = np.array(values).astype(kind.dtype)
    with make_context(), ir.Location.unknown():
        for given in (array, array[:1], array[:1].reshape(()), array[:0]):
            back = read(str(ir.Attribute.parse(write(given, kind))))
            assert back.dtype == given.dtype and back.shape == given.shape
            assert back.tobytes() == given.tobytes() or element == "i1"


RESOURCE = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = stablehlo.constant dense_resource<w> : tensor<2xf32>
  %r = stablehlo.add %x, %w : tensor<2xf32>
  return %r : tensor<2xf32>
}
"""
BLOB = '{-# dialect_resources: { builtin: { w: "0x040000000000803F00000040" } } #-}'


@pytest.mark.parametrize("chosen", ["interpreter", "road"])
def test_constants_that_stand_apart(chosen: Any) -> None:
    (outcome,) = run(RESOURCE + BLOB, "stablehlo", [Call((np.float32([1, 2]),))], checks=Checks(engine=chosen))
    assert outcome.results[0].tolist() == [2, 4]
    with pytest.raises(ExecutionError, match="no contents"):
        list(run(RESOURCE, "stablehlo", [Call((np.float32([1, 2]),))], checks=Checks(engine=chosen)))


def test_a_loop_that_nobody_waits_for_is_run() -> None:
    """A dead loop is a loop: what it does to time shows in the test."""
    loop = """
    func.func @main(%x: tensor<i32>) -> tensor<i32> {
      %n = stablehlo.constant dense<20000> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %w = stablehlo.while(%i = %x) : tensor<i32> cond {
        %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j : tensor<i32>
      }
      return %x : tensor<i32>
    }"""
    calls = [Call((np.int32(n),)) for n in (20000, 0)]
    none, many = run(loop, "stablehlo", calls, checks=Checks(engine="interpreter"))
    assert many.seconds > 10 * none.seconds
