"""What is known of the elements of a float tensor: an interval, and whether NaN and -0.0 may occur.

Ends are numbers of the tensor's own type. Rounding is monotone, so an operation on the ends, done in that type, gives
the ends of its results.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

_TYPES: dict[str, Any] = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}


@dataclasses.dataclass(frozen=True)
class Floats:
    """Elements lie from ``low`` to ``high``, both inclusive (infinities too), where they are not NaN.

    ``nan``: one may be NaN; ``minus_zero``: one may be -0.0.
    """

    kind: str
    low: float = -math.inf
    high: float = math.inf
    nan: bool = True
    minus_zero: bool = True

    @property
    def finite(self) -> bool:
        """No element is NaN or infinite."""
        return not self.nan and math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def nonnegative(self) -> bool:
        """Every element is 0 or greater, none is -0.0."""
        return not self.nan and self.low >= 0 and not (self.minus_zero and self.low <= 0)

    @property
    def positive(self) -> bool:
        """Every element is greater than 0."""
        return not self.nan and self.low > 0

    @property
    def infinite(self) -> bool:
        """Whether an element may be infinite."""
        return math.isinf(self.low) or math.isinf(self.high)

    @property
    def zero(self) -> bool:
        """Whether an element may be a zero."""
        return self.low <= 0 <= self.high


def known_kind(kind: str) -> bool:
    """Whether it is the name of a float type of which anything is known here."""
    return kind in _TYPES


def largest(kind: str) -> float:
    """The largest finite number of a type."""
    return float(ml_dtypes.finfo(_TYPES[kind]).max)


def anything(kind: str) -> Floats:
    """Elements of which nothing is known."""
    return Floats(kind)


def numbers(kind: str, low: float, high: float) -> Floats:
    """Numbers from ``low`` to ``high``, rounded to the type; no NaN, no -0.0 (rounded integers)."""
    return Floats(kind, _rounded(kind, low), _rounded(kind, high), False, False)


def of_values(kind: str, values: Sequence[float]) -> Floats:
    """Exactly these values."""
    real = [v for v in values if v == v]
    low, high = (min(real), max(real)) if real else (math.inf, -math.inf)
    minus = any(v == 0 and math.copysign(1, v) < 0 for v in real)
    return Floats(kind, low, high, len(real) < len(values), minus)


def either(one: Floats, other: Floats) -> Floats:
    """An element of one or of the other."""
    return Floats(one.kind, min(one.low, other.low), max(one.high, other.high), one.nan or other.nan,
                  one.minus_zero or other.minus_zero)  # fmt: skip


def converted(x: Floats, kind: str) -> Floats:
    """The same numbers in another type."""
    return Floats(kind, _rounded(kind, x.low), _rounded(kind, x.high), x.nan, x.minus_zero or x.low < 0)


def _rounded(kind: str, value: float) -> float:
    with np.errstate(all="ignore"):
        return float(_TYPES[kind](value))


def _ends(kind: str, op: Callable[[Any, Any], Any], pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Lowest and highest result on pairs of ends, in the type; results that are NaN do not count."""
    with np.errstate(all="ignore"):
        found = [float(op(_TYPES[kind](a), _TYPES[kind](b))) for a, b in pairs]
    real = [v for v in found if v == v]
    return (min(real), max(real)) if len(real) == len(found) else (-math.inf, math.inf)


def _corners(x: Floats, y: Floats) -> list[tuple[float, float]]:
    return [(a, b) for a in (x.low, x.high) for b in (y.low, y.high)]


def add(x: Floats, y: Floats) -> Floats:
    """x + y: infinities of different signs give NaN, and only two -0.0 give -0.0."""
    low, high = _ends(x.kind, lambda a, b: a + b, [(x.low, y.low), (x.high, y.high)])
    opposite = (math.isinf(x.high) and x.high > 0 and y.low == -math.inf) or (x.low == -math.inf and y.high == math.inf)
    return Floats(x.kind, low, high, x.nan or y.nan or opposite, x.minus_zero and y.minus_zero)


def negate(x: Floats) -> Floats:
    """-x: a zero may get a sign."""
    return Floats(x.kind, -x.high, -x.low, x.nan, x.zero)


def subtract(x: Floats, y: Floats) -> Floats:
    """x - y: -0.0 comes from -0.0 less 0.0."""
    found = add(x, negate(y))
    return dataclasses.replace(found, minus_zero=x.minus_zero and y.zero)


def multiply(x: Floats, y: Floats) -> Floats:
    """x * y: zero times infinity is NaN."""
    low, high = _ends(x.kind, lambda a, b: a * b, _corners(x, y))
    lost = (x.zero and y.infinite) or (y.zero and x.infinite)
    signs = any(v.low < 0 or v.minus_zero for v in (x, y))
    return Floats(x.kind, low, high, x.nan or y.nan or lost, signs)


def square(x: Floats) -> Floats:
    """x * x of one x."""
    size = absolute(x)
    low, high = _ends(x.kind, lambda a, b: a * b, [(size.low, size.low), (size.high, size.high)])
    return Floats(x.kind, low, high, x.nan, False)


def divide(x: Floats, y: Floats) -> Floats:
    """x / y; nothing is known where y may be 0."""
    if y.zero:
        return anything(x.kind)
    low, high = _ends(x.kind, lambda a, b: a / b, _corners(x, y))
    signs = any(v.low < 0 or v.minus_zero for v in (x, y))
    return Floats(x.kind, low, high, x.nan or y.nan or (x.infinite and y.infinite), signs)


def absolute(x: Floats) -> Floats:
    """abs(x): NaN stays NaN."""
    sizes = sorted((abs(x.low), abs(x.high)))
    return Floats(x.kind, 0.0 if x.low <= 0 <= x.high else sizes[0], sizes[1], x.nan, False)


def maximum(x: Floats, y: Floats) -> Floats:
    """The larger one, where a NaN makes the result NaN; which of two zeros comes out is left open."""
    return Floats(x.kind, max(x.low, y.low), max(x.high, y.high), x.nan or y.nan, x.minus_zero or y.minus_zero)


def maximum_number(x: Floats, y: Floats) -> Floats:
    """The larger one; the other where one is NaN (a signalling one may make the result NaN)."""
    if x.nan and y.nan:
        low = min(x.low, y.low)
    else:
        low = y.low if x.nan else x.low if y.nan else max(x.low, y.low)
    return dataclasses.replace(maximum(x, y), low=low)


def minimum(x: Floats, y: Floats) -> Floats:
    """The smaller one, see ``maximum``."""
    return Floats(x.kind, min(x.low, y.low), min(x.high, y.high), x.nan or y.nan, x.minus_zero or y.minus_zero)


def minimum_number(x: Floats, y: Floats) -> Floats:
    """The smaller one, see ``maximum_number``."""
    if x.nan and y.nan:
        high = max(x.high, y.high)
    else:
        high = y.high if x.nan else x.high if y.nan else min(x.high, y.high)
    return dataclasses.replace(minimum(x, y), high=high)


def exponential(x: Floats) -> Floats:
    """e to the power of x: never negative; a bound is a little wide, since implementations round differently."""
    info = ml_dtypes.finfo(_TYPES[x.kind])
    top, least = math.log(float(info.max)) - 1, math.log(float(info.smallest_normal)) + 1
    high = math.exp(x.high) * 1.01 if x.high < top else math.inf
    low = math.exp(min(x.low, top)) * 0.99 if x.low > least else 0.0
    return Floats(x.kind, low, high, x.nan, False)


def bounded(x: Floats, low: float, high: float, of_infinity: bool) -> Floats:
    """A function whose values lie from ``low`` to ``high``; ``of_infinity``: infinities have a value, too."""
    return Floats(x.kind, low, high, x.nan or (x.infinite and not of_infinity), True)


def root(x: Floats) -> Floats:
    """The square root: of negative numbers NaN, of -0.0 itself."""
    low, high = _ends(x.kind, lambda a, _: np.sqrt(a), [(max(x.low, 0.0), 0.0), (max(x.high, 0.0), 0.0)])
    return Floats(x.kind, low, high, x.nan or x.low < 0, x.minus_zero or x.low < 0)


def whole(x: Floats) -> Floats:
    """Rounded to an integer in any direction: within one of what it was."""
    return Floats(x.kind, math.floor(x.low) if math.isfinite(x.low) else x.low,
                  math.ceil(x.high) if math.isfinite(x.high) else x.high, x.nan, x.minus_zero or x.low < 0)  # fmt: skip
