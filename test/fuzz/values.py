"""Arguments: arrays of one kind of values each, from a seed, and what is known of them."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from .facts import Facts
from .tensors import COMPLEX, FLOATS8, Tensor, dtype, finfo, is_integer, limits, part

#: kinds of float arguments, the simplest first
GRID, GRID_SPECIAL, UNIT, WIDE, SPECIAL = "grid", "grid+special", "unit", "wide", "special"
#: and of integers
SMALL, POSITIVE, EDGES = "small", "positive", "edges"


def make(tensor: Tensor, kind: str, seed: int) -> tuple[np.ndarray, Facts]:
    """An array of the type and its facts."""
    rng = np.random.default_rng([seed, len(kind), tensor.size])
    shape = tuple(int(n) for n in tensor.shape)
    element = tensor.element
    if element == "i1":
        return rng.integers(0, 2, shape).astype(bool), Facts(mag=1)
    if is_integer(element):
        return _integers(rng, shape, element, kind)
    if element in COMPLEX:
        re, facts = _floats(rng, shape, part(element), kind)
        im, _ = _floats(rng, shape, part(element), kind)
        out = np.empty(shape, dtype(element))
        out.real, out.imag = re, im
        return out, facts
    return _floats(rng, shape, element, kind)


def _integers(rng: np.random.Generator, shape: tuple[int, ...], element: str, kind: str) -> tuple[np.ndarray, Facts]:
    low, high = limits(element)
    if kind == EDGES:
        edges = [0, 1, -1, 2, -2, 3, 7, 8, 31, 32, 64, 100, high, low, high - 1, low + 1, high // 2, high // 2 + 1]
        edges = [e for e in edges if low <= e <= high]
        picked = rng.integers(0, len(edges), shape)
        values = np.empty(shape, object)
        values[...] = np.array(edges, object)[picked]
        wild = rng.integers(0, 4, shape) == 0
        random = rng.integers(0, 2**63, shape, dtype=np.uint64).astype(object) * 2
        values = np.where(wild, low + random % (high - low + 1), values)
        # through a type that holds them all: ml_dtypes has no cast of objects to its integers
        wide = np.array(values, dtype=np.uint64 if low == 0 else np.int64).reshape(shape)
        return wide.astype(dtype(element)), Facts(mag=None)
    bottom, top = (1, min(high, 5)) if kind == POSITIVE else (max(low, -4), min(high, 4))
    return rng.integers(bottom, top + 1, shape).astype(dtype(element)), Facts(mag=max(-bottom, top))


def specials(element: str) -> np.ndarray:
    """Zeros of both signs, infinities, NaN, extremes, denormals and neighbours of them, as far as the type has them."""
    info = finfo(element)
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.5, 1e-3, 7.25, 20.0, -30.0, 100.5]
    values += [float(info.max), -float(info.max), float(info.smallest_normal), -float(info.smallest_subnormal)]
    values += [np.inf, -np.inf, np.nan, float(info.eps), 1 + float(info.eps), np.pi, -np.pi / 2]
    with np.errstate(all="ignore"):
        return np.array(values).astype(dtype(element))


def _floats(rng: np.random.Generator, shape: tuple[int, ...], element: str, kind: str) -> tuple[np.ndarray, Facts]:
    t = dtype(element)
    if kind in (GRID, GRID_SPECIAL):
        step = 1.0 if element in FLOATS8 else 0.5
        values = rng.integers(-4, 5, shape) * step
        if kind == GRID_SPECIAL:
            odd = np.array([np.nan, np.inf, -np.inf, -0.0, -0.0, 0.0])[rng.integers(0, 6, shape)]
            values = np.where(rng.integers(0, 5, shape) == 0, odd, values)
        return values.astype(t), Facts(mag=4 * step, step=step, nan=kind == GRID_SPECIAL)
    if kind == UNIT:
        return rng.uniform(-2, 2, shape).astype(t), Facts(mag=None)
    if kind == POSITIVE:
        return rng.uniform(0.25, 3, shape).astype(t), Facts(mag=None)
    if kind == WIDE:
        top = min(float(np.log(float(ml_dtypes.finfo(t).max))) * 0.8, 40.0)
        values = np.exp(rng.uniform(-top, top, shape)) * rng.choice([-1.0, 1.0], shape)
        return values.astype(t), Facts(mag=None)
    pool = specials(element)
    return pool[rng.integers(0, len(pool), shape)].reshape(shape), Facts(mag=None, nan=True)
