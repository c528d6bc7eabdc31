"""When a compiled result agrees with the interpreter's.

An exact value (see ``facts``) agrees when it is the same bit for bit, but for the signs and payloads of NaN.

Any other is compared with the evaluation in f64 (Monte Carlo arithmetic, Parker 1997): the same program is evaluated
several times more with every rounding of the compiled one (of results, and inside sums of their operands) replaced by a
random relative error of its size; how far the results of those runs scatter is the first-order effect of rounding, with
all cancellation and amplification in it. A result agrees within ``SPREAD`` times the widest scatter and ``ULPS``
roundings. Where rounding decides a comparison, the runs differ, and any answer passes. The answer in the program's own
types always passes.
"""

from __future__ import annotations

import numpy as np

from .tensors import finfo, is_inexact, unit_roundoff

SPREAD, ULPS = 8.0, 8.0
RUNS, MORE_RUNS = 3, 16


def exact_faults(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Mask of the elements that are not the same."""
    if got.dtype.kind == "c":
        return exact_faults(got.real, want.real) | exact_faults(got.imag, want.imag)
    if got.dtype.kind in "iub" or "int" in got.dtype.name:
        return np.asarray(got != want)
    a, b = got.astype(np.float64), want.astype(np.float64)
    nan = np.isnan(a) & np.isnan(b)
    return ~(nan | ((a == b) & (np.signbit(a) == np.signbit(b))))


def rounded_faults(
    got: np.ndarray, low: np.ndarray, runs: list[np.ndarray], element: str
) -> tuple[np.ndarray, np.ndarray]:
    """Masks of elements that are wrong, and of those where nothing could be decided. ``runs[0]`` is without noise."""
    if not is_inexact(element):
        same = got == low
        for run in runs:
            same = same | (got == run)
        undecided = np.any([run != runs[0] for run in runs], axis=0) if len(runs) > 1 else np.zeros(got.shape, bool)
        undecided = undecided | (low != runs[0])
        return np.asarray(~same & ~undecided), np.asarray(undecided)
    if got.dtype.kind == "c":
        # a part may be small beside the other: both are held to the size of the whole
        scale = np.abs(runs[0])
        parts = [
            _parts(f(got), f(low), [f(r) for r in runs], element, scale) for f in (lambda x: x.real, lambda x: x.imag)
        ]
        return parts[0][0] | parts[1][0], parts[0][1] | parts[1][1]
    return _parts(got, low, runs, element, np.abs(runs[0]))


def _parts(
    got: np.ndarray, low: np.ndarray, runs: list[np.ndarray], element: str, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(all="ignore"):
        a, b = got.astype(np.float64), low.astype(np.float64)
        hi = runs[0]
        info, u = finfo(element), unit_roundoff(element)
        top, tiny = float(info.max), float(info.smallest_normal)
        spread = np.max([np.abs(r - hi) for r in runs[1:]], axis=0) if len(runs) > 1 else np.zeros(hi.shape)
        # a run that leaves or enters NaN or infinity: rounding decides about it
        wild = np.any([np.isfinite(r) != np.isfinite(hi) for r in runs], axis=0)
        # beyond the type's range, or in the last roundings below it, infinity and the largest number are both right
        overflow = np.isfinite(hi) & (np.abs(hi) + SPREAD * spread > top * (1 - ULPS * u))
        undecided = wild | overflow | (np.isfinite(hi) & ~np.isfinite(b)) | (~np.isfinite(hi) & np.isfinite(b))
        bound = (
            SPREAD * np.where(np.isfinite(spread), spread, 0.0) + ULPS * u * scale + 4 * tiny * u + _denormal(element)
        )
        right = np.abs(a - hi) <= bound
        right |= np.abs(a - b) <= bound
        right |= (a == hi) | (a == b) | (np.isnan(a) & (np.isnan(hi) | np.isnan(b)))
        return ~right & ~undecided, undecided


def _denormal(element: str) -> float:
    """What results near the smallest numbers may be off: one of them."""
    return 2 * float(finfo(element).smallest_subnormal)
