"""Whether two sets of results are the same, up to rounding."""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

#: error that a float type's rounding may bring about over a program, as a part of the largest value of a result
TOLERANCE = {1: 0.25, 2: 3e-2, 4: 1e-3, 8: 1e-9}


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """``relative`` to each value, ``absolute`` beside it; None: by the type (``TOLERANCE``), of the largest value."""

    relative: float | None = None
    absolute: float | None = None

    def bound(self, want: np.ndarray) -> np.ndarray:
        """How far from ``want`` (float64, finite) is right."""
        by_type = TOLERANCE.get(want.dtype.itemsize // (2 if want.dtype.kind == "c" else 1), 1e-3)
        size = np.abs(wide(want))
        largest = float(np.max(size[np.isfinite(size)], initial=0.0))
        if self.relative is None and self.absolute is None:
            return np.full(want.shape, by_type * max(largest, 1e-30))
        return (self.absolute or 0.0) + (self.relative or 0.0) * size


def wide(array: np.ndarray) -> np.ndarray:
    """Any element type as float64, complex128 or int64."""
    if array.dtype.kind in "fV" or array.dtype.kind not in "biuc":
        return array.astype(np.float64)
    return array.astype(np.complex128) if array.dtype.kind == "c" else array


def difference(
    got: Sequence[np.ndarray], want: Sequence[np.ndarray], tolerance: Tolerance | None = None
) -> dict[str, Any] | None:
    """The first place where ``got`` is not ``want``: ``result``, ``index``, ``got``, ``want``, ``message``; else None.

    Integers and booleans are the same when equal; floats within the tolerance, NaN where NaN is and infinities alike.
    """
    if len(got) != len(want):
        return _found(-1, (), len(got), len(want), f"{len(got)} results, {len(want)} wanted")
    for number, (mine, theirs) in enumerate(zip(got, want, strict=True)):
        if mine.shape != theirs.shape:
            words = f"result {number} has shape {list(mine.shape)}, {list(theirs.shape)} is wanted"
            return _found(number, (), list(mine.shape), list(theirs.shape), words)
        wrong = _wrong(mine, theirs, tolerance or Tolerance())
        if wrong.any():
            index = tuple(int(i) for i in np.argwhere(wrong)[0])
            count = int(wrong.sum())
            value, wanted = _plain(mine[index]), _plain(theirs[index])
            where = f"[{', '.join(map(str, index))}]" if index else ""
            words = f"result {number}{where} is {value}, {wanted} is wanted ({count} of {wrong.size} differ)"
            return _found(number, index, value, wanted, words)
    return None


def _found(result: int, index: Sequence[int], got: Any, want: Any, message: str) -> dict[str, Any]:
    return {"result": result, "index": list(index), "got": got, "want": want, "message": message}


def _wrong(got: np.ndarray, want: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    if want.dtype.kind in "biu" and got.dtype.kind in "biu":
        return np.asarray(got != want)
    mine, theirs = wide(got), wide(want)
    with np.errstate(all="ignore"):
        finite = np.isfinite(theirs)
        off = np.abs(mine - theirs) > tolerance.bound(want)
        same = (mine == theirs) | (np.isnan(mine) & np.isnan(theirs))
    return np.asarray(np.where(finite, off | ~np.isfinite(mine), ~same))


def _plain(value: Any) -> Any:
    wide_value = wide(np.asarray(value)).item()
    return str(wide_value) if isinstance(wide_value, complex) else wide_value
