"""Whether the results of a timed call are those of the original: a coarse test against work that was left out.

The numeric gate has judged the arithmetic before, on hostile inputs; here a call must have *done* its work.
"""
from __future__ import annotations

from typing import Any

import numpy as np

#: itemsize of a float in bytes -> largest difference, relative to the value or to the largest value of the result
TOLERANCE = {1: 0.2, 2: 2e-2, 4: 1e-3, 8: 1e-8}


def difference(want: np.ndarray[Any, Any], got: np.ndarray[Any, Any]) -> str | None:
    """How two results differ, in words with the first index; None when they agree."""
    if want.shape != got.shape or want.dtype != got.dtype:
        return f"{got.dtype}{list(got.shape)} in place of {want.dtype}{list(want.shape)}"
    if not want.size:
        return None
    if want.dtype.kind in "biu":
        wrong = want != got
    else:
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        size = want.dtype.itemsize // (2 if want.dtype.kind == "c" else 1)
        left, right = want.astype(wide), got.astype(wide)
        with np.errstate(invalid="ignore", over="ignore"):
            finite = np.isfinite(left)
            scale = np.max(np.abs(left), where=finite, initial=0.0)
            near = np.abs(left - right) <= TOLERANCE.get(size, 1e-8) * np.maximum(np.abs(left), scale)
            wrong = ~np.where(finite, near, (left == right) | (np.isnan(left) & np.isnan(right)))
    if not wrong.any():
        return None
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"{int(wrong.sum())} of {want.size} elements, first at {list(first)}: {got[first]} in place of {want[first]}"
