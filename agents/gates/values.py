"""Values with which floats, integers and booleans are filled: each function makes one array in one manner."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]
Rng = np.random.Generator

_SPECIAL = (math.nan, math.inf, -math.inf, -0.0, 0.0, 1.0, -1.0)


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether it is a float type, NumPy's own or of ml_dtypes."""
    return dtype.kind == "f" or (dtype.kind == "V" and "float" in dtype.name)


def limits(dtype: np.dtype[Any]) -> tuple[float, float, float]:
    """Largest finite value, smallest normal one, smallest one of a float type."""
    info = np.finfo(dtype) if issubclass(dtype.type, np.floating) else ml_dtypes.finfo(dtype)
    return float(info.max), float(info.smallest_normal), float(info.smallest_subnormal)


def to(values: Any, dtype: np.dtype[Any], shape: tuple[int, ...] | None = None) -> Array:
    """``values`` as an array of ``dtype``, without a word about what does not fit."""
    with np.errstate(all="ignore"):
        array = np.asarray(values).astype(dtype)
    return array if shape is None else array.reshape(shape)


def last(values: Array, value: Any) -> Array:
    """``values`` with ``value`` in the last place of each row, and in all of the last row where there are several."""
    if values.ndim == 0:
        return np.full((), value, values.dtype)
    values[..., -1:] = value
    if values.ndim > 1:
        values[(slice(-1, None),) * (values.ndim - 1)] = value
    return values


class Floats:
    """Manners of filling floats.

    ``nan``, ``inf``: whether the contract lets these values occur; ``huge``: whether values whose squares overflow may;
    ``narrow``: keep to what narrow types hold; ``constants``: of both texts.
    """

    def __init__(self, constants: Sequence[float], *, nan: bool, inf: bool, huge: bool, narrow: bool):
        self._constants = [c for c in constants if (nan or not math.isnan(c)) and (inf or not math.isinf(c))]
        self._nan, self._inf, self._huge, self._narrow = nan, inf, huge, narrow
        self._pools: dict[np.dtype[Any], list[float]] = {}

    def specials(self, dtype: np.dtype[Any]) -> list[float]:
        """Single values that code forgets."""
        largest, normal, smallest = limits(dtype)
        found = [x for x in _SPECIAL if (self._nan or x == x) and (self._inf or not math.isinf(x))]
        if not self._narrow:
            found += [smallest, -smallest, normal / 2, -normal / 2, normal]
        if self._huge:
            found += [largest, -largest, largest / 3]
        return found

    def fill(self, manner: str, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """An array in the named manner (see ``MANNERS``)."""
        with np.errstate(all="ignore"):
            values = to(_FLOAT[manner](self, shape, dtype, rng), dtype, shape)
            if not self._huge:  # where rounding is free, sums and squares must not overflow: order would decide
                wide = values.astype(np.float64)
                most = max(300.0, 2 ** (math.log2(limits(dtype)[0]) / 2 - 4))
                values = np.where(np.isfinite(wide) & (np.abs(wide) > most), to(np.sign(wide) * 300, dtype), values)
        return values

    # ---- manners

    def normal(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return rng.standard_normal(shape)

    def wide(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        largest, normal, _ = limits(dtype)
        top = math.log2(largest) if self._huge else math.log2(largest) / 2 - 4
        if self._narrow:
            top = 8
        low = -8 if self._narrow else max(math.log2(normal), -top)
        return rng.choice([-1.0, 1.0], shape) * np.exp2(rng.uniform(low, top, shape))

    def scattered(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        values = rng.standard_normal(shape).reshape(-1)
        if values.size:
            count = max(1, values.size // 6)
            values[rng.integers(0, values.size, count)] = rng.choice(self.specials(dtype), count)
        return values.reshape(shape)

    def single(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return self._put(shape, rng, [rng.choice(self.specials(dtype))])

    def _put(self, shape: tuple[int, ...], rng: Rng, values: Sequence[float], where: int | None = None) -> Array:
        made = rng.standard_normal(shape).reshape(-1)
        if made.size:
            last = max(0, made.size - len(values))
            start = int(rng.integers(0, last + 1)) if where is None else min(where, last) if where >= 0 else last
            made[start : start + len(values)] = values[: made.size - start]
        return made.reshape(shape)

    def first_nan(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return self._put(shape, rng, [math.nan if self._nan else 0.0], 0)

    def last_nan(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return self._put(shape, rng, [math.nan if self._nan else 0.0], -1)

    def some_nan(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return self._put(shape, rng, [math.nan if self._nan else -0.0])

    def some_inf(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return self._put(shape, rng, [math.inf if self._inf else 40.0])

    def some_negative_inf(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return self._put(shape, rng, [-math.inf if self._inf else -40.0])

    def pair(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        values = self._put(shape, rng, list(rng.choice(self.specials(dtype), 2)))
        return values

    def inf_then_nan(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return self._apart(shape, rng, math.inf, math.nan)

    def nan_then_inf(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return self._apart(shape, rng, math.nan, math.inf)

    def opposite_infs(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return self._apart(shape, rng, math.inf, -math.inf)

    def _apart(self, shape: tuple[int, ...], rng: Rng, one: float, other: float) -> Array:
        """Two values in one row, in this order."""
        made = rng.standard_normal(shape)
        rows = made.reshape(-1, shape[-1]) if shape and made.size else made.reshape(-1, 1)
        if rows.size and rows.shape[1] > 1:
            for row in rows if rng.random() < 0.5 else [rows[rng.integers(len(rows))]]:
                first, second = sorted(rng.choice(rows.shape[1], 2, replace=False))
                row[first], row[second] = self._legal(one), self._legal(other)
        return rows.reshape(shape)

    def _legal(self, value: float) -> float:
        if math.isnan(value):
            return value if self._nan else 0.0
        return value if self._inf or not math.isinf(value) else math.copysign(40.0, value)

    def rows(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """Every row in a manner of its own."""
        made = rng.standard_normal(shape)
        lines = made.reshape(-1, shape[-1]) if shape and made.size else made.reshape(-1, 1)
        for line in lines:
            manner = _ROW_MANNERS[int(rng.integers(len(_ROW_MANNERS)))]
            line[:] = _FLOAT[manner](self, line.shape, dtype, rng)
        return lines.reshape(shape)

    def one_row(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """One row, not the first, in a manner of its own; the others normal."""
        made = rng.standard_normal(shape)
        lines = made.reshape(-1, shape[-1]) if shape and made.size else made.reshape(-1, 1)
        if len(lines):
            line = lines[int(rng.integers(min(1, len(lines) - 1), len(lines)))]
            manner = _ROW_MANNERS[int(rng.integers(len(_ROW_MANNERS)))]
            line[:] = _FLOAT[manner](self, line.shape, dtype, rng)
        return lines.reshape(shape)

    def constant(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return np.full(shape, rng.choice([*self.specials(dtype), 0.5, -2.0, 3.0, 1.7, rng.standard_normal()]))

    def zeros(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return np.zeros(shape)

    def negative_zeros(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return np.full(shape, -0.0)

    def zero_signs(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return rng.choice([0.0, -0.0, 0.0, -0.0, 1.0, -1.0], shape)

    def only_zeros(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return rng.choice([0.0, -0.0], shape)

    def zeros_and_negatives(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """The largest are zeros of both signs."""
        return rng.choice([0.0, -0.0, -1.0, -2.5], shape)

    def zeros_and_positives(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """The smallest are zeros of both signs."""
        return rng.choice([0.0, -0.0, 1.0, 2.5], shape)

    def lowest(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """Nothing above the lowest finite number, where such numbers may occur."""
        bottom = -limits(dtype)[0] if self._huge else -1e4
        made = rng.choice([self._legal(-math.inf), bottom], shape)
        if made.size and rng.random() < 0.7:  # what comes first is what a search starts from
            made.reshape(-1)[0] = self._legal(-math.inf)
        return made

    def highest(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """Nothing below the highest finite number, where such numbers may occur."""
        return -self.lowest(shape, dtype, rng)

    def infs(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return np.full(shape, self._legal(math.inf))

    def negative_infs(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return np.full(shape, self._legal(-math.inf))

    def nans(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return np.full(shape, self._legal(math.nan))

    def equal(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return np.full(shape, rng.choice([0.5, 1.0, -3.0, 2.5, rng.standard_normal()]))

    def negative(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return -np.abs(rng.standard_normal(shape)) - 0.01

    def positive(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return np.abs(rng.standard_normal(shape)) + 0.01

    def big(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        low, high = (12.0, 200.0) if dtype == np.float16 else (60.0, 300.0)
        return rng.uniform(low, high, shape) * (rng.choice([-1.0, 1.0], shape) if rng.random() < 0.5 else 1.0)

    def some_big(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return self._put(shape, rng, [float(rng.uniform(40.0, 300.0)) * float(rng.choice([-1.0, 1.0]))])

    def some_large(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """One value that is far out of the usual range."""
        largest = limits(dtype)[0]
        top = math.log2(largest) if self._huge else 8.0 if self._narrow else math.log2(largest) / 2 - 4
        return self._put(shape, rng, [float(np.exp2(rng.uniform(min(8.0, top), top))) * float(rng.choice([-1.0, 1.0]))])

    def tiny(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        scale = 1e-3 if self._narrow or dtype == np.float16 else 10.0 ** -float(rng.integers(3, 12))
        return rng.standard_normal(shape) * scale

    def denormal(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        if self._narrow:
            return rng.standard_normal(shape)
        top = limits(dtype)[1] * float(rng.choice([1.0, 4.0, 1024.0]))
        return np.where(rng.random(shape) < 0.7, rng.uniform(-top, top, shape), rng.standard_normal(shape))

    def roots(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """Values whose squares lie about the smallest normal number."""
        if self._narrow:
            return rng.standard_normal(shape)
        middle = math.log2(limits(dtype)[1]) / 2
        return rng.choice([-1.0, 1.0], shape) * np.exp2(rng.uniform(middle - 8, middle + 2, shape))

    def near_largest(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """Within a few powers of two of the largest number, where such numbers may occur."""
        if not self._huge:
            return self.wide(shape, dtype, rng)
        return limits(dtype)[0] * np.exp2(-rng.uniform(0, 5, shape)) * rng.choice([-1.0, 1.0], shape)

    def outlier(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """One value out of the usual range, often late: last, last but one, or anywhere."""
        pool = [100.0, -100.0, 200.0, -200.0]
        if not self._narrow:
            pool += [1e4, -1e4, *((1e12, -1e12) if dtype.itemsize >= 4 else ())]
        made = rng.standard_normal(shape).reshape(-1)
        if made.size:
            width = shape[-1] if shape else 1
            column = int(rng.choice([width - 1, max(0, width - 2), int(rng.integers(width))]))
            rows = made.reshape(-1, width)
            rows[int(rng.integers(len(rows))), column] = rng.choice(pool)
        return made.reshape(shape)

    def last_high(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """The last of each row is the largest by far, and so are those of the last row."""
        return last(rng.standard_normal(shape), 100.0)

    def last_low(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """The last of each row is the smallest by far."""
        return -self.last_high(shape, dtype, rng)

    def offset(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """Large mean, small spread."""
        mean = {2: 30.0, 4: 1e4, 8: 1e8}.get(dtype.itemsize, 8.0)
        if dtype.itemsize == 4:
            mean = float(rng.choice([100.0, 1e3, 1e4]))
        return mean * float(rng.choice([-1.0, 1.0])) + rng.standard_normal(shape) * rng.choice([0.01, 0.3, 1.0])

    def ties(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        return np.round(rng.standard_normal(shape) * rng.choice([1.0, 2.0]))

    def halves(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """Halfway between integers, also after a multiplication or division by a constant of the texts."""
        halfway = rng.integers(-9, 9, shape) + 0.5
        scale = rng.choice([1.0, *(c for c in self._constants[:12] if c != 0 and math.isfinite(c))], shape)
        return np.where(rng.random(shape) < 0.5, halfway / scale, halfway * scale)

    def edges(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """Multiples and fractions of constants: edges of bins, and of unit intervals."""
        scales = [c for c in self._constants if c != 0 and math.isfinite(c)] or [1.0]
        scale = rng.choice(scales, shape)
        whole = rng.integers(-2, 12, shape)
        return np.where(rng.random(shape) < 0.5, whole / scale, whole * scale)

    def unit(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        values = rng.random(shape)
        return np.where(rng.random(shape) < 0.2, rng.choice([0.0, 1.0, 0.5], shape), values)

    def beyond(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """Far beyond, and at the edges of, what narrower types hold."""
        edges = [7.0, 8.0, 127.0, 127.5, 128.0]  # whose products f16 holds
        if not self._narrow:
            edges += [255.0, 255.5, 256.0, 1e3, 32767.0, 32768.0, 65504.0, 65535.0, 65520.0]
            edges += [1e6, 2147483520.0, 2147483648.0, 4294967296.0, 1e10]
            if self._huge:
                edges += [9.3e18, 1e20]
        return rng.choice(edges, shape) * rng.choice([-1.0, 1.0], shape)

    def constants(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """Constants of the texts, their neighbours and negatives, scattered."""
        pool = self._neighbours(dtype)
        made = rng.standard_normal(shape)
        return np.where(rng.random(shape) < 0.6, rng.choice(pool, shape), made) if pool else made

    def only_constants(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """Nothing but the constants that are compared with something."""
        return rng.choice(self._constants[:6] or [0.5, 2.0], shape)

    def combined(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        """Sums, differences, products and quotients of two constants."""
        few = [c for c in self._constants[:8] if math.isfinite(c)] or [1.0]
        one, other = rng.choice(few, shape), rng.choice(few, shape)
        ways = [one + other, one - other, one * other, one / np.where(other == 0, 1.0, other)]
        return np.choose(rng.integers(0, len(ways), shape), ways)

    def one_constant(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        pool = self._neighbours(dtype)
        if not pool:
            return rng.standard_normal(shape)
        return self._put(shape, rng, [float(rng.choice(pool))], int(rng.choice([0, -1, max(0, math.prod(shape) // 2)])))

    def all_constant(self, shape: tuple[int, ...], dtype: np.dtype[Any], rng: Rng) -> Array:
        pool = self._neighbours(dtype) or [0.25]
        return np.full(shape, rng.choice(pool))

    def _neighbours(self, dtype: np.dtype[Any]) -> list[float]:
        if dtype in self._pools:
            return self._pools[dtype]
        found: list[float] = []
        with np.errstate(all="ignore"):
            for constant in self._constants:
                here = to(constant, dtype)
                for way in (-math.inf, math.inf):
                    found.append(float(np.nextafter(here, to(way, dtype))))
                found += [float(here), -float(here)]
        pool = [x for x in found if (self._nan or x == x) and (self._inf or not math.isinf(x))]
        self._pools[dtype] = list(dict.fromkeys(pool))
        return self._pools[dtype]


def _float_manners() -> dict[str, Callable[..., Array]]:
    return {
        name: function
        for name, function in vars(Floats).items()
        if callable(function) and not name.startswith("_") and name not in ("fill", "specials")
    }


_FLOAT = _float_manners()
#: every manner of filling floats
MANNERS = tuple(_FLOAT)
_ROW_MANNERS = (
    "scattered",
    "some_nan",
    "some_inf",
    "some_negative_inf",
    "inf_then_nan",
    "nan_then_inf",
    "opposite_infs",
    "zeros",
    "negative_zeros",
    "infs",
    "negative_infs",
    "nans",
    "equal",
    "negative",
    "some_big",
    "big",
    "tiny",
    "ties",
    "offset",
    "some_large",
    "denormal",
    "all_constant",
    "positive",
    "outlier",
    "only_zeros",
    "zeros_and_negatives",
    "zeros_and_positives",
    "lowest",
    "highest",
    "roots",
)


class Integers:
    """Manners of filling integers within ``low`` to ``high``; ``constants``: of both texts and sizes of the call."""

    def __init__(self, dtype: np.dtype[Any], low: int, high: int, constants: Sequence[int]):
        self._dtype, self._low, self._high = dtype, low, high
        self._constants = [c + d for c in constants for d in (-1, 0, 1) if low <= c + d <= high]

    def fill(self, manner: str, shape: tuple[int, ...], rng: Rng) -> Array:
        """An array in the named manner (``INTEGER_MANNERS``)."""
        return to(_INTEGER[manner](self, shape, rng), self._dtype, shape)

    def _clip(self, values: Array) -> Array:
        return np.clip(values, self._low, self._high)

    def _uniform(self, low: int, high: int, shape: tuple[int, ...], rng: Rng) -> Array:
        dtype = np.uint64 if high > np.iinfo(np.int64).max else np.int64
        return rng.integers(low, high, shape, dtype=dtype, endpoint=True)

    def small(self, shape: tuple[int, ...], rng: Rng) -> Array:
        return (
            self._uniform(max(self._low, -8), min(self._high, max(self._low, 9)), shape, rng)
            if self._low <= 9
            else (self._uniform(self._low, min(self._high, self._low + 16), shape, rng))
        )

    def uniform(self, shape: tuple[int, ...], rng: Rng) -> Array:
        return self._uniform(self._low, self._high, shape, rng)

    def extremes(self, shape: tuple[int, ...], rng: Rng) -> Array:
        pool = [
            self._low,
            self._high,
            self._low + 1,
            self._high - 1,
            0,
            1,
            -1,
            *(2**k for k in (3, 5, 7, 8, 15, 16, 31)),
        ]
        legal = [x for x in pool if self._low <= x <= self._high]
        mixed = rng.choice(np.array(legal, object), shape)
        return np.where(rng.random(shape) < 0.6, mixed, self.small(shape, rng))

    def top(self, shape: tuple[int, ...], rng: Rng) -> Array:
        return np.full(shape, self._high, object)

    def bottom(self, shape: tuple[int, ...], rng: Rng) -> Array:
        return np.full(shape, self._low, object)

    def near_top(self, shape: tuple[int, ...], rng: Rng) -> Array:
        return self._uniform(max(self._low, self._high - 3), self._high, shape, rng)

    def near_bottom(self, shape: tuple[int, ...], rng: Rng) -> Array:
        return self._uniform(self._low, min(self._high, self._low + 3), shape, rng)

    def zeros(self, shape: tuple[int, ...], rng: Rng) -> Array:
        return self._clip(np.zeros(shape, np.int64))

    def equal(self, shape: tuple[int, ...], rng: Rng) -> Array:
        return np.full(shape, rng.choice(np.array(self._constants or [self._low, self._high], object)), object)

    def ties(self, shape: tuple[int, ...], rng: Rng) -> Array:
        return self._uniform(max(self._low, min(0, self._high)), min(self._high, max(self._low, 2)), shape, rng)

    def constants(self, shape: tuple[int, ...], rng: Rng) -> Array:
        if not self._constants:
            return self.uniform(shape, rng)
        pool = np.array(sorted(set(self._constants)), object)
        return np.where(rng.random(shape) < 0.7, rng.choice(pool, shape), self.small(shape, rng))

    def combined(self, shape: tuple[int, ...], rng: Rng) -> Array:
        few = np.array(list(dict.fromkeys(self._constants[1:24:3])) or [1], object)
        one, other = rng.choice(few, shape), rng.choice(few, shape)
        return self._clip(np.choose(rng.integers(0, 3, shape), [one + other, one - other, one * other]))

    def one_constant(self, shape: tuple[int, ...], rng: Rng) -> Array:
        made = np.array(self.small(shape, rng), object).reshape(-1)
        if made.size and self._constants:
            made[int(rng.integers(made.size))] = rng.choice(np.array(self._constants, object))
        return made.reshape(shape)

    def constant(self, shape: tuple[int, ...], rng: Rng) -> Array:
        pool = [self._low, self._high, 0, 1, -1, *self._constants[:8]]
        return np.full(shape, rng.choice(np.array([x for x in pool if self._low <= x <= self._high], object)), object)

    def last_high(self, shape: tuple[int, ...], rng: Rng) -> Array:
        return last(np.array(self.small(shape, rng), object), self._high)

    def last_low(self, shape: tuple[int, ...], rng: Rng) -> Array:
        return last(np.array(self.small(shape, rng), object), self._low)

    def ascending(self, shape: tuple[int, ...], rng: Rng) -> Array:
        return np.sort(self.uniform(shape, rng), axis=-1) if shape else self.uniform(shape, rng)


_INTEGER: dict[str, Callable[..., Array]] = {
    name: function
    for name, function in vars(Integers).items()
    if callable(function) and not name.startswith("_") and name != "fill"
}
#: every manner of filling integers
INTEGER_MANNERS = tuple(_INTEGER)


def booleans(manner: str, shape: tuple[int, ...], rng: Rng) -> Array:
    """An array of booleans: ``mixed``, ``true``, ``false``, ``rows`` (some rows wholly so), ``one``, ``last``."""
    if manner in ("true", "false"):
        return np.full(shape, manner == "true")
    if manner == "last":
        return last(np.zeros(shape, bool), True)
    made = rng.random(shape) < 0.7
    if manner == "one":
        flat = np.zeros(shape, bool).reshape(-1)
        if flat.size:
            flat[int(rng.integers(flat.size))] = True
        return flat.reshape(shape)
    if manner == "rows" and shape and made.size:
        lines = made.reshape(-1, shape[-1])
        for line in lines:
            if rng.random() < 0.5:
                line[:] = rng.random() < 0.3
        return lines.reshape(shape)
    return np.asarray(made)


BOOLEAN_MANNERS = ("mixed", "rows", "false", "true", "one")
