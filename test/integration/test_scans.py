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


@pytest.mark.parametrize("reverse", ["", ", is_reverse = true"])
@pytest.mark.parametrize(("kind", "dtype"), [("f32", np.float32), ("i1", np.bool_), ("complex<f32>", np.complex64)])
def test_scans_of_every_kind_of_number(kind: str, dtype: type, reverse: str) -> None:
    (rows, last) = kc.compile(f"""
func.func @main(%x: tensor<2x5x{kind}>, %i: tensor<2x{kind}>) -> (tensor<2x5x{kind}>, tensor<2x{kind}>) {{
  %0:2 = "chlo.scan"(%x, %i) <{{dimension = 1 : i64, operandSegmentSizes = array<i32: 1, 1>,
      resultSegmentSizes = array<i32: 1, 1>{reverse}}}> ({{
  ^bb0(%a: tensor<2x{kind}>, %c: tensor<2x{kind}>):
    %s = stablehlo.add %c, %a : tensor<2x{kind}>
    stablehlo.return %s, %s : tensor<2x{kind}>, tensor<2x{kind}>
  }}) : (tensor<2x5x{kind}>, tensor<2x{kind}>) -> (tensor<2x5x{kind}>, tensor<2x{kind}>)
  return %0#0, %0#1 : tensor<2x5x{kind}>, tensor<2x{kind}>
}}""")(x := np.array([[0, 2, 0, 4, 1], [0, 0, 3, 1, 0]]).astype(dtype), start := np.array([0, 1]).astype(dtype))
    way = -1 if reverse else 1
    add = np.logical_or if dtype is np.bool_ else np.add
    want = add.accumulate(np.concatenate([start[:, None], x[:, ::way]], 1), axis=1)[:, 1:]
    np.testing.assert_array_equal(rows, want[:, ::way])
    np.testing.assert_array_equal(last, want[:, -1])
