"""The CPU schedules of row and elementwise kernels, through the whole road, against NumPy in float64."""
from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import kc

#: kernels as small as these would be compiled without a schedule
SCHEDULED = {"brief": "0"}

DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f64": np.float64}
#: absolute error for results of size about 1
ACCURACY = {"f32": 2e-6, "bf16": 8e-3, "f16": 1e-3, "f64": 1e-14}
SHAPES = [(3, 128), (5, 77), (2, 1), (7, 8), (4, 33), (1, 1000), (0, 9)]


def build(text: str) -> Any:
    """The program, after a check that every kernel in it has an implementation."""
    program = kc.compile(text, target="cpu", options=SCHEDULED)
    linalg = program.stage("linalg")
    assert "kc.kernel" in linalg
    assert linalg.count("kc.impl = @") == linalg.count("kc.kind")
    return program


def softmax_text(rows: str, columns: str, t: str, fold: str = "maximum") -> str:
    """Row softmax in linalg, over f32 inside."""
    x, r = f"tensor<{rows}x{columns}x{t}>", f"tensor<{rows}xf32>"
    wide = "" if t == "f32" else f"%w = arith.extf %a : {t} to f32"
    narrow = "" if t == "f32" else f"%y = arith.truncf %q : f32 to {t}"
    a, y = ("%a" if t == "f32" else "%w"), ("%q" if t == "f32" else "%y")
    sizes = ", ".join([*(["%m"] if rows == "?" else []), *(["%n"] if columns == "?" else [])])
    return f"""
    #id = affine_map<(d0, d1) -> (d0, d1)>
    #row = affine_map<(d0, d1) -> (d0)>
    func.func @main(%x: {x}) -> {x} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %low = arith.constant 0xFF800000 : f32
      %zero = arith.constant 0.0 : f32
      %m = tensor.dim %x, %c0 : {x}
      %n = tensor.dim %x, %c1 : {x}
      %er = tensor.empty({"%m" if rows == "?" else ""}) : {r}
      %ex = tensor.empty({sizes}) : {x}
      %fm = linalg.fill ins(%low : f32) outs(%er : {r}) -> {r}
      %top = linalg.generic {{indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}}
          ins(%x : {x}) outs(%fm : {r}) {{
      ^bb0(%a: {t}, %o: f32):
        {wide}
        %b = arith.{fold}f {a}, %o : f32
        linalg.yield %b : f32
      }} -> {r}
      %fs = linalg.fill ins(%zero : f32) outs(%er : {r}) -> {r}
      %sum = linalg.generic {{indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}}
          ins(%x, %top : {x}, {r}) outs(%fs : {r}) {{
      ^bb0(%a: {t}, %p: f32, %o: f32):
        {wide}
        %d = arith.subf {a}, %p : f32
        %e = math.exp %d : f32
        %b = arith.addf %e, %o : f32
        linalg.yield %b : f32
      }} -> {r}
      %out = linalg.generic {{indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}}
          ins(%x, %top, %sum : {x}, {r}, {r}) outs(%ex : {x}) {{
      ^bb0(%a: {t}, %p: f32, %s: f32, %o: {t}):
        {wide}
        %d = arith.subf {a}, %p : f32
        %e = math.exp %d : f32
        %q = arith.divf %e, %s : f32
        {narrow}
        linalg.yield {y} : {t}
      }} -> {x}
      return %out : {x}
    }}"""


def softmax(x: np.ndarray) -> np.ndarray:
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        e = np.exp(wide - wide.max(1, keepdims=True, initial=-np.inf))
        result: np.ndarray = e / e.sum(1, keepdims=True)
    return result


@pytest.mark.parametrize("t", ["f32", "bf16", "f16"])
def test_softmax_dynamic(t: str) -> None:
    program = build(softmax_text("?", "?", t))
    rng = np.random.default_rng(0)
    for shape in [*SHAPES, (600, 300)]:  # the last one is spread over threads
        x = (rng.standard_normal(shape) * 5).astype(DTYPES[t])
        (y,) = program(x)
        assert np.abs(y.astype(np.float64) - softmax(x)).max(initial=0) < ACCURACY[t]


@pytest.mark.parametrize("shape", [(3, 128), (5, 77), (4, 33)])
def test_softmax_static(shape: tuple[int, int]) -> None:
    program = build(softmax_text(str(shape[0]), str(shape[1]), "f32"))
    x = (np.random.default_rng(1).standard_normal(shape) * 5).astype(np.float32)
    assert np.abs(program(x)[0] - softmax(x)).max() < ACCURACY["f32"]


def test_softmax_special_values() -> None:
    """A NaN spoils its row only; -inf gives exactly 0; a row of -inf is NaN; far values underflow as they should."""
    program = build(softmax_text("?", "?", "f32"))
    x = np.random.default_rng(2).standard_normal((6, 45)).astype(np.float32)
    x[0, 3] = np.nan
    x[1, 7] = -np.inf
    x[2] = -np.inf
    x[3, 5] = np.inf
    x[4] = np.where(np.arange(45) % 2, -95.0, 0.0)  # exp(-95) is a denormal number
    (y,) = program(x)
    assert np.isnan(y[0]).all() and np.isnan(y[2]).all()
    assert y[1, 7] == 0 and np.isfinite(y[1]).all()
    assert np.isnan(y[3]).any()
    exact = softmax(x)
    assert np.allclose(y[4], exact[4], rtol=1e-6, atol=1e-45)
    assert np.abs(y[5] - exact[5]).max() < ACCURACY["f32"]


NORM = """
func.func @main(%x: tensor<?x?x@Txf32>, %g: tensor<@Txf32>) -> (tensor<?x?x@Txf32>, tensor<?x?xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [2]
      : (tensor<?x?x@Txf32>, tensor<f32>) -> tensor<?x?xf32>
  %inv = stablehlo.constant dense<@I> : tensor<f32>
  %shape = shape.shape_of %s : tensor<?x?xf32> -> tensor<2xindex>
  %invb = stablehlo.dynamic_broadcast_in_dim %inv, %shape, dims = []
      : (tensor<f32>, tensor<2xindex>) -> tensor<?x?xf32>
  %mean = stablehlo.multiply %s, %invb : tensor<?x?xf32>
  %full = shape.shape_of %x : tensor<?x?x@Txf32> -> tensor<3xindex>
  %mb = stablehlo.dynamic_broadcast_in_dim %mean, %full, dims = [0, 1]
      : (tensor<?x?xf32>, tensor<3xindex>) -> tensor<?x?x@Txf32>
  %d = stablehlo.subtract %x, %mb : tensor<?x?x@Txf32>
  %gb = stablehlo.dynamic_broadcast_in_dim %g, %full, dims = [2]
      : (tensor<@Txf32>, tensor<3xindex>) -> tensor<?x?x@Txf32>
  %y = stablehlo.multiply %d, %gb : tensor<?x?x@Txf32>
  return %y, %mean : tensor<?x?x@Txf32>, tensor<?x?xf32>
}"""


@pytest.mark.parametrize("width", [1, 5, 64, 100])
def test_two_results_and_leading_dims(width: int) -> None:
    """A row-shaped result and one value a row, rows numbered by two dynamic dims."""
    text = NORM.replace("@T", str(width)).replace("@I", repr(1.0 / width))
    program = kc.compile(text, target="cpu", options=SCHEDULED)
    rng = np.random.default_rng(3)
    x, g = rng.standard_normal((4, 3, width)).astype(np.float32), rng.standard_normal(width).astype(np.float32)
    y, mean = program(x, g)
    exact = x.astype(np.float64).mean(2)
    assert np.abs(mean - exact).max() < 1e-6
    assert np.abs(y - (x - exact[..., None]) * g).max() < 2e-6


FOLDS = [("add", "f32", 0.0, np.sum), ("maximum", "f32", -np.inf, np.max), ("minimum", "f32", np.inf, np.min),
         ("add", "i32", 0, np.sum), ("maximum", "i32", -2**31, np.max), ("multiply", "f64", 1.0, np.prod),
         ("add", "i64", 0, np.sum), ("maximum", "i8", -128, np.max)]


@pytest.mark.parametrize(("op", "t", "init", "reference"), FOLDS)
def test_reductions(op: str, t: str, init: float, reference: Any) -> None:
    literal = {np.inf: "0x7F800000", -np.inf: "0xFF800000"}.get(init, repr(init))
    program = build(f"""
    func.func @main(%x: tensor<9x131x{t}>) -> tensor<9x{t}> {{
      %i = stablehlo.constant dense<{literal}> : tensor<{t}>
      %r = stablehlo.reduce(%x init: %i) applies stablehlo.{op} across dimensions = [1]
          : (tensor<9x131x{t}>, tensor<{t}>) -> tensor<9x{t}>
      return %r : tensor<9x{t}>
    }}""")
    rng = np.random.default_rng(4)
    dtype = {**DTYPES, "i32": np.int32, "i64": np.int64, "i8": np.int8}[t]
    x = rng.standard_normal((9, 131)).astype(dtype) if t[0] == "f" else rng.integers(-100, 100, (9, 131)).astype(dtype)
    (y,) = program(x)
    exact = reference(x.astype(np.float64 if t[0] == "f" else np.int64), axis=1)
    assert np.allclose(y, exact, rtol=1e-5, atol=1e-5) if t[0] == "f" else (y == exact).all()


def test_map_with_broadcast_transpose_and_select() -> None:
    program = build("""
    func.func @main(%x: tensor<33x70xf32>, %b: tensor<70xf32>, %c: tensor<70x33xi1>)
        -> (tensor<70x33xf32>, tensor<70x33xi1>) {
      %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<33x70xf32>) -> tensor<70x33xf32>
      %bb = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<70xf32>) -> tensor<70x33xf32>
      %s = stablehlo.add %t, %bb : tensor<70x33xf32>
      %i = stablehlo.iota dim = 1 : tensor<70x33xf32>
      %y = stablehlo.select %c, %s, %i : tensor<70x33xi1>, tensor<70x33xf32>
      %g = stablehlo.compare GT, %y, %t : (tensor<70x33xf32>, tensor<70x33xf32>) -> tensor<70x33xi1>
      return %y, %g : tensor<70x33xf32>, tensor<70x33xi1>
    }""")
    rng = np.random.default_rng(5)
    x, b = rng.standard_normal((33, 70)).astype(np.float32), rng.standard_normal(70).astype(np.float32)
    c = rng.random((70, 33)) < 0.5
    y, greater = program(x, b, c)
    exact = np.where(c, x.T + b[:, None], np.broadcast_to(np.arange(33, dtype=np.float32), (70, 33)))
    assert np.array_equal(y, exact)
    assert np.array_equal(greater, exact > x.T)


@pytest.mark.parametrize("t", ["f32", "bf16", "f16", "f64"])
def test_flat_map(t: str) -> None:
    """One flat loop; sizes round the vector's; a size that is spread over threads."""
    program = kc.compile(f"""
    func.func @main(%x: tensor<?x{t}>) -> tensor<?x{t}> {{
      %y = stablehlo.tanh %x : tensor<?x{t}>
      %z = stablehlo.add %y, %x : tensor<?x{t}>
      return %z : tensor<?x{t}>
    }}""", target="cpu", options=SCHEDULED)
    rng = np.random.default_rng(6)
    for size in (0, 1, 7, 8, 9, 31, 33, 200001):
        x = rng.standard_normal(size).astype(DTYPES[t])
        (y,) = program(x)
        wide = x.astype(np.float64)
        assert np.abs(y.astype(np.float64) - (np.tanh(wide) + wide)).max(initial=0) < 4 * ACCURACY[t]
