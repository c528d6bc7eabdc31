"""Sums of very many floats keep their digits."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kc


def total(shape: tuple[int, ...], axis: int, element: str) -> str:
    source = "x".join(map(str, shape))
    target = "".join(f"{n}x" for a, n in enumerate(shape) if a != axis)
    return f"""func.func @main(%x: tensor<{source}x{element}>) -> tensor<{target}{element}> {{
      %c = stablehlo.constant dense<0.0> : tensor<{element}>
      %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [{axis}]
        : (tensor<{source}x{element}>, tensor<{element}>) -> tensor<{target}{element}>
      return %0 : tensor<{target}{element}>
    }}"""


@pytest.mark.parametrize(
    ("shape", "axis", "element"),
    [((1_000_003,), 0, "f32"), ((100_000, 3), 0, "f32"), ((1_000_000,), 0, "bf16"), ((60_000,), 0, "f16")],
)
def test_equal_terms(shape: tuple[int, ...], axis: int, element: str):
    dtype = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}[element]
    x = np.full(shape, 0.1 if element == "f32" else 1, dtype)
    (actual,) = kc.compile(total(shape, axis, element))(x)
    expected = x.astype(float).sum(axis)
    precision = 2e-6 if element == "f32" else float(ml_dtypes.finfo(dtype).eps) / 2
    np.testing.assert_allclose(actual.astype(float), expected, rtol=precision)


def test_products():
    """100,000 products for each of a few results."""
    text = """func.func @main(%x: tensor<4x100000x2xf32>, %y: tensor<3x4x100000xf32>) -> tensor<4x2x3xf32> {
      %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [1], contracting_dims = [1] x [2]
        : (tensor<4x100000x2xf32>, tensor<3x4x100000xf32>) -> tensor<4x2x3xf32>
      return %0 : tensor<4x2x3xf32>
    }"""
    rng = np.random.default_rng(0)
    x, y = rng.random((4, 100_000, 2), np.float32), rng.random((3, 4, 100_000), np.float32)
    (actual,) = kc.compile(text)(x, y)
    np.testing.assert_allclose(actual, np.einsum("bkm,nbk->bmn", x.astype(float), y.astype(float)), rtol=2e-6)
