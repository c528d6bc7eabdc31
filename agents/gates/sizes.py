"""Sizes at which a proposal is tested: 0, 1, odd, equal, round, ends of the ranges, and constants of the texts."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kc.agents.facts import Fact
from kc.agents.facts.settle import settled
from kc.agents.gates.reading import Reading

Sizes = dict[str, int]

#: elements of all arguments, and product of all dimensions: of an ordinary call; of one of the longer ones, which are
#: made with several kinds of values; of one at the upper ends
Room = tuple[int, int]
ORDINARY: Room = (1 << 14, 1 << 18)
LONG: Room = (1 << 18, 1 << 20)
LARGE: Room = (1 << 24, 1 << 24)
#: sizes of longer calls, at most
_LONGER = 14
#: a dimension is tested up to this size (beyond 16-bit indices), if the contract leaves more open
_TESTED = 1 << 17
#: a dimension of so few sizes is tested at each of them
_EACH = 260
#: an index of 16 bits is too small for so many elements
INDEX = 1 << 16
#: sizes that comparisons single out, of which pairs are made
_SINGLED = 8
_NICE = (16, 32, 8, 64, 4, 2)
_ODD = (
    (7, 17, 5, 13, 3, 11),
    (17, 5, 33, 7, 19, 3),
    (5, 9, 13, 21, 7, 15),
    (33, 31, 3, 35, 1, 29),
    (19, 3, 7, 2, 37, 6),
)


class Shapes:
    """The symbolic dimensions of a region: which argument has which, and what the contract says of them.

    ``guard``: facts that hold where the proposal runs at all.
    """

    def __init__(self, original: Reading, guard: Sequence[Fact] = ()):
        self._facts = [fact for fact in (*original.contract.known, *guard) if fact.dims]
        self.arguments: list[tuple[str | int, ...]] = []
        self.ranges: dict[str, tuple[int, int]] = {}
        fixed: dict[str, int] = {}
        for number, kind in enumerate(original.arguments):
            names = original.contract.arguments[number].dims if number < len(original.contract.arguments) else ()
            dims: list[str | int] = []
            for axis, extent in enumerate(kind.shape):
                name = names[axis] if axis < len(names) else f"arg{number}.{axis}"
                if extent is not None:
                    fixed.setdefault(name, extent)
                    dims.append(extent)
                else:
                    low, high = original.contract.size_range(name)
                    self.ranges[name] = low, min(high, max(2 * low, _TESTED))
                    dims.append(name)
            self.arguments.append(tuple(dims))
        for name, extent in fixed.items():
            if name in self.ranges:
                self.ranges[name] = (extent, extent)
        self.results = len(original.results)
        self._room = [_distinct(original, fact.argument) for fact in original.contract.known if fact.form == "unique"]

    def shape(self, argument: int, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Shape of an argument at these sizes."""
        return tuple(d if isinstance(d, int) else sizes[d] for d in self.arguments[argument])

    def elements(self, sizes: Mapping[str, int]) -> int:
        """Elements of all arguments together."""
        total = 0
        for dims in self.arguments:
            count = 1
            for d in dims:
                count *= d if isinstance(d, int) else sizes[d]
            total += count
        return total

    def work(self, sizes: Mapping[str, int]) -> int:
        """Product of all symbolic dimensions: a guess at what a call costs."""
        total = 1
        for size in sizes.values():
            total *= max(1, size)
        return total

    def fit(self, wanted: Mapping[str, int], room: Room = ORDINARY) -> Sizes | None:
        """The sizes nearest to ``wanted`` that the contract allows; None when none are found or they cost too much."""
        sizes = {name: min(max(wanted[name], low), high) for name, (low, high) in self.ranges.items()}
        sizes = settled(sizes, self._facts, self.ranges)
        if not all(fact.holds(sizes) for fact in self._facts):
            return None
        if any(math.prod(self.shape(number, sizes)) > most for number, most in self._room):
            return None
        elements, work = room
        smallest = {name: low for name, (low, _) in self.ranges.items()}
        if self.elements(sizes) > max(elements, 4 * self.elements(smallest)):
            return None
        return sizes if self.work(sizes) <= max(work, 4 * self.work(smallest)) else None

    def longest(self, name: str, room: Room) -> Sizes | None:
        """Small sizes, but for one dimension, which is as large as there is room."""
        low, high = self.ranges[name]
        small = {n: min(max(bottom, 3), top) for n, (bottom, top) in self.ranges.items()}
        found = None
        while low <= high:
            middle = (low + high) // 2
            fitted = self.fit({**small, name: middle}, room)
            if fitted is None:
                high = middle - 1
            else:
                found, low = fitted, middle + 1
        return found


def _distinct(original: Reading, number: int) -> tuple[int, float]:
    """An argument whose elements all differ, and how many different ones it may have."""
    if number >= len(original.arguments):
        return 0, math.inf
    dtype, contract = original.arguments[number].dtype, original.contract
    told = contract.arguments[number].range if number < len(contract.arguments) else None
    if told is not None:
        return number, told[1] - told[0] + 1
    return number, 2.0 ** (8 * dtype.itemsize) if dtype.kind in "iu" else math.inf


def ordinary(shapes: Shapes, constants: Iterable[int], rng: random.Random, singled: Sequence[int] = ()) -> list[Sizes]:
    """Sizes for ordinary calls, the most telling first, each once.

    ``singled``: sizes that comparisons in the texts single out; they are tried in pairs too.
    """
    return _unique(shapes, _ordinary(shapes, [c for c in constants if c >= 2], singled, rng))


def every(shapes: Shapes, known: Sequence[Sizes]) -> list[Sizes]:
    """Each size of dimensions that have few, those in ``known`` left out."""
    names = list(shapes.ranges)
    most = _EACH if len(names) == 1 else 96 // max(1, len(names))
    wanted: list[Mapping[str, int]] = []
    for place, name in enumerate(names):
        low, high = shapes.ranges[name]
        for number, size in enumerate(range(low, min(high, low + most) + 1)):
            others = {n: _ODD[(number + k) % len(_ODD)][(place + k) % 6] for k, n in enumerate(names)}
            wanted.append({**others, name: size})
    have = [tuple(sorted(s.items())) for s in known]
    return [s for s in _unique(shapes, wanted) if tuple(sorted(s.items())) not in have]


def tops(shapes: Shapes, known: Sequence[Sizes]) -> list[Sizes]:
    """Of some sizes the one with most elements, and for each dimension the one with most where that is largest."""
    found = [max(known, key=shapes.elements)]
    for name in list(shapes.ranges)[:4]:
        most = max(s[name] for s in known)
        found.append(max((s for s in known if s[name] == most), key=shapes.elements))
    return [size for number, size in enumerate(found) if size not in found[:number]]


def apart(shapes: Shapes, singled: Sequence[int]) -> list[Sizes]:
    """Sizes that comparisons single out, in one dimension at a time."""
    wanted = [
        {**{n: _ODD[1][k % 6] for k, n in enumerate(shapes.ranges)}, name: size}
        for name, (low, high) in list(shapes.ranges.items())[:3]
        for size in singled[:_SINGLED]
        if low <= size <= high
    ]
    return _unique(shapes, wanted)[: 2 * _SINGLED]


def longer(shapes: Shapes, constants: Iterable[int]) -> list[Sizes]:
    """Sizes beyond the ordinary ones: the largest, and those beyond constants, with every sort of remainder."""
    constants = [c for c in constants if c >= 2]
    wanted: list[Mapping[str, int]] = []
    beyond: list[Mapping[str, int]] = []
    for name in shapes.ranges:
        usual, end = shapes.longest(name, ORDINARY), shapes.longest(name, LONG)
        if end is None or (usual is not None and usual[name] >= end[name]):
            continue
        wanted += [{**end, name: end[name] - below} for below in (0, 5, 2)]
        least = usual[name] if usual is not None else 0
        for constant in [c for c in constants if least <= c < end[name]][:4]:
            beyond += [{**end, name: constant + above} for above in (1, 12, 7, 0, 30)]
    return _unique(shapes, [*wanted, *beyond], LONG)[:_LONGER]


def large(shapes: Shapes, constants: Iterable[int]) -> list[Sizes]:
    """A few sizes at the upper ends of the ranges: beyond 16 bits of elements where the ranges reach so far."""
    return _unique(shapes, _large(shapes, [c for c in constants if c >= 2]), LARGE)


def _unique(shapes: Shapes, wanted: Iterable[Mapping[str, int]], room: Room = ORDINARY) -> list[Sizes]:
    found: dict[tuple[tuple[str, int], ...], Sizes] = {}
    for sizes in wanted:
        fitted = shapes.fit(sizes, room)
        if fitted is not None:
            found.setdefault(tuple(sorted(fitted.items())), fitted)
    return list(found.values())


def _ordinary(
    shapes: Shapes, constants: list[int], singled: Sequence[int], rng: random.Random
) -> Iterator[Mapping[str, int]]:
    names = list(shapes.ranges)
    if not names:
        yield {}
        return
    ranges = shapes.ranges

    def odd(row: int) -> Sizes:
        return {name: _ODD[row % len(_ODD)][k % 6] for k, name in enumerate(names)}

    yield dict.fromkeys(names, 16)
    yield odd(0)
    yield dict.fromkeys(names, 0)
    yield dict.fromkeys(names, 1)
    yield dict.fromkeys(names, 7)
    for name in names:
        yield {**odd(1), name: 0}
        yield {**odd(1), name: 1}
    for row in range(1, len(_ODD)):
        yield odd(row)
    for size in (2, 3, 8, 32, 33):
        yield dict.fromkeys(names, size)
    for name in names:
        low, high = ranges[name]
        for size in (high, high - 1, low, low + 1, low + 2, (low + high) // 2):
            yield {**odd(2), name: size}
            yield {**dict.fromkeys(names, 1), name: size}
        end = shapes.longest(name, ORDINARY)
        if end is not None and end[name] < high:
            yield from ({**end, name: end[name] - below} for below in (0, 1, 5))
    for end_number in (1, 0):
        yield {name: ranges[name][end_number] for name in names}
    for first, second in itertools.combinations(names[:3], 2):
        for one, other in itertools.product(singled[: _SINGLED - 2], repeat=2):
            if _inside(one, ranges[first]) and _inside(other, ranges[second]):
                yield {**odd(1), first: one, second: other}
    for below in range(1, 8):  # every remainder of small powers of two, near the top
        yield {name: ranges[name][1] - below for name in names}
        for name in names if len(names) > 1 else ():
            yield {n: ranges[n][1] - below * (n == name) for n in names}
    for constant in constants[:48]:
        for name in names:
            low, high = ranges[name]
            for size in (constant, constant - 1, constant + 1, 2 * constant + 1, 2 * constant):
                if low <= size <= high:
                    yield {**odd(rng.randrange(len(_ODD))), name: size}
        if len(names) > 1:
            yield dict.fromkeys(names, constant)
            yield from _products(names, ranges, constant)
    for _ in range(8):
        yield {name: rng.randint(low, min(high, max(low, 40))) for name, (low, high) in ranges.items()}


def _products(names: Sequence[str], ranges: Mapping[str, tuple[int, int]], constant: int) -> Iterator[Sizes]:
    """Sizes whose product, or sum, is a constant of the text."""
    first, second = names[0], names[1]
    others = dict.fromkeys(names, 3)
    root = round(constant**0.5)
    for one in (root, root + 1):  # just beyond the constant
        yield {**others, first: one, second: constant // max(1, one) + 1}
    for one in range(2, min(constant, 65)):
        other, rest = divmod(constant, one)
        if rest == 0 and _inside(one, ranges[first]) and _inside(other, ranges[second]):
            yield {**others, first: one, second: other}
            break
    if constant < 256:
        yield {**others, first: constant // 2, second: constant - constant // 2}


def _inside(size: int, bounds: tuple[int, int]) -> bool:
    return bounds[0] <= size <= bounds[1]


def _large(shapes: Shapes, constants: list[int]) -> Iterator[Mapping[str, int]]:
    names = list(shapes.ranges)
    ranges = shapes.ranges
    if not names:
        return
    top = {name: ranges[name][1] for name in names}
    if shapes.fit(top, LARGE):
        yield top
    small = {name: min(max(ranges[name][0], 3), ranges[name][1]) for name in names}
    for name in names:
        yield {**small, name: top[name]}
        yield {**dict.fromkeys(names, 1), name: top[name]}
    for first in names:  # two dimensions whose product does not fit in 16 bits, where one of them cannot do it
        for second in names:
            if first < second and top[first] * top[second] > INDEX:
                one = min(top[first], max(260, INDEX // top[second] + 1))
                yield {**small, first: one, second: min(top[second], INDEX // one + 1)}
    for constant in constants[:48]:
        if constant > 128:
            for name in names:
                if constant < top[name]:
                    for size in (constant, constant + 1, constant - 1):
                        yield {**dict.fromkeys(names, 1), name: size}
