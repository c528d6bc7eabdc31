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
    hi = runs[0]
    with np.errstate(all="ignore"):
        # of a complex value, a part may be small beside the other: both are held to the size of the whole
        scale = np.abs(hi)
        spread = np.max([np.abs(r - hi) for r in runs[1:]], axis=0) if len(runs) > 1 else np.zeros(hi.shape)
    if got.dtype.kind != "c":
        return _parts(got, low, runs, element, scale, spread)
    real = _parts(got.real, low.real, [r.real for r in runs], element, scale, spread)
    imag = _parts(got.imag, low.imag, [r.imag for r in runs], element, scale, spread)
    # multiplication spreads a NaN of one part to the other, unless it is left out because the factor is 1
    odd = ~np.isfinite(hi)
    faults = np.where(odd, np.isfinite(got) & ~real[1] & ~imag[1], real[0] | imag[0])
    return faults, odd | real[1] | imag[1]


def _parts(
    got: np.ndarray, low: np.ndarray, runs: list[np.ndarray], element: str, scale: np.ndarray, spread: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    with np.errstate(all="ignore"):
        a, b, hi = got.astype(np.float64), low.astype(np.float64), runs[0]
        u, top = unit_roundoff(element), float(finfo(element).max)
        # a run that leaves or enters NaN or infinity: rounding decides about it
        wild = np.any([np.isfinite(r) != np.isfinite(hi) for r in runs], axis=0)
        finite = np.where(np.isfinite(spread), spread, 0.0)
        # beyond the type's range, or in the last roundings below it, infinity and the largest number are both right
        overflow = np.isfinite(hi) & (np.abs(hi) + SPREAD * finite > top * (1 - ULPS * u))
        # a sum of such numbers may overflow on its way, in one order and not in another
        large = np.maximum(np.abs(hi), finite / u) > top / 64
        undecided = wild | overflow | (np.isfinite(hi) != np.isfinite(b)) | (large & ~np.isfinite(a))
        undecided |= np.isinf(hi) & np.isfinite(a) & (np.abs(a) > top / 64)
        # and then infinity meets infinity, or not: which of NaN and the infinities comes out says nothing
        undecided |= ~np.isfinite(hi) & ~np.isfinite(a)
        bound = SPREAD * finite + ULPS * u * np.where(np.isfinite(scale), scale, 0.0) + _denormal(element)
        right = (np.abs(a - hi) <= bound) | (np.abs(a - b) <= bound)
        right |= (a == hi) | (a == b) | (np.isnan(a) & (np.isnan(hi) | np.isnan(b)))
        return ~right & ~undecided, undecided


def _denormal(element: str) -> float:
    """What results near the smallest numbers may be off: a few of them."""
    return 6 * float(finfo(element).smallest_subnormal)
