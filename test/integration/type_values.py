"""Values with the edges of each element type, and the comparison of results."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
from stablehlo_oracle import DTYPES, bits_of


def values(dtype: str) -> np.ndarray:
    """A vector of values: all there are of types of at most 8 bits, otherwise the edges and some random ones."""
    t = np.dtype(DTYPES[dtype])
    if dtype == "i1":
        return np.array([False, True])
    if t.itemsize == 1:
        return _patterns(dtype)
    rng = np.random.default_rng(len(dtype))
    if t.kind == "c":
        parts = values("f32" if t.itemsize == 8 else "f64")[:24]
        picked = np.array(list(itertools.product(range(24), repeat=2)))[::7]
        whole = np.empty(len(picked), t)
        whole.real, whole.imag = parts[picked[:, 0]], parts[picked[:, 1]]
        return whole
    if t.kind in "iu":
        info = np.iinfo(t)
        edges = [0, 1, 2, 3, 7, 31, 64, info.max, info.max - 1, info.max // 2, info.min, info.min + 1]
        edges += [-1, -2, -7, -31] if t.kind == "i" else []
        return np.concatenate([np.array(edges, t), rng.integers(info.min, info.max, 32, dtype=t)])
    info = ml_dtypes.finfo(t)
    edges = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.5, 1.5, 3.25, 1e-3, 20.0, -30.0, 127.5, 255.5, 1e5]
    edges += [float(info.max), float(info.min), float(info.smallest_normal), float(info.smallest_subnormal)]
    edges += [-float(info.smallest_subnormal), 1.0 + float(info.eps), 2.0**31, -(2.0**31), 2.0**63, 448.0, 464.0, 465.0]
    scales = 10.0 ** rng.integers(-4, 4, 32)
    with np.errstate(over="ignore"):
        return np.concatenate([edges, rng.standard_normal(32) * scales]).astype(t)


def _patterns(dtype: str) -> np.ndarray:
    return np.arange(1 << bits_of(dtype), dtype=np.uint8).view(DTYPES[dtype])


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Operands of a binary op: all pairs of the smallest types, of others each value with some."""
    x = values(dtype)
    if x.size <= 16:
        both = np.array(list(itertools.product(range(x.size), repeat=2)))
        return x[both[:, 0]], x[both[:, 1]]
    edges = x[:: max(1, x.size // 23)]
    rng = np.random.default_rng(5)
    left = np.concatenate([np.repeat(edges, edges.size), x])
    right = np.concatenate([np.tile(edges, edges.size), rng.permutation(x)])
    return left, right


def shaped(dtype: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """A tensor of moderate values: sums and products of a few of them are exact in most types."""
    rng = np.random.default_rng(seed)
    t = np.dtype(DTYPES[dtype])
    if dtype == "i1":
        return rng.integers(0, 2, shape).astype(bool)
    if t.kind == "c":
        return (rng.integers(-3, 4, shape) + 1j * rng.integers(-3, 4, shape)).astype(t)
    if "uint" in t.name:
        return rng.integers(0, 3, shape).astype(np.uint8).astype(t)
    if dtype == "f8E8M0FNU":
        return (2.0 ** rng.integers(-2, 3, shape)).astype(t)
    if dtype in ("f4E2M1FN", "f6E2M3FN", "f6E3M2FN"):
        return (rng.integers(-2, 3, shape) * 0.5).astype(t)
    low, high = (-2, 2) if dtype == "i2" else (-2, 3)
    return rng.integers(low, high, shape).astype(np.int8).astype(t)


def order(x: np.ndarray, zeros: bool = True) -> np.ndarray:
    """Integers that count floats: neighbours differ by one, and both zeros are 0 with ``zeros``."""
    name = next(k for k, v in DTYPES.items() if np.dtype(v) == x.dtype)
    bits = bits_of(name)
    pattern = x.view(f"u{x.itemsize}").astype(object)
    if name == "f8E8M0FNU":
        return pattern
    magnitude = pattern & ((1 << (bits - 1)) - 1)
    return np.where((pattern >> (bits - 1)) & 1 == 1, -magnitude - int(not zeros), magnitude)


def close(actual: np.ndarray, expected: np.ndarray, ulps: float, inputs: tuple[np.ndarray, ...] = ()) -> str:
    """Nothing when equal (NaN to NaN, zeros by their signs) or floats at most ``ulps`` apart; else the first place."""
    if actual.dtype != expected.dtype or actual.shape != expected.shape:
        return f"{actual.dtype}{actual.shape} instead of {expected.dtype}{expected.shape}"
    if actual.dtype.kind == "c":
        # the absolute error in units of the whole number's last place
        a, b = actual.reshape(-1), expected.reshape(-1)
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (~np.isfinite(a) & ~np.isfinite(b))
        eps = float(np.finfo(a.real.dtype).eps)
        with np.errstate(all="ignore"):
            good = same | (np.abs(a - b) <= ulps * eps * np.abs(b) + float(np.finfo(a.real.dtype).tiny))
    elif actual.dtype.kind == "b" or "int" in actual.dtype.name:
        a, b = actual.reshape(-1), expected.reshape(-1)
        good = a == b
    else:
        a, b = np.atleast_1d(actual).reshape(-1), np.atleast_1d(expected).reshape(-1)
        wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
        apart = np.abs(order(a) - order(b)).astype(np.float64)
        good = (np.isnan(wide_a) == np.isnan(wide_b)) & (np.isnan(wide_b) | (apart <= ulps))
        if ulps == 0:
            good &= np.isnan(wide_b) | (np.signbit(wide_a) == np.signbit(wide_b))
    if good.all():
        return ""
    k = int(np.flatnonzero(~good)[0])
    given = [str(x.reshape(-1)[k]) for x in inputs if x.size == a.size]
    return f"{int((~good).sum())} of {a.size}, first at {k}: {a[k]} instead of {b[k]} for ({', '.join(given)})"
