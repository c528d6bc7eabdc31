"""``stablehlo.fft`` against NumPy in double precision."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import kc

_ORACLES = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": np.fft.irfftn}


def _tensor(shape: Sequence[int | str], element: str) -> str:
    return "tensor<" + "".join(f"{n}x" for n in shape) + element + ">"


def transform(kind: str, x: np.ndarray, lengths: Sequence[int], dynamic: bool = False) -> np.ndarray:
    """``x`` transformed by kc; ``dynamic`` leaves the sizes of the batch open."""
    part = "f32" if x.dtype in (np.float32, np.complex64) else "f64"
    batch: list[int | str] = ["?" if dynamic else n for n in x.shape[: x.ndim - len(lengths)]]
    inner, outer = list(x.shape[x.ndim - len(lengths) :]), list(lengths)
    if kind == "RFFT":
        outer[-1] = outer[-1] // 2 + 1
    source = _tensor([*batch, *inner], part if kind == "RFFT" else f"complex<{part}>")
    target = _tensor([*batch, *outer], part if kind == "IRFFT" else f"complex<{part}>")
    text = f"""func.func @main(%x: {source}) -> {target} {{
      %0 = stablehlo.fft %x, type = {kind}, length = [{", ".join(map(str, lengths))}] : ({source}) -> {target}
      return %0 : {target}
    }}"""
    return kc.compile(text)(x)[0]


@pytest.mark.parametrize(
    ("kind", "batch", "lengths", "precision", "dynamic"),
    [
        ("FFT", (3,), (1,), "f32", False),
        ("RFFT", (), (2,), "f32", False),
        ("IRFFT", (2,), (1,), "f64", False),
        ("FFT", (2,), (8, 6, 5), "f32", False),
        ("IFFT", (2, 3), (49, 4), "f64", True),
        ("RFFT", (2,), (4, 3, 30), "f64", False),
        ("IRFFT", (1,), (3, 5, 9), "f32", False),
        ("IRFFT", (2,), (4, 24), "f64", True),
        ("FFT", (2,), (2048,), "f32", False),
        ("RFFT", (), (1 << 14,), "f64", False),
        ("FFT", (2,), (61 * 3,), "f32", True),
        ("IFFT", (2,), (1009,), "f64", False),
        ("RFFT", (1,), (2 * 67,), "f32", False),
        ("FFT", (0,), (4,), "f32", False),
        ("FFT", (), (130, 137), "f32", False),  # blocks of rows and of columns, the last ones overlap
        ("IRFFT", (3,), (100, 150), "f64", False),
    ],
)
def test_transforms(kind: str, batch: tuple[int, ...], lengths: tuple[int, ...], precision: str, dynamic: bool):
    real = np.float32 if precision == "f32" else np.float64
    rng = np.random.default_rng(0)
    shape = [*batch, *lengths]
    if kind == "IRFFT":
        shape[-1] = lengths[-1] // 2 + 1
    x = rng.standard_normal(shape).astype(real)
    if kind != "RFFT":
        x = (x + 1j * rng.standard_normal(shape).astype(real)).astype(np.complex64 if real is np.float32 else complex)
    actual = transform(kind, x, lengths, dynamic)
    axes = tuple(range(len(batch), len(shape)))
    expected = _ORACLES[kind](x.astype(complex if np.iscomplexobj(x) else float), lengths, axes)
    assert actual.shape == expected.shape and actual.dtype.itemsize * (2 if precision == "f32" else 1) == (
        expected.dtype.itemsize
    )
    scale = np.linalg.norm(expected)
    assert np.linalg.norm(actual - expected) <= scale * (3e-7 if precision == "f32" else 1e-15)


def test_special_values_stay_in_their_rows():
    x = np.zeros((3, 16), np.complex64)
    x[0, 3], x[1, 5] = np.nan, np.inf
    x[2, 0] = 1e-42 + 1e38j
    result = transform("FFT", x, (16,))
    assert np.isnan(result[0]).all() and not np.isfinite(result[1]).any()
    np.testing.assert_array_equal(result[2], np.full(16, x[2, 0]))


def test_imaginary_parts_that_a_real_signal_cannot_have_are_ignored():
    x = np.array([1 + 5j, 2 - 1j, 3 + 7j])
    np.testing.assert_allclose(transform("IRFFT", x, (4,)), np.fft.irfft(x, 4), rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(transform("IRFFT", x, (5,)), np.fft.irfft(x, 5), rtol=1e-15, atol=1e-15)
