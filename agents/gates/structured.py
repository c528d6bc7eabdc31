"""Whole arrays that conditions on data ask for: a shortcut for such an array is wrong where another value is special.

Code tells by a look at its data that they are all zero, all alike, sorted, an identity matrix, symmetric; the look may
be too short, or the shortcut wrong for NaN in what is left out. Each function gives its arrays in a fixed order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from kc.agents.gates.values import Array

#: constants of which whole arrays are made, and those that are put together
_WHOLE, _JOINED = 8, 6


def plain(shape: tuple[int, ...]) -> Iterator[tuple[str, Array]]:
    """Arrays that make an argument do nothing, beside which the others may be special: zeros, ones, identities."""
    yield "zeros", np.zeros(shape)
    yield "ones", np.ones(shape)
    if len(shape) > 1:
        yield "identity matrices", np.broadcast_to(np.eye(shape[-2], shape[-1]), shape)


def orders(shape: tuple[int, ...]) -> Iterator[tuple[str, Array]]:
    """Sorted arrays, and such as are sorted or symmetric nearly everywhere."""
    if not shape or math.prod(shape) < 2:
        return
    ascending = np.arange(math.prod(shape), dtype=np.float64).reshape(shape) + 1
    yield "ascending values", ascending
    yield "descending values", ascending[..., ::-1]
    for place, value in ((-1, 0), (0, ascending.size + 1)):
        nearly = ascending.copy()
        nearly.reshape(-1)[place] = value
        yield "values in order but for one end", nearly
    if len(shape) > 1 and min(shape[-2:]) > 2:
        bordered = ascending.copy()
        bordered[..., 0, :] = bordered[..., :, 0] = 0
        yield "a first row and column of zeros", bordered
        for one, more in ((np.tril, "lower"), (np.triu, "upper")):
            yield f"{more} triangles", one(ascending)
        if shape[-1] == shape[-2]:
            symmetric = ascending + np.swapaxes(ascending, -1, -2)
            yield "symmetric matrices", symmetric
            nearly = symmetric.copy()
            nearly[..., -1, -2] += 1
            yield "matrices symmetric but for one element", nearly


def whole(shape: tuple[int, ...], constants: Sequence[float]) -> Iterator[tuple[str, Array]]:
    """Arrays that hold one constant everywhere, or add up to it along the last axis or in all."""
    counts = {1, math.prod(shape), *shape[-1:]} - {0}
    for value in constants[:_WHOLE]:
        for count in sorted(counts):
            share = value / count
            if count == 1 or share * count == value:
                yield f"{share:g} everywhere", np.full(shape, value if count == 1 else share)


def joined(constants: Sequence[float], *, bits: bool) -> list[float]:
    """What a chain of one or two operations leads from to a constant: sums, differences, quotients, roots of them.

    ``bits``: of integers, by ``xor`` as well, and where they divide.
    """
    found: list[float] = []
    few = [c for c in constants if math.isfinite(c) and c not in (0, 1, -1)][:_JOINED]
    for target in few:
        root = math.isqrt(int(abs(target))) if bits else math.sqrt(abs(target))
        found += [root, -root, -target]
    for target, other in itertools.permutations(few, 2):
        found += [target - other, target + other]
        if bits:
            found.append(int(target) ^ int(other))
        found += _quotient(target, other, bits)
    for target, offset, factor in itertools.permutations(few, 3):
        found += _quotient(target - offset, factor, bits)
    return list(dict.fromkeys(found))


def _quotient(one: float, other: float, bits: bool) -> list[float]:
    if other == 0 or (bits and one % other != 0):
        return []
    return [int(one) // int(other) if bits else one / other]
