"""The CPU schedule of convolutions, from JAX through the whole road, against a convolution in float64."""
from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import kc

#: kernels as small as these would be compiled without a schedule
SCHEDULED = {"brief": "0"}

jax = pytest.importorskip("jax")

CHANNELS_LAST = ("NHWC", "HWIO", "NHWC")
CHANNELS_FIRST = ("NCHW", "OIHW", "NCHW")


def exact(x: np.ndarray, w: np.ndarray, strides: tuple[int, int], pad: int, dilation: int = 1) -> np.ndarray:
    """x (n, h, w, ci), w (kh, kw, ci, co) -> (n, oh, ow, co), in float64."""
    x = np.pad(x.astype(np.float64), ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    kh, kw = w.shape[:2]
    oh = (x.shape[1] - dilation * (kh - 1) - 1) // strides[0] + 1
    ow = (x.shape[2] - dilation * (kw - 1) - 1) // strides[1] + 1
    result = np.zeros((x.shape[0], oh, ow, w.shape[3]))
    for i in range(kh):
        for j in range(kw):
            part = x[:, i * dilation:, j * dilation:][:, :strides[0] * (oh - 1) + 1:strides[0],
                                                      :strides[1] * (ow - 1) + 1:strides[1]]
            result += part @ w[i, j].astype(np.float64)
    return result


def build(function: Any, *arrays: Any) -> Any:
    """The program, after a check that the convolution was recognised (of one pixel: as a product) and scheduled."""
    program = kc.compile(jax.jit(function).lower(*arrays).as_text(), target="cpu", options=SCHEDULED)
    linalg = program.stage("linalg")
    assert "kc.kind" in linalg and "__rows" in linalg
    return program


def convolution(layout: tuple[str, str, str], strides: tuple[int, int], pad: int, dilation: int = 1) -> Any:
    return lambda x, w: jax.lax.conv_general_dilated(
        x, w, strides, [(pad, pad)] * 2, rhs_dilation=(dilation, dilation), dimension_numbers=layout,
        preferred_element_type=np.float32)


CASES = [
    # n, h, w, ci, co, k, strides, pad, dilation
    (1, 9, 8, 16, 16, 3, (1, 1), 1, 1),
    (2, 7, 7, 3, 10, 3, (2, 2), 1, 1),
    (1, 14, 10, 8, 20, 1, (1, 1), 0, 1),
    (3, 11, 6, 5, 7, 2, (2, 1), 0, 2),
    (2, 6, 6, 64, 33, 3, (1, 1), 1, 1),  # several blocks of the sum, few positions
    (2, 16, 17, 32, 20, 3, (1, 1), 1, 1),
]


@pytest.mark.parametrize("layout", [CHANNELS_LAST, CHANNELS_FIRST], ids=["last", "first"])
@pytest.mark.parametrize("case", CASES)
def test_shapes(case: tuple[Any, ...], layout: tuple[str, str, str]) -> None:
    n, h, w, ci, co, k, strides, pad, dilation = case
    rng = np.random.default_rng(h * w)
    x, weights = (rng.standard_normal(s).astype(np.float32) for s in ((n, h, w, ci), (k, k, ci, co)))
    expected = exact(x, weights, strides, pad, dilation)
    if layout == CHANNELS_FIRST:
        x = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
        weights = np.ascontiguousarray(weights.transpose(3, 2, 0, 1))
        expected = expected.transpose(0, 3, 1, 2)
    (y,) = build(convolution(layout, strides, pad, dilation), x, weights)(x, weights)
    assert np.abs(y - expected).max() < 1e-6 * (k * k * ci) ** 0.5 * 10


def test_epilogue_and_bf16() -> None:
    """Bias by channel, a residual, a maximum with 0; bf16 in and out, f32 between."""
    rng = np.random.default_rng(1)
    half = ml_dtypes.bfloat16
    x, r = rng.standard_normal((2, 12, 9, 24)).astype(half), rng.standard_normal((2, 12, 9, 16)).astype(half)
    weights, bias = (rng.standard_normal((3, 3, 24, 16)) * 0.1).astype(half), rng.standard_normal(16).astype(np.float32)

    def function(x: Any, w: Any, b: Any, r: Any) -> Any:
        y = convolution(CHANNELS_LAST, (1, 1), 1)(x, w) + b + r.astype(np.float32)
        return jax.numpy.maximum(y, 0).astype(jax.numpy.bfloat16)

    (y,) = build(function, x, weights, bias, r)(x, weights, bias, r)
    expected = np.maximum(exact(x, weights, (1, 1), 1) + bias + r.astype(np.float64), 0)
    assert np.abs(y.astype(np.float64) - expected).max() < 8e-3 * np.abs(expected).max()


def test_depthwise_takes_the_general_road() -> None:
    rng = np.random.default_rng(2)
    x, weights = (rng.standard_normal(s).astype(np.float32) for s in ((1, 8, 8, 6), (3, 3, 1, 6)))

    def function(x: Any, w: Any) -> Any:
        return jax.lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=CHANNELS_LAST, feature_group_count=6)

    (y,) = kc.compile(jax.jit(function).lower(x, weights).as_text(), target="cpu", options=SCHEDULED)(x, weights)
    expected = np.concatenate([exact(x[..., c:c + 1], weights[..., c:c + 1], (1, 1), 1) for c in range(6)], axis=3)
    assert np.abs(y - expected).max() < 1e-5
