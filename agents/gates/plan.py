"""The calls of a differential test in the order in which they are made: what shows most mistakes comes first."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from kc.agents.execution.calls import Call
from kc.agents.gates import structured
from kc.agents.gates.inputs import Drawer, Planned
from kc.agents.gates.reading import Reading
from kc.agents.gates.sizes import Sizes, apart, every, large, longer, ordinary, tops
from kc.agents.gates.values import INTEGER_MANNERS, MANNERS, Array, is_float, to

_T = TypeVar("_T")

#: manners of floats that show most mistakes, in that order
_TELLING = (
    "rows",
    "some_nan",
    "equal",
    "zeros",
    "big",
    "negative",
    "ties",
    "one_row",
    "some_inf",
    "constants",
    "offset",
)
_FIRST_INTEGERS = ("extremes", "near_top", "constants", "ties")
_MIXED = ("normal", "scattered", "rows", "one_row")
#: manners in which chance has a say: drawn some more times
_REPEATED = (
    "lowest",
    "highest",
    "constants",
    "combined",
    "combined",
    "edges",
    "halves",
    "lowest",
    "highest",
    "zeros_and_negatives",
    "zeros_and_positives",
    "lowest",
    "highest",
)
#: manners at the largest sizes, the first ones at all of these
_TOP_INTEGERS = ("last_high", "top", "last_low", "bottom")
_TOP_FLOATS = ("last_high", "some_nan", "last_low", "negative", "positive", "some_inf", "equal")
_MORE_TOP_FLOATS = ("halves", "halves", "edges", "outlier", "outlier", "outlier", "outlier", "rows", "some_nan")
#: values of scalar floats (and of tiny arrays), each with ordinary and with special values elsewhere
_SCALARS = (0.0, 1.0, -0.0, -1.0, float("nan"), float("inf"), float("-inf"), 2.0, 0.5, 1e-40, 3.0)
_TINY = 4
#: constants of each of two arguments that are tried in pairs
_PAIRED = 6
#: most calls that sweep through all values of a small type
_SWEEPS = 96
#: most calls with values that the ops of the texts ask for, and the calls before which they are made
_TELLING_CALLS, _EARLY = 96, 40
#: most calls with whole arrays that conditions on data ask for
_STRUCTURED = 72
#: with rounding free, sums of several values near the largest overflow in one order and not in another: one value only
_HUGE = ("some_large", "single", "outlier", "some_large")


class Planner:
    """Makes the calls for one region and one proposal."""

    def __init__(self, drawer: Drawer, original: Reading, integers: Sequence[int], singled: Sequence[int] = ()):
        self._drawer, self._original, self._integers = drawer, original, integers
        self._step = 0
        self._singled = tuple(dict.fromkeys(singled))
        sizes = ordinary(drawer.shapes, integers, drawer.random, self._singled)
        self._sizes = sizes
        self._full = [s for s in sizes if all(s.values())][:24] or sizes
        self._floats = [k for k, kind in enumerate(original.arguments) if self._holds_floats(k)]
        self._has_integers = any(
            not self._holds_floats(k) and not drawer.contract(k).out for k in range(len(original.arguments))
        )

    def _holds_floats(self, number: int) -> bool:
        dtype = self._original.arguments[number].dtype
        return (is_float(dtype) or dtype.kind == "c") and not self._drawer.contract(number).out

    def plan(self, most: int) -> list[Planned]:
        """Ordinary calls, at most ``most`` beside sweeps; some again with buffers shared, where that is allowed."""
        if not self._sizes:
            return []
        found = list(itertools.islice(self._calls(), most))
        found[_EARLY:_EARLY] = itertools.islice(self._telling(), _TELLING_CALLS)
        found[_EARLY:_EARLY] = itertools.islice(self._structured(), _STRUCTURED)
        found += [*self._at_the_tops(), *self._longer(), *self._sweeps()]
        found += [shared for planned in found[::2] for shared in self._shared(planned)]
        return [self._drawer.obeying(planned) for planned in found]

    def large(self, most: int) -> list[Planned]:
        """Calls at the upper ends of the sizes."""
        sizes = large(self._drawer.shapes, self._integers)[:most]
        return [self._drawer.obeying(self._call(s, "normal", "upper ends of the sizes")) for s in sizes]

    def _call(self, sizes: Sizes, manner: str, why: str, **options: Any) -> Planned:
        self._step += 1
        arguments = self._drawer.arguments(sizes, manner, **options)
        return Planned(Call(arguments), sizes, why, bool(options.get("huge")))

    def _next(self) -> Sizes:
        return self._full[self._step % len(self._full)]

    def _calls(self) -> Iterator[Planned]:
        yield self._call(self._full[0], "normal", "normal values")
        yield self._call(self._full[min(1, len(self._full) - 1)], "normal", "normal values")
        yield self._call(self._full[0], "scattered", "special values")
        parts = [self._of_sizes(self._sizes), self._of_values()]
        if self._has_integers:
            parts.append(self._of_integers())
        parts += [self._of_scalars(), self._of_pairs()]
        yield from _in_turns(parts)
        for manner in (*_MIXED[1:], *_REPEATED):
            yield self._call(self._next(), manner, f"{manner} values")
        yield from self._of_sizes(every(self._drawer.shapes, self._sizes))

    def _of_sizes(self, sizes: Sequence[Sizes]) -> Iterator[Planned]:
        for number, size in enumerate(sizes):
            yield self._call(size, _MIXED[number % 4] if number % 2 else "normal", "sizes of the contract")

    def _of_values(self) -> Iterator[Planned]:
        if not self._floats:
            return
        manners = [*_TELLING, *(m for m in MANNERS if m not in _TELLING)]
        for manner in manners:
            yield self._call(self._next(), manner, f"{manner} values")
        if len(self._floats) > 1:
            for manner in manners[:-1]:
                for number in self._floats:
                    yield self._call(self._next(), manner, f"{manner} values in argument {number}", only=number)
        if self._drawer.policy.overflow:
            for manner in _HUGE:
                yield self._call(self._next(), manner, f"{manner} values up to the largest", huge=True)

    def _of_integers(self) -> Iterator[Planned]:
        for manner in (*_FIRST_INTEGERS, *INTEGER_MANNERS, "extremes", "constants", "uniform", "extremes"):
            yield self._call(self._next(), "normal", f"{manner} integers", integers=manner)

    def _of_scalars(self) -> Iterator[Planned]:
        """Each small float argument at each special value, with ordinary and with special values elsewhere."""
        for number in self._floats:
            sizes = self._next()
            shape = self._drawer.shapes.shape(number, sizes)
            if int(np.prod(shape)) > _TINY:
                continue
            for value, manner in itertools.product(_SCALARS, ("scattered", "normal", "rows")):
                sizes = self._next()
                planned = self._call(sizes, manner, f"{value} in argument {number}")
                legal = self._drawer.policy.legal(value)
                arrays = list(planned.call.arguments)
                if legal is None or not arrays[number].size:
                    continue
                flat = arrays[number].reshape(-1).copy()
                flat[int(self._drawer.rng.integers(flat.size)) if self._step % 2 else slice(None)] = to(
                    legal, flat.dtype
                )
                arrays[number] = flat.reshape(arrays[number].shape)
                yield dataclasses.replace(planned, call=Call(tuple(arrays)))

    def _of_pairs(self) -> Iterator[Planned]:
        """Each pair of constants of the texts at one place of two arguments of the same shape."""
        numbers = [k for k in range(len(self._original.arguments)) if not self._drawer.bound(k)]
        pools = {k: self._drawer.constants(k, _PAIRED) for k in numbers if not self._drawer.contract(k).out}
        for one, other in itertools.combinations([k for k, pool in pools.items() if pool], 2):
            pairs = list(itertools.product(pools[one], pools[other]))
            while pairs:
                planned = self._call(self._next(), "normal", f"pairs of constants in arguments {one} and {other}")
                arrays = list(planned.call.arguments)
                size = arrays[one].size
                if arrays[one].shape != arrays[other].shape or size == 0:
                    break
                taken, pairs = pairs[:size], pairs[size:]
                for number, values in zip((one, other), zip(*taken, strict=True), strict=True):
                    flat = arrays[number].reshape(-1).copy()
                    flat[: len(values)] = to(values, flat.dtype)
                    arrays[number] = flat.reshape(arrays[number].shape)
                yield dataclasses.replace(planned, call=Call(tuple(arrays)))

    def _at_the_tops(self) -> Iterator[Planned]:
        """The largest of the ordinary sizes: what adds up only there, and special values in a late place."""
        for sizes in apart(self._drawer.shapes, self._singled):
            yield from self._few(sizes, "at a size that is compared with", 3)
        for number, sizes in enumerate(tops(self._drawer.shapes, self._sizes)):
            if self._has_integers:
                for manner in ("zeros", *_TOP_INTEGERS, "constant", "constant"):
                    yield self._call(sizes, "normal", f"{manner} integers at the largest size", integers=manner)
            for manner in (*_TOP_FLOATS, *(_MORE_TOP_FLOATS if number == 0 else ())) if self._floats else ():
                yield self._call(sizes, manner, f"{manner} values at the largest size")

    def _longer(self) -> Iterator[Planned]:
        """Sizes beyond the ordinary ones: the values that are special there too."""
        for number, sizes in enumerate(longer(self._drawer.shapes, self._integers)):
            yield from self._few(sizes, "at a large size", 7 if number == 0 else 2)

    def _few(self, sizes: Sizes, where: str, most: int) -> Iterator[Planned]:
        """A few manners at some sizes, of floats and of integers."""
        for manner in _TOP_INTEGERS[:most] if self._has_integers else ():
            yield self._call(sizes, "normal", f"{manner} integers {where}", integers=manner)
        for manner in _TOP_FLOATS[:most] if self._floats else ():
            yield self._call(sizes, manner, f"{manner} values {where}")

    def _telling(self) -> Iterator[Planned]:
        """Values that decide about what the ops of the texts do (``Drawer.telling``), all of them for certain.

        All arguments take such values at once, alike and each one step further than the one before it (and after
        it); then each alone, with zeros and with ones elsewhere.
        """
        numbers = [k for k in range(len(self._original.arguments)) if self._drawer.fills(k)]
        pools = {k: pool for k in numbers if (pool := self._drawer.telling(k)).size}
        ways = [self._pooled(pools, dict.fromkeys(pools, 0), None)] if pools else []
        if len(pools) > 1:
            ways.append(self._pooled(pools, {k: n for n, k in enumerate(pools)}, None))
            ways.append(self._pooled(pools, {k: -n % pools[k].size for n, k in enumerate(pools)}, None))
        for one, other in itertools.permutations(list(pools)[:4], 2):
            pairs = self._drawer.quotients(one, other)
            if pairs is not None and pairs[0].size:
                ways.append(self._pooled(dict(zip((one, other), pairs, strict=True)), {}, None))
        floats = [k for k in self._floats if k in numbers][:3]
        for group in (*itertools.permutations(floats, 2), *itertools.permutations(floats, 3)):
            for columns in self._drawer.float_tuples(group):
                ways.append(self._pooled(dict(zip(group, columns, strict=True)), {}, None))
        if len(numbers) > 1:
            for k, rest in itertools.product(list(pools)[:4], (0, 1)):
                ways.append(self._pooled({k: pools[k]}, {}, {n: rest for n in numbers if n != k}))
        ways += [self._beyond(), self._signed_nans()]
        yield from _in_turns(ways)

    def _structured(self) -> Iterator[Planned]:
        """Whole arrays that conditions on data ask for, in one argument each: where the texts compare values."""
        if "compare" not in self._drawer.traits:
            return
        numbers = [k for k in range(len(self._original.arguments)) if self._drawer.fills(k)]
        pools = {k: pool for k in numbers if (pool := self._drawer.joined(k)).size}
        ways = [self._pooled(pools, dict.fromkeys(pools, 0), None)] if pools else []
        yield from _in_turns([*ways, *(self._whole(k) for k in numbers[:4])])

    def _whole(self, number: int) -> Iterator[Planned]:
        """One argument holds arrays of ``structured``; the others are special where it does nothing itself."""
        top = max(self._sizes, key=self._drawer.shapes.elements)
        shape = self._drawer.shapes.shape(number, top)
        parts = [
            itertools.product(structured.plain(shape), ("scattered", "rows")),
            itertools.product(structured.whole(shape, self._drawer.constants(number, 8)), ("normal",)),
            itertools.product(structured.orders(shape), ("normal",)),
        ]
        for (what, values), manner in _in_turns(parts):
            made = self._drawer.within(number, values)
            if made is not None:
                arrays = list(self._drawer.arguments(top, manner))
                arrays[number] = made
                yield Planned(Call(tuple(arrays)), top, f"{what} in argument {number}, {manner} values elsewhere")

    def _signed_nans(self) -> Iterator[Planned]:
        """NaN with a sign and signalling ones, alone: beside an ordinary one nobody sees what becomes of them."""
        for number in [k for k in self._floats if self._drawer.fills(k)][:3]:
            for value in self._drawer.nans(number):
                for everywhere in (False, True):
                    planned = self._call(self._next(), "normal", f"one sort of NaN in argument {number}")
                    arrays = list(planned.call.arguments)
                    flat = arrays[number].reshape(-1).copy()
                    place = slice(None) if everywhere else slice(flat.size // 2, flat.size // 2 + 1)
                    flat[place] = value
                    arrays[number] = flat.reshape(arrays[number].shape)
                    yield dataclasses.replace(planned, call=Call(tuple(arrays)))

    def _pooled(
        self, pools: dict[int, Array], shifts: dict[int, int], rest: dict[int, int] | None
    ) -> Iterator[Planned]:
        """Calls of the largest ordinary size that hold each value of ``pools`` once; ``rest``: one value elsewhere."""
        top = max(self._sizes, key=self._drawer.shapes.elements)
        extents = {k: int(np.prod(self._drawer.shapes.shape(k, top))) for k in pools}
        calls = max((-(-pool.size // extents[k]) for k, pool in pools.items() if extents[k]), default=0)
        for part in range(calls):
            arrays = list(self._drawer.arguments(top, "normal"))
            for number, pool in pools.items():
                start = part * extents[number] + shifts.get(number, 0)
                taken = np.take(pool, range(start, start + extents[number]), mode="wrap")
                arrays[number] = taken.reshape(arrays[number].shape)
            for number, value in (rest or {}).items():
                if self._drawer.allows(number, value):
                    arrays[number] = np.full_like(arrays[number], value)
            yield Planned(Call(tuple(arrays)), top, "values that the ops ask for", not self._drawer.policy.exact)

    def _beyond(self) -> Iterator[Planned]:
        """Whole arrays below and above each of the constants that are compared, and of the usual values."""
        for number in self._floats[:4]:
            if not self._drawer.fills(number):
                continue
            for low, high in self._drawer.beyond(number):
                planned = self._call(self._next(), "normal", f"values from {low:g} to {high:g} in argument {number}")
                arrays = list(planned.call.arguments)
                here = arrays[number]
                arrays[number] = to(self._drawer.rng.uniform(low, high, here.shape), here.dtype)
                yield dataclasses.replace(planned, call=Call(tuple(arrays)))

    def _sweeps(self) -> list[Planned]:
        """All values of arguments whose type or range is small, spread over calls of the largest ordinary size."""
        found: list[Planned] = []
        shapes = self._drawer.shapes
        top = max(self._sizes, key=shapes.elements)
        pools = {}
        for number in range(len(self._original.arguments)):
            pool = self._drawer.swept(number)
            if pool is not None and pool.size and int(np.prod(shapes.shape(number, top))):
                pools[number] = pool
        calls = max((-(-pool.size // int(np.prod(shapes.shape(k, top)))) for k, pool in pools.items()), default=0)
        for part in range(min(calls, _SWEEPS)):
            arrays = list(self._drawer.arguments(top, "normal"))
            for number, pool in pools.items():
                size = arrays[number].size
                taken = np.take(pool, range(part * size, (part + 1) * size), mode="wrap")
                arrays[number] = taken.reshape(arrays[number].shape)
            found.append(Planned(Call(tuple(arrays)), top, "all values of a small type", not self._drawer.policy.exact))
        return found

    def _shared(self, planned: Planned) -> list[Planned]:
        """The same call with each pair of arguments that may share a buffer doing so."""
        found = []
        for number, argument in enumerate(self._original.contract.arguments):
            other = argument.may_alias
            arrays = list(planned.call.arguments)
            if other is None or arrays[number].shape != arrays[other].shape:
                continue
            first, second = sorted((number, other))
            arrays[first] = arrays[second] = arrays[other if argument.out else number]
            call = dataclasses.replace(planned.call, arguments=tuple(arrays), aliases=((second, first),))
            why = f"{planned.why}, arguments {first} and {second} in one buffer"
            found.append(dataclasses.replace(planned, call=call, why=why))
        return found


def _in_turns(parts: Sequence[Iterator[_T]]) -> Iterator[_T]:
    """One of each in turn until all are at their end."""
    left = list(parts)
    while left:
        for part in list(left):
            planned = next(part, None)
            if planned is None:
                left.remove(part)
            else:
                yield planned
