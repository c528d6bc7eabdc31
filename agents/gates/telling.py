"""Values that decide for certain whether a known kind of code is right, chosen by what the ops of the texts do.

Each function gives numbers in a fixed order: no luck has a part in whether they are drawn. Divisions by a constant
(multiplication by a rounded reciprocal) fail first at one below a multiple, near the top; loops over data at the inputs
of most rounds (Euclid's at neighbouring Fibonacci numbers); two roundings instead of one next to a value halfway
between two of the narrow type; roundings of a quotient at halves.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from kc.agents.gates.values import Array, limits, to

#: float types by MLIR's name -> significant bits, exponents of the smallest normal and of the largest number
FORMATS: dict[str, tuple[int, int, int]] = {
    "f64": (53, -1022, 1023),
    "f32": (24, -126, 127),
    "tf32": (11, -126, 127),
    "bf16": (8, -126, 127),
    "f16": (11, -14, 15),
    "f8E4M3FN": (4, -6, 8),
    "f8E4M3": (4, -6, 7),
    "f8E5M2": (3, -14, 15),
    "f8E3M4": (5, -2, 3),
}
#: significant bits by NumPy's name
_BITS = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}
#: starts of the longest runs of 3n + 1 below powers of ten
_LONG_RUNS = (27, 97, 871, 6171, 77031, 837799, 8400511, 63728127, 670617279)
#: divisors of which nothing but the range is known
_DIVISORS = 12
#: constants by whose multiples and fractions roundings are tried
_SCALES = 4


def integers(
    low: int, high: int, traits: Collection[str], divisors: Sequence[int], common: int | None = None
) -> list[int]:
    """Integers of ``low`` to ``high``, each once, the most telling first.

    ``common``: the most that all arguments can hold, so that lists for several arguments begin alike.
    """
    found: list[int] = []
    if "loop" in traits:
        found += _fibonacci(high if common is None else min(common, high))
    if "divide" in traits or divisors:
        for divisor in divisors[:_DIVISORS]:
            found += _multiples(low, high, divisor)
    for name in sorted(traits):
        if name.startswith("narrow:"):
            found += _halfway_integers(low, high, name.partition(":")[2])
    found += _powers(low, high)
    if not {"loop", "divide"}.isdisjoint(traits):
        found += _counted(low, high)
    return list(dict.fromkeys(n for n in found if low <= n <= high))


def quotients(low: int, high: int) -> list[tuple[int, int]]:
    """Dividends and divisors: one below, at and one above multiples, near the top and in the middle."""
    found = []
    root = math.isqrt(max(1, high))
    for divisor in (3, 7, 10, 2, 1, 641, root, root + 1, root - 1, high // 2, high // 3, high - 1, high):
        if divisor < 1 or not low <= divisor <= high:
            continue
        top = high // divisor
        for times in dict.fromkeys((top, top - 1, top // 2 + 1, top // 3 + 1, 1)):
            found += [(times * divisor + d, divisor) for d in (-1, 0, 1) if low <= times * divisor + d <= high]
    return found


def _fibonacci(high: int) -> list[int]:
    """The largest first: neighbours stand side by side."""
    found = [1, 2]
    while found[-1] + found[-2] <= high:
        found.append(found[-1] + found[-2])
    return found[::-1]


def _multiples(low: int, high: int, divisor: int) -> Iterator[int]:
    """One below, at, and one above multiples: of the largest, of evenly spread ones, of powers of two of it."""
    for end in (high, low):
        top = abs(end) // divisor
        if top == 0:
            continue
        steps = [*range(top, max(0, top - 4), -1), *(top * k // 8 for k in range(1, 8)), 1, 2, 3]
        steps += [1 << k for k in range(2, top.bit_length(), 3)]
        for times in dict.fromkeys(steps):
            for d in (-1, 0, 1):
                yield (times * divisor + d) * (1 if end > 0 else -1)


def _halfway_integers(low: int, high: int, kind: str) -> Iterator[int]:
    """Integers halfway between two numbers of a float type, and next to that."""
    if kind not in FORMATS:
        return
    bits, _, top = FORMATS[kind]
    width = min(max(abs(low), high).bit_length(), top + 1)
    exponents = [e for e in range(width, bits, -1) if e > width - 3 or e < bits + 3 or e % 3 == 0]
    for exponent in exponents:
        shift = exponent - bits
        for mantissa in _mantissas(bits):
            for d in (0, -1, 1):
                value = (mantissa << shift) + (1 << shift >> 1) + d
                yield value
                yield -value


def _mantissas(bits: int) -> tuple[int, ...]:
    """An even and an odd one at the bottom of a binade, the last, and an even one further up."""
    least = 1 << (bits - 1)
    return (least, least + 1, 2 * least - 1, least + (least >> 1) & ~1)


def _powers(low: int, high: int) -> Iterator[int]:
    for k in range(max(abs(low), high).bit_length() + 1):
        for d in (-1, 0, 1):
            yield (1 << k) + d
            yield -(1 << k) + d


def _counted(low: int, high: int) -> Iterator[int]:
    """Squares, powers of ten, starts of long runs, small numbers."""
    yield from _LONG_RUNS
    root = math.isqrt(max(0, high))
    for k in (root, root - 1, root // 2, 46340, 255, 256, 181, 16, 15, 3):
        yield from (k * k - 1, k * k, k * k + 1)
    for k in range(1, 20):
        yield from (10**k - 1, 10**k, 10**k + 1)
    yield from range(64)


def floats(dtype: np.dtype[Any], traits: Collection[str], constants: Sequence[float]) -> Array:
    """Floats of ``dtype``, those with their sign and payload that are no numbers among them."""
    parts: list[Array] = []
    if "bits" in traits:
        parts.append(nans(dtype))
        largest, normal, smallest = limits(dtype)
        parts.append(to([s * x for x in (0.0, 1.0, math.inf, smallest, normal, largest) for s in (-1.0, 1.0)], dtype))
    for name in sorted(traits):
        if name.startswith("narrow:"):
            parts.append(_halfway_floats(dtype, name.partition(":")[2]))
    if "scale-floats" in traits:
        parts.append(_smallest(dtype))
    if "fma" in traits:
        parts.append(_squares(dtype, constants))
    if "round" in traits:
        parts.append(_halves(dtype, constants))
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


def float_tuples(dtype: np.dtype[Any], traits: Collection[str]) -> list[Array]:
    """For each op of several operands that two roundings make wrong: an array of rows of its operands.

    A quotient lies halfway between two numbers among the denormal ones only; a product and a sum lie next to such a
    point where the product is one and the sum adds little.
    """
    bits = _BITS.get(dtype.name, 0)
    if not bits:
        return []
    smallest = limits(dtype)[2]
    found = []
    if "divide-floats" in traits:
        pairs = [
            (sign * times * divisor * smallest, 2.0 * divisor)
            for divisor in (49, 3, 5, 7, 41, 47, 55, 61, 83, 97, 101, 103, 107, 1, 11, 13)
            for times in (3, 1, 5)
            for sign in (1.0, -1.0)
            if times * divisor < 1 << bits
        ]
        found.append(to(pairs, dtype))
    if "fma" in traits:
        one, other = float((1 << bits // 2) + 1), float((1 << (bits + 1) // 2) + 1)
        little = (math.ldexp(1.0, -40), smallest, math.ldexp(1.0, -9))
        rows = [(s * one, other, t * x) for x in little for s in (1.0, -1.0) for t in (1.0, -1.0)]
        rows += [(s * one, other + 2, t * x) for x in little for s in (1.0, -1.0) for t in (1.0, -1.0)]
        found.append(to(rows, dtype))
    return found


def _smallest(dtype: np.dtype[Any]) -> Array:
    """The smallest multiples of the smallest number: products with fractions are rounded to whole units there, in one
    step or in two."""
    multiples = to(np.arange(1, 65) * limits(dtype)[2], dtype)
    return np.stack([multiples, -multiples], axis=-1).reshape(-1)


def _squares(dtype: np.dtype[Any], constants: Sequence[float]) -> Array:
    """Numbers whose squares lie halfway between two others, of many sizes: what is added to one decides, if it is small
    enough to be lost in a wider type first."""
    bits = _BITS.get(dtype.name, 0)
    if not bits:
        return np.zeros(0, dtype)
    largest, _, smallest = limits(dtype)
    root = math.isqrt(1 << bits) + 1 | 1
    sizes = [math.frexp(c)[1] for c in constants if c != 0 and math.isfinite(c)][:_SCALES]
    lost = 2 * bits + 6  # by so many bits or a few more, a summand of 2^size lies below the square
    exponents = [(lost + size - bits) // 2 + more for size in sizes or (0,) for more in (0, 4, 8)]
    exponents += range(-60, 61, 5)
    found = [s * math.ldexp(m, e) for e in dict.fromkeys(exponents) for m in (root, root + 2) for s in (1.0, -1.0)]
    return to([x for x in found if smallest < x * x < largest], dtype)


def nans(dtype: np.dtype[Any]) -> Array:
    """NaN of both signs, plain, with the least and with the whole payload, quiet and signalling, in turn with a number.

    The types of one byte have one NaN for each sign, or payloads that nothing tells apart.
    """
    kind = f"u{dtype.itemsize}"
    sign = 1 << (8 * dtype.itemsize - 1)
    plain = int(to([math.nan], dtype).view(kind)[0]) & ~sign
    infinity = int(to([math.inf], dtype).view(kind)[0]) & ~sign
    one = int(to([1.0], dtype).view(kind)[0])
    payloads = (plain, infinity | 1, sign - 1, plain | 1, infinity | (plain & ~infinity) >> 1)
    bits = [b for p in payloads[: None if dtype.itemsize > 1 else 1] for s in (sign, 0) for b in (p | s, one)]
    return np.array(bits, kind).view(dtype)


def _halfway_floats(dtype: np.dtype[Any], kind: str) -> Array:
    """Halfway between two numbers of a narrower type, and the neighbours of that in ``dtype``."""
    if kind not in FORMATS or kind == "f64":  # nothing is wider
        return np.zeros(0, dtype)
    bits, bottom, top = FORMATS[kind]
    largest = limits(dtype)[0]
    found = []
    for exponent in dict.fromkeys((0, -1, 5, top, top - 1, bottom, bottom + 1, 1)):
        for mantissa in _mantissas(bits):
            found.append(math.ldexp(mantissa + 0.5, exponent - bits + 1))
    found += [math.ldexp(k + 0.5, bottom - bits + 1) for k in range(4)]  # below the smallest normal number
    found = [x for x in found if x < largest]
    return _beside(found, dtype, signs=True)


def _beside(values: Iterable[float], dtype: np.dtype[Any], *, signs: bool = False) -> Array:
    """The values, each with its two neighbours."""
    with np.errstate(all="ignore"):
        here = to(list(values), dtype)
        around = [np.nextafter(here, to([way], dtype)) for way in (math.inf, -math.inf)]
        made = np.stack([here, *around], axis=-1).reshape(-1)
        return np.concatenate([made, -made]) if signs else made


def _halves(dtype: np.dtype[Any], constants: Sequence[float]) -> Array:
    """Halves; where adding a half goes wrong; ends of the integer types; halves and whole numbers times and over each
    constant.

    The last with their neighbours: a product with a rounded reciprocal falls on the other side of one than the quotient
    does, of four divisors in five for some number below 24. Powers of two have exact reciprocals.
    """
    bits = {2: 11, 4: 24, 8: 53}.get(dtype.itemsize, 4)
    edges = [0.5, 1.5, 2.5, float((1 << (bits - 1)) + 1), float((1 << (bits - 1)) - 1), (1 << (bits - 2)) + 0.5]
    edges += [float(1 << k) for k in (7, 8, 15, 16, 31, 32, 63, 64)] + [127.5, 255.5, 32767.5, 65535.5]
    scales = list(dict.fromkeys(abs(c) for c in constants if c != 0 and math.isfinite(c)))
    halves = [h * f for c in [1.0, *scales[:12]] for f in (c, 1 / c) for h in (k + 0.5 for k in range(-5, 5))]
    inexact = [f for c in [c for c in scales if math.frexp(c)[0] != 0.5][:_SCALES] for f in (c, 1 / c)]
    scaled = [k / 2 * f for k in range(1, 48) for f in inexact]
    return np.concatenate([to(halves, dtype), _beside(edges, dtype, signs=True), _beside(scaled, dtype, signs=True)])
