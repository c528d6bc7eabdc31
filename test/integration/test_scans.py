"""Cumulative ``stablehlo.reduce_window`` against NumPy: any initial value counts once per element of padding."""

from __future__ import annotations

import numpy as np
import pytest

import kc


def cumulative(shape: tuple[int, ...], axis: int, reverse: bool, initial: str, reducer: str = "add") -> str:
    kind, rank, n = "x".join(map(str, shape)), len(shape), shape[axis]
    window = [n if a == axis else 1 for a in range(rank)]
    padding = [[0, n - 1] if reverse else [n - 1, 0] if a == axis else [0, 0] for a in range(rank)]
    padding = [p if a == axis else [0, 0] for a, p in enumerate(padding)]
    return f"""func.func @main(%x: tensor<{kind}xf32>) -> tensor<{kind}xf32> {{
      %c = stablehlo.constant dense<{initial}> : tensor<f32>
      %0 = "stablehlo.reduce_window"(%x, %c) <{{window_dimensions = array<i64: {", ".join(map(str, window))}>,
        padding = dense<{padding}> : tensor<{rank}x2xi64>}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.{reducer} %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }}) : (tensor<{kind}xf32>, tensor<f32>) -> tensor<{kind}xf32>
      return %0 : tensor<{kind}xf32>
    }}"""


@pytest.mark.parametrize(
    ("shape", "axis", "reverse", "initial"),
    [
        ((9,), 0, False, "0.0"),
        ((3, 7), 0, True, "2.5"),
        ((2, 131, 2), 1, False, "2.5"),
        ((3, 130), 1, True, "0.0"),
        ((4500,), 0, True, "0.5"),
        ((4, 0), 0, False, "0.0"),
    ],
)
def test_cumulative_sums(shape: tuple[int, ...], axis: int, reverse: bool, initial: str):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    (actual,) = kc.compile(cumulative(shape, axis, reverse, initial))(x)
    wide, n = np.flip(x.astype(float), axis) if reverse else x.astype(float), shape[axis]
    sums = np.cumsum(wide, axis)
    sums = np.flip(sums, axis) if reverse else sums
    times = np.arange(1, n + 1) if reverse else np.arange(n, 0, -1)
    expected = sums + float(initial) * times.reshape([n if a == axis else 1 for a in range(len(shape))])
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=4e-7 * n**0.5 * max(1, float(initial) * n**0.5))


def test_a_short_sum_rounds_in_order():
    x = np.random.default_rng(1).standard_normal(50).astype(np.float32)
    (actual,) = kc.compile(cumulative((50,), 0, False, "0.0"))(x)
    np.testing.assert_array_equal(actual, np.cumsum(x, dtype=np.float32))


def test_differences_keep_their_order():
    (actual,) = kc.compile(cumulative((4,), 0, False, "2.0", "subtract"))(np.array([0, 1, 2, 3], np.float32))
    np.testing.assert_array_equal(actual, [2 - 2 - 2 - 2 - 0, 2 - 2 - 2 - 0 - 1, 2 - 2 - 0 - 1 - 2, 2 - 0 - 1 - 2 - 3])
