"""Comparison of results: bit for bit, or by error against a run in higher precision; what differs first and how."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from kc.agents.gates.policy import Policy
from kc.agents.gates.values import Array, is_float, limits

#: a reason of gate numeric -> how bad it is: the worst is reported
_ORDER = (
    "numeric.shape",
    "numeric.integer",
    "numeric.nan",
    "numeric.inf",
    "numeric.zero",
    "numeric.value",
    "numeric.error",
)


@dataclasses.dataclass(frozen=True)
class Difference:
    """The first place at which two lists of results differ; ``excess``: error over bound where there is a bound."""

    reason: str
    result: int
    index: tuple[int, ...]
    got: Any
    want: Any
    count: int
    size: int
    excess: float = math.inf

    def __str__(self) -> str:
        where = f"result {self.result}" + (str(list(self.index)) if self.index else "")
        many = f" ({self.count} of {self.size} elements)" if self.size > 1 else ""
        return f"{where} is {self.got}, not {self.want}{many}"


@dataclasses.dataclass
class Errors:
    """Largest errors seen, in units in the last place of the reference: of the proposal and of the original."""

    ulp: float = 0.0
    original_ulp: float = 0.0


def exact(got: Sequence[Array], want: Sequence[Array], policy: Policy) -> Difference | None:
    """Where ``got`` is not ``want``, when no rounding is free."""
    found = shapes(got, want)
    if found:
        return found
    for number, (one, other) in enumerate(zip(got, want, strict=True)):
        one, other = _parts(one), _parts(other)
        if not one.size:
            continue
        if not is_float(one.dtype):
            found = _first("numeric.integer", one != other, number, one, other)
        else:
            found = _float_difference(one, other, policy, number)
        if found:
            return found
    return None


def _float_difference(one: Array, other: Array, policy: Policy, number: int) -> Difference | None:
    a, b = widen(one), widen(other)
    nan_a, nan_b = np.isnan(a), np.isnan(b)
    skip = _left_out(b, policy)
    same = (a == b) | (nan_a & nan_b) | skip
    if policy.zero_sign:
        same &= (np.signbit(a) == np.signbit(b)) | nan_a | skip
    if same.all():
        return None
    bad = ~same
    return (
        _first("numeric.nan", bad & (nan_a != nan_b), number, one, other)
        or _first("numeric.inf", bad & (np.isinf(a) | np.isinf(b)), number, one, other)
        or _first("numeric.zero", bad & (a == b), number, one, other)
        or _first("numeric.value", bad, number, one, other)
    )


def _left_out(values: Array, policy: Policy) -> Array:
    """Elements of the original that the contract says do not occur."""
    skip = np.zeros(values.shape, bool)
    if not policy.nan:
        skip |= np.isnan(values)
    if not policy.inf:
        skip |= np.isinf(values)
    return skip


def bounded(
    got: Sequence[Array],
    want: Sequence[Array],
    references: Sequence[Sequence[Array]],
    policy: Policy,
    length: int,
    errors: Errors,
    *,
    huge: bool = False,
    magnified: float = 1.0,
) -> Difference | None:
    """Where ``got`` is further from the truth than the policy's bound.

    ``references``: results in higher precision, the first on the very inputs, the others on inputs that were moved a
    little: by ``magnified`` roundings. With ``huge``, an original that overflows on the way to a result that does not
    may be bettered.
    """
    found = shapes(got, want)
    if found:
        return found
    for number, (one, other) in enumerate(zip(got, want, strict=True)):
        runs = [_parts(run[number]) for run in references]
        one, other = _parts(one), _parts(other)
        if not one.size:
            continue
        if not is_float(one.dtype):
            agree = one == other
            for run in runs if policy.allow else ():
                agree |= one == run.astype(one.dtype)
            found = _first("numeric.integer", ~agree, number, one, other)
        else:
            found = _within(one, other, runs, policy, length, errors, huge, magnified, number)
        if found:
            return found
    return None


def _within(
    one: Array,
    other: Array,
    runs: list[Array],
    policy: Policy,
    length: int,
    errors: Errors,
    huge: bool,
    magnified: float,
    number: int,
) -> Difference | None:
    largest, normal, smallest = limits(one.dtype)
    a, b = widen(one), widen(other)
    with np.errstate(all="ignore"):
        exact_reference = widen(runs[0])
        reference = _rounded(exact_reference, one.dtype)
        skip = _left_out(b, policy) | _left_out(exact_reference, policy)
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | skip
        f, c = policy.factors(length)
        spread = np.zeros(a.shape)
        for run in runs[1:]:
            moved = np.abs(widen(run) - exact_reference)
            spread = np.maximum(spread, np.where(np.isfinite(moved), moved / magnified, 0))
        own = np.where(np.isfinite(b) & np.isfinite(exact_reference), np.abs(b - exact_reference), 0)
        size = np.where(np.isfinite(exact_reference), np.abs(exact_reference), 0)
        last_place = np.maximum(size * 2.0 ** -_digits(one.dtype), smallest)
        floor = normal if policy.allow & {"approx", "arcp"} else 2 * smallest
        # errors come in the scale of a whole row or result: an element whose own error happens to be 0 is no standard
        scale = spread + policy.unit * size
        ratio = float(np.max(np.where(scale > 0, own / np.maximum(scale, 1e-300), 0), initial=0))
        bound = f * spread + c * policy.unit * size + 4 * np.maximum(own, min(ratio, f) * scale) + last_place + floor
        error = np.abs(a - exact_reference)
        finite = np.isfinite(a) & np.isfinite(exact_reference)
        near = finite & (error <= bound) & (np.isfinite(b) | (huge & np.isfinite(reference)))
        # a result that rounds to infinity in one and to the largest number in the other
        edge = np.isfinite(a) != np.isfinite(b)
        near |= edge & ~np.isnan(a) & ~np.isnan(b) & (size > largest / 2) & (size + bound >= largest)
        measured = finite & np.isfinite(b) & ~skip & (size >= normal)
        if measured.any():
            errors.ulp = max(errors.ulp, float(np.max((error / last_place)[measured])))
            errors.original_ulp = max(errors.original_ulp, float(np.max((own / last_place)[measured])))
    bad = ~(same | near)
    if not bad.any():
        return None
    with np.errstate(all="ignore"):
        excess = float(np.max(np.where(bad & finite, error / bound, 0), initial=0)) or math.inf
    found = (
        _first("numeric.nan", bad & (np.isnan(a) != np.isnan(b)), number, one, other)
        or _first("numeric.inf", bad & (np.isinf(a) | np.isinf(b)), number, one, other)
        or _first("numeric.error", bad, number, one, other)
    )
    return dataclasses.replace(found, excess=excess) if found is not None else None


def shapes(got: Sequence[Array], want: Sequence[Array]) -> Difference | None:
    """Where number, shape or type of the results differ."""
    if len(got) != len(want):
        return Difference("numeric.shape", len(got), (), f"{len(got)} results", f"{len(want)} results", 1, 1)
    for number, (one, other) in enumerate(zip(got, want, strict=True)):
        if one.shape != other.shape or one.dtype != other.dtype:
            mine, theirs = (f"{x.dtype}{list(x.shape)}" for x in (one, other))
            return Difference("numeric.shape", number, (), mine, theirs, 1, 1)
    return None


def widen(array: Array) -> Array:
    """Floats of any type as f64."""
    with np.errstate(all="ignore"):
        return array.astype(np.float64)


def _rounded(values: Array, dtype: np.dtype[Any]) -> Array:
    return widen(values.astype(dtype))


def _digits(dtype: np.dtype[Any]) -> int:
    """Bits of the fraction of a float type."""
    import ml_dtypes

    return int((np.finfo(dtype) if dtype.kind == "f" else ml_dtypes.finfo(dtype)).nmant)


def _parts(array: Array) -> Array:
    """Complex numbers as pairs of floats; anything else as it is."""
    if array.dtype.kind != "c":
        return array
    return np.ascontiguousarray(array).reshape(*array.shape, 1).view(f"f{array.dtype.itemsize // 2}")


def _first(reason: str, bad: Array, number: int, got: Array, want: Array) -> Difference | None:
    if not bad.any():
        return None
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(bad.reshape(-1))), bad.shape)) if bad.ndim else ()
    return Difference(reason, number, index, plain(got[index]), plain(want[index]), int(bad.sum()), int(bad.size))


def plain(value: Any) -> Any:
    """A NumPy scalar as a JSON value: floats that are no JSON numbers as text."""
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, np.integer) or getattr(value, "dtype", np.dtype(float)).name in ("int4", "uint4"):
        return int(value)
    number = float(value)
    return number if math.isfinite(number) else str(number)
