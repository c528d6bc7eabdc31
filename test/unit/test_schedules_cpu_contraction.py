"""The CPU schedule of contractions, through the whole road, against NumPy in float64."""
from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.special

import kc

#: kernels as small as these would be compiled without a schedule
SCHEDULED = {"brief": "0"}

DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f64": np.float64, "i32": np.int32}
#: error relative to the sum of the products' magnitudes
ACCURACY = {"f32": 1e-6, "bf16": 8e-3, "f16": 1e-3, "f64": 1e-14, "i32": 0.0}


def build(text: str) -> Any:
    """The program, after a check that its contraction has an implementation."""
    program = kc.compile(text, target="cpu", options=SCHEDULED)
    linalg = program.stage("linalg")
    assert 'kc.kind = "contraction"' in linalg and "kc.impl = @" in linalg
    return program


def dot_text(m: str, n: str, k: str, t: str = "f32", lhs_k: int = 1, rhs_k: int = 0, out: str | None = None) -> str:
    """``stablehlo.dot_general`` with the summed axis of each factor at ``lhs_k`` and ``rhs_k``."""
    lhs = f"{m}x{k}" if lhs_k else f"{k}x{m}"
    rhs = f"{n}x{k}" if rhs_k else f"{k}x{n}"
    out = out or t
    return f"""
    func.func @main(%a: tensor<{lhs}x{t}>, %b: tensor<{rhs}x{t}>) -> tensor<{m}x{n}x{out}> {{
      %c = stablehlo.dot_general %a, %b, contracting_dims = [{lhs_k}] x [{rhs_k}]
          : (tensor<{lhs}x{t}>, tensor<{rhs}x{t}>) -> tensor<{m}x{n}x{out}>
      return %c : tensor<{m}x{n}x{out}>
    }}"""


def factors(shape: tuple[int, int, int], t: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """lhs (m, k), rhs (k, n), their product and the sum of magnitudes in float64 or int64."""
    rng = np.random.default_rng(sum(shape))
    m, n, k = shape
    if t == "i32":
        a, b = rng.integers(-100, 100, (m, k)).astype(np.int32), rng.integers(-100, 100, (k, n)).astype(np.int32)
    else:
        a, b = rng.standard_normal((m, k)).astype(DTYPES[t]), rng.standard_normal((k, n)).astype(DTYPES[t])
    wide = np.int64 if t == "i32" else np.float64
    aw, bw = a.astype(wide), b.astype(wide)
    return a, b, aw @ bw, np.abs(aw) @ np.abs(bw) + (0 if t == "i32" else 1e-300)


def check(result: np.ndarray, exact: np.ndarray, size: np.ndarray, t: str) -> None:
    assert result.shape == exact.shape
    error = np.abs(result.astype(exact.dtype) - exact)
    assert np.all(error <= ACCURACY[t] * size), float((error / size).max())


@pytest.mark.parametrize("shape", [(6, 16, 8), (7, 17, 9), (13, 33, 300), (5, 40, 900), (200, 50, 64), (2, 3, 2)])
def test_shapes(shape: tuple[int, int, int]) -> None:
    """Tails in every dimension, one and several blocks of k."""
    a, b, exact, size = factors(shape, "f32")
    check(build(dot_text(*map(str, shape)))(a, b)[0], exact, size, "f32")


@pytest.mark.parametrize("t", ["f64", "bf16", "f16", "i32"])
def test_types(t: str) -> None:
    a, b, exact, size = factors((13, 35, 500), t)
    check(build(dot_text("13", "35", "500", t))(a, b)[0], exact, size, t)


@pytest.mark.parametrize("lhs_k", [0, 1])
@pytest.mark.parametrize("rhs_k", [0, 1])
@pytest.mark.parametrize("t", ["f32", "bf16"])
def test_transposed_factors(lhs_k: int, rhs_k: int, t: str) -> None:
    a, b, exact, size = factors((13, 35, 100), t)
    program = build(dot_text("13", "35", "100", t, lhs_k, rhs_k))
    left, right = (a if lhs_k else np.ascontiguousarray(a.T)), (np.ascontiguousarray(b.T) if rhs_k else b)
    check(program(left, right)[0], exact, size, t)


def test_dynamic_sizes() -> None:
    """One program for every size: empty, one, ragged, over threads."""
    program = build(dot_text("?", "?", "?"))
    for shape in [(0, 5, 3), (3, 0, 4), (3, 5, 0), (1, 1, 1), (7, 33, 129), (97, 65, 800), (150, 1100, 70)]:
        a, b, exact, size = factors(shape, "f32")
        check(program(a, b)[0], exact, size, "f32")


def test_special_values_reach_only_their_row_and_column() -> None:
    """A tail's padding must not turn an infinity into NaN elsewhere."""
    a, b, exact, size = factors((7, 17, 9), "f32")
    a[2, 4] = np.inf
    b[3, 5] = np.nan
    (c,) = build(dot_text("7", "17", "9"))(a, b)
    rows, columns = np.arange(7) != 2, np.arange(17) != 5
    assert np.isnan(c[:, 5]).all()
    assert not np.isfinite(c[2]).any()
    inner = np.ix_(rows, columns)
    check(c[inner], exact[inner], size[inner], "f32")


@pytest.mark.parametrize("static", [True, False])
def test_bias_gelu_residual(static: bool) -> None:
    """An epilogue with a value a column and one an element, over several blocks of k."""
    m, n, k = 37, 50, 800
    rows = str(m) if static else "?"
    kind = f"tensor<{rows}x{n}xf32>"
    text = f"""
    func.func @main(%a: tensor<{rows}x{k}xf32>, %b: tensor<{k}x{n}xf32>, %v: tensor<{n}xf32>, %r: {kind}) -> {kind} {{
      %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
          : (tensor<{rows}x{k}xf32>, tensor<{k}x{n}xf32>) -> {kind}
      %shape = shape.shape_of %c : {kind} -> tensor<2xindex>
      %w = stablehlo.dynamic_broadcast_in_dim %v, %shape, dims = [1] : (tensor<{n}xf32>, tensor<2xindex>) -> {kind}
      %vb = stablehlo.add %c, %w : {kind}
      %half = stablehlo.constant dense<0.70710678> : tensor<f32>
      %halfs = stablehlo.dynamic_broadcast_in_dim %half, %shape, dims = [] : (tensor<f32>, tensor<2xindex>) -> {kind}
      %h = stablehlo.multiply %vb, %halfs : {kind}
      %e = chlo.erf %h : {kind} -> {kind}
      %p = stablehlo.multiply %vb, %e : {kind}
      %y = stablehlo.add %p, %r : {kind}
      return %y : {kind}
    }}"""
    a, b, exact, size = factors((m, n, k), "f32")
    rng = np.random.default_rng(8)
    v, r = rng.standard_normal(n).astype(np.float32), rng.standard_normal((m, n)).astype(np.float32)
    h = exact + v
    check(build(text)(a, b, v, r)[0], h * scipy.special.erf(h * 0.70710678) + r, size + 4, "f32")


@pytest.mark.parametrize("batch", [1, 3, 12])
@pytest.mark.parametrize("t", ["f32", "bf16"])
def test_batched_heads(batch: int, t: str) -> None:
    """q @ k^T of multi-head attention: batch loops (b, h) that lie apart in memory, a transposed factor."""
    s, h, d, u = 21, 3, 20, 19
    program = build(f"""
    func.func @main(%q: tensor<?x{s}x{h}x{d}x{t}>, %k: tensor<?x{u}x{h}x{d}x{t}>) -> tensor<?x{h}x{s}x{u}x{t}> {{
      %c = stablehlo.dot_general %q, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3]
          : (tensor<?x{s}x{h}x{d}x{t}>, tensor<?x{u}x{h}x{d}x{t}>) -> tensor<?x{h}x{s}x{u}x{t}>
      return %c : tensor<?x{h}x{s}x{u}x{t}>
    }}""")
    rng = np.random.default_rng(batch)
    q = rng.standard_normal((batch, s, h, d)).astype(DTYPES[t])
    k = rng.standard_normal((batch, u, h, d)).astype(DTYPES[t])
    wide = [x.astype(np.float64) for x in (q, k)]
    exact = np.einsum("bshd,buhd->bhsu", *wide)
    size = np.einsum("bshd,buhd->bhsu", *map(np.abs, wide))
    check(program(q, k)[0], exact, size, t)


def test_two_summed_loops_and_split_columns() -> None:
    """An output projection: sums over (h, d); and a projection whose columns (h, d) are stored apart."""
    rng = np.random.default_rng(9)
    x, w = rng.standard_normal((5, 7, 3, 16)).astype(np.float32), rng.standard_normal((3, 16, 33)).astype(np.float32)
    program = build("""
    func.func @main(%x: tensor<5x7x3x16xf32>, %w: tensor<3x16x33xf32>) -> tensor<5x7x33xf32> {
      %c = stablehlo.dot_general %x, %w, contracting_dims = [2, 3] x [0, 1]
          : (tensor<5x7x3x16xf32>, tensor<3x16x33xf32>) -> tensor<5x7x33xf32>
      return %c : tensor<5x7x33xf32>
    }""")
    exact = np.einsum("bshd,hde->bse", x.astype(np.float64), w.astype(np.float64))
    check(program(x, w)[0], exact, np.einsum("bshd,hde->bse", np.abs(x), np.abs(w)), "f32")
    y, v = rng.standard_normal((5, 7, 24)).astype(np.float32), rng.standard_normal((24, 3, 20)).astype(np.float32)
    program = build("""
    func.func @main(%x: tensor<5x7x24xf32>, %w: tensor<24x3x20xf32>) -> tensor<5x3x7x20xf32> {
      %c = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0]
          : (tensor<5x7x24xf32>, tensor<24x3x20xf32>) -> tensor<5x7x3x20xf32>
      %t = stablehlo.transpose %c, dims = [0, 2, 1, 3] : (tensor<5x7x3x20xf32>) -> tensor<5x3x7x20xf32>
      return %t : tensor<5x3x7x20xf32>
    }""")
    exact = np.einsum("bse,ehd->bhsd", y.astype(np.float64), v.astype(np.float64))
    check(program(y, v)[0], exact, np.einsum("bse,ehd->bhsd", np.abs(y), np.abs(v)), "f32")


@pytest.mark.parametrize("rhs_k", [0, 1])
@pytest.mark.parametrize("t", ["f32", "bf16", "f64", "i32"])
@pytest.mark.parametrize("m", [1, 2, 4])
def test_few_rows(m: int, t: str, rhs_k: int) -> None:
    """A vector times a matrix: read in place, along its columns or along k; sizes of every kind."""
    program = kc.compile(dot_text(str(m), "?", "?", t, 1, rhs_k), target="cpu", options=SCHEDULED)
    for n, k in [(1, 1), (37, 45), (600, 129), (1030, 300), (5, 0), (0, 5)]:
        a, b, exact, size = factors((m, n, k), t)
        check(program(a, np.ascontiguousarray(b.T) if rhs_k else b)[0], exact, size, t)


def test_few_rows_with_epilogue_and_batch() -> None:
    """Batches of one row (a decoder's step), a matrix for each, a bias."""
    program = build("""
    func.func @main(%x: tensor<5x1x40xf32>, %w: tensor<5x40x33xf32>, %b: tensor<33xf32>) -> tensor<5x1x33xf32> {
      %c = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [1]
          : (tensor<5x1x40xf32>, tensor<5x40x33xf32>) -> tensor<5x1x33xf32>
      %v = stablehlo.broadcast_in_dim %b, dims = [2] : (tensor<33xf32>) -> tensor<5x1x33xf32>
      %y = stablehlo.add %c, %v : tensor<5x1x33xf32>
      return %y : tensor<5x1x33xf32>
    }""")
    rng = np.random.default_rng(11)
    x, w, b = (rng.standard_normal(s).astype(np.float32) for s in ((5, 1, 40), (5, 40, 33), (33,)))
    exact = np.einsum("bmk,bkn->bmn", x.astype(np.float64), w.astype(np.float64)) + b
    check(program(x, w, b)[0], exact, np.einsum("bmk,bkn->bmn", np.abs(x), np.abs(w)) + np.abs(b), "f32")


def test_batched_with_several_blocks_of_k() -> None:
    """Partial sums wait in the destination, one matrix of it a batch item; in a scratch matrix for bf16."""
    rng = np.random.default_rng(12)
    for t in ("f32", "bf16"):
        program = build(f"""
        func.func @main(%a: tensor<3x9x900x{t}>, %b: tensor<3x900x20x{t}>) -> tensor<3x9x20x{t}> {{
          %c = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
              : (tensor<3x9x900x{t}>, tensor<3x900x20x{t}>) -> tensor<3x9x20x{t}>
          return %c : tensor<3x9x20x{t}>
        }}""")
        a, b = (rng.standard_normal(s).astype(DTYPES[t]) for s in ((3, 9, 900), (3, 900, 20)))
        wide = [x.astype(np.float64) for x in (a, b)]
        magnitude = np.abs(wide[0]) @ np.abs(wide[1])
        check(program(a, b)[0], wide[0] @ wide[1], magnitude, t)
