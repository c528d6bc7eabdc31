"""Inputs of the differential test: calls drawn from the region's contract, each with a reason for being drawn."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kc.agents.contract import ArgumentContract
from kc.agents.execution.calls import Call
from kc.agents.facts import Fact, parse_fact
from kc.agents.gates import structured, telling
from kc.agents.gates.obeying import obeying
from kc.agents.gates.policy import Policy
from kc.agents.gates.reading import Reading
from kc.agents.gates.sizes import Shapes, Sizes
from kc.agents.gates.values import BOOLEAN_MANNERS, Array, Floats, Integers, booleans, is_float, limits, to

#: manners of integers that say what booleans are too
_ALL_ALIKE = {"top": "true", "near_top": "true", "bottom": "false", "zeros": "false", "last_high": "last"}

#: under low_precision: the largest magnitude of whole arrays, whose products f16 still holds
NARROW_MOST = 250.0


@dataclasses.dataclass(frozen=True)
class Planned:
    """A call and why it is made; ``huge``: it holds values whose squares overflow."""

    call: Call
    sizes: Sizes
    why: str
    huge: bool = False


class Drawer:
    """Draws arguments for a region. ``constants``: integers and floats of the proposal too."""

    def __init__(
        self,
        original: Reading,
        policy: Policy,
        integers: Sequence[int],
        floats: Sequence[float],
        seed: int,
        guard: Sequence[str] = (),
        traits: frozenset[str] = frozenset(),
        divisors: Sequence[int] = (),
    ):
        self._original, self.policy = original, policy
        self.shapes = Shapes(original, [parse_fact(part) for part in guard])
        self.traits, self._divisors = traits, tuple(dict.fromkeys(divisors))
        self._integers = list(dict.fromkeys(integers))
        floats = [*floats, *(float(n) for n in self._integers[:24] if abs(n) < 1 << 53)]
        floats += [pattern for kind in original.arguments for pattern in _patterns(self._integers, kind.dtype)]
        self._floats = list(dict.fromkeys(floats))
        self._makers: dict[tuple[bool, bool], Floats] = {}
        self.rng = np.random.default_rng(seed)
        self.random = random.Random(seed)
        self._facts: dict[int, list[Fact]] = {}
        for fact in original.contract.known:
            if fact.argument >= 0:
                self._facts.setdefault(fact.argument, []).append(fact)

    def constants(self, number: int, most: int) -> Sequence[float]:
        """The first few constants of the texts that an argument can hold, those that are compared first."""
        dtype, contract = self._original.arguments[number].dtype, self.contract(number)
        if is_float(dtype):
            return [c for c in self._floats if self.policy.legal(c) is not None and abs(c) < limits(dtype)[0]][:most]
        if dtype == np.bool_ or dtype.kind not in "iu":
            return []
        low, high = contract.range or integer_limits(dtype)
        return [c for c in self._integers if low <= c <= high][:most]

    def bound(self, number: int) -> bool:
        """Whether the elements of an argument depend on each other, by a fact such as ``unique``."""
        return any(fact.form in ("unique", "sorted") for fact in self._facts.get(number, ()))

    def plainest(self, number: int) -> float:
        """0, or the number next to it that the contract allows."""
        contract = self.contract(number)
        low, high = contract.range or (0, 0)
        forms = {fact.form for fact in self._facts.get(number, ())}
        return max(low, min(0, high)) if low > 0 or high < 0 else float("positive" in forms)

    def swept(self, number: int) -> Array | None:
        """Every value of an argument of a small type or range, shuffled; None when there are too many."""
        kind, contract = self._original.arguments[number], self.contract(number)
        dtype, forms = kind.dtype, {fact.form for fact in self._facts.get(number, ())}
        if contract.out or dtype == np.bool_ or forms or (kind.form == "scalar" and kind.element == "index"):
            return None
        if is_float(dtype):
            if dtype.itemsize > 2:
                return None
            values = np.arange(1 << 8 * dtype.itemsize, dtype=f"u{dtype.itemsize}").view(dtype)
            with np.errstate(all="ignore"):
                legal = (self.policy.nan | ~np.isnan(values)) & (self.policy.inf | ~np.isinf(values))
            values = values[legal]
        elif dtype.kind in "iu":
            low, high = contract.range or integer_limits(dtype)
            if high - low >= 1 << 16:
                return None
            values = to(np.arange(low, high + 1), dtype)
        else:
            return None
        return self.rng.permutation(values)

    def fills(self, number: int) -> bool:
        """Whether an argument takes numbers that are free of each other and of the sizes."""
        kind, contract = self._original.arguments[number], self.contract(number)
        extent = kind.form == "scalar" and kind.element == "index" and contract.dims
        return (is_float(kind.dtype) or kind.dtype.kind in "iu") and not (contract.out or extent or self.bound(number))

    def telling(self, number: int) -> Array:
        """Values of an argument that decide about what the ops of the texts do (``telling``), in a fixed order."""
        dtype = self._original.arguments[number].dtype
        if not is_float(dtype):
            low, high = self._range(number, dtype)
            kinds = [(k, kind.dtype) for k, kind in enumerate(self._original.arguments) if self.fills(k)]
            common = min(self._range(k, other)[1] for k, other in kinds if not is_float(other))
            return to(telling.integers(low, high, self.traits, self._divisors, common), dtype)
        return self._kept(number, telling.floats(dtype, self.traits, self._floats))

    def nans(self, number: int) -> Array:
        """NaN of other bits than the usual one, where the texts look at bits."""
        dtype = self._original.arguments[number].dtype
        if "bits" not in self.traits or not is_float(dtype):
            return np.zeros(0, dtype)
        found = telling.nans(dtype)
        return self._kept(number, found[[0, 6, 4]] if found.size > 6 else found[:1])

    def within(self, number: int, values: Array) -> Array | None:
        """``values`` in an argument's type: integers brought into its range; None where a float is not allowed."""
        dtype = self._original.arguments[number].dtype
        if not is_float(dtype):
            return to(np.clip(values, *self._range(number, dtype)), dtype)
        made = to(values, dtype)
        return made if self._kept(number, made.reshape(-1)).size == made.size else None

    def joined(self, number: int) -> Array:
        """Values that an operation or two lead to the constants of the texts (``structured``)."""
        dtype = self._original.arguments[number].dtype
        if is_float(dtype):
            return self._kept(number, to(structured.joined(self._floats, bits=False), dtype))
        low, high = self._range(number, dtype)
        found = structured.joined(self._integers, bits=True)
        return to([n for n in found if low <= n <= high], dtype)

    def allows(self, number: int, value: int) -> bool:
        """Whether a small integer may stand in an argument."""
        dtype = self._original.arguments[number].dtype
        if is_float(dtype):
            return bool(self._kept(number, to([value], dtype)).size)
        low, high = self._range(number, dtype)
        return low <= value <= high

    def quotients(self, one: int, other: int) -> tuple[Array, Array] | None:
        """Pairs of dividends and divisors for two integer arguments, where integers are divided."""
        types = [self._original.arguments[k].dtype for k in (one, other)]
        if "divide" not in self.traits or any(is_float(dtype) for dtype in types):
            return None
        ranges = [self._range(k, dtype) for k, dtype in zip((one, other), types, strict=True)]
        pairs = telling.quotients(max(low for low, _ in ranges), min(high for _, high in ranges))
        first, second = ([pair[k] for pair in pairs] for k in (0, 1))
        return to(first, types[0]), to(second, types[1])

    def float_tuples(self, numbers: Sequence[int]) -> list[tuple[Array, ...]]:
        """Operands of ops of as many operands, one column for each of these float arguments of one type."""
        types = {self._original.arguments[k].dtype for k in numbers}
        if len(types) != 1 or not is_float(dtype := types.pop()):
            return []
        found = []
        for rows in telling.float_tuples(dtype, self.traits):
            if rows.shape[1] == len(numbers):
                columns = tuple(np.ascontiguousarray(rows[:, k]) for k in range(len(numbers)))
                if all(self._kept(k, column).size == column.size for k, column in zip(numbers, columns, strict=True)):
                    found.append(columns)
        return found

    def beyond(self, number: int) -> list[tuple[float, float]]:
        """Ranges that lie wholly below, or above, a constant of the texts or all usual values: for whole arrays."""
        most = NARROW_MOST if self.policy.narrow else 300.0
        found: list[tuple[float, float]] = [(-most, -60.0), (60.0, most)]
        constants = [c for c in self._floats[:8] if c != 0 and abs(c) < 1e15 and not self.policy.narrow]
        for c in constants:
            width = max(1.0, abs(c))
            found += [(c - width, c - width / 16), (c + width / 16, c + width)]
        dtype = self._original.arguments[number].dtype
        return [pair for pair in found if self._kept(number, to(pair, dtype)).size == 2]

    def _kept(self, number: int, values: Array) -> Array:
        """Those of some floats that the contract lets occur, and that do not overflow where rounding is free."""
        dtype, forms = values.dtype, {fact.form for fact in self._facts.get(number, ())}
        with np.errstate(invalid="ignore"):  # of NaN that signals
            wide = values.astype(np.float64)
        legal = np.array([self.policy.legal(float(x)) is not None for x in wide], bool)
        if "finite" in forms:
            legal &= np.isfinite(wide)
        if "positive" in forms or "nonnegative" in forms:
            legal &= (wide > 0) | ("nonnegative" in forms) & (wide == 0) & ~np.signbit(wide)
        if self.policy.narrow:
            legal &= ~np.isfinite(wide) | (np.abs(wide) <= NARROW_MOST)
        elif not self.policy.exact:
            legal &= ~np.isfinite(wide) | (np.abs(wide) <= max(300.0, 2 ** (math.log2(limits(dtype)[0]) / 2 - 4)))
        return values[legal]

    def _range(self, number: int, dtype: np.dtype[Any]) -> tuple[int, int]:
        """Lowest and highest value of an integer argument."""
        low, high = integer_limits(dtype)
        given = self.contract(number).range
        if given is not None:
            low, high = max(low, given[0]), min(high, given[1])
        forms = {fact.form for fact in self._facts.get(number, ())}
        if "positive" in forms or "nonnegative" in forms:
            low = max(low, 1 if "positive" in forms else 0)
        return low, high

    @property
    def has_floats(self) -> bool:
        """Whether any argument holds floats."""
        return any(is_float(kind.dtype) or kind.dtype.kind == "c" for kind in self._original.arguments)

    def arguments(
        self,
        sizes: Mapping[str, int],
        manner: str,
        *,
        only: int | None = None,
        huge: bool = False,
        integers: str | None = None,
    ) -> tuple[Array, ...]:
        """An array per argument.

        Floats in ``manner`` (those of argument ``only``, the others normal), integers and booleans in a manner drawn
        (``integers`` for all of them, if given); ``huge``: values whose squares overflow may occur.
        """
        made = []
        for number in range(len(self._original.arguments)):
            chosen = manner if only is None or number == only else "normal"
            made.append(self._argument(number, sizes, chosen, huge, integers))
        return tuple(made)

    def _argument(self, number: int, sizes: Mapping[str, int], manner: str, huge: bool, integers: str | None) -> Array:
        kind = self._original.arguments[number]
        shape, dtype = self.shapes.shape(number, sizes), kind.dtype
        contract = self.contract(number)
        if contract.out:
            return np.zeros(shape, dtype)
        if kind.form == "scalar" and kind.element == "index" and contract.dims:  # the extent of that name
            name = contract.dims[0]
            return to(int(name) if name.isdigit() else sizes.get(name, 0), dtype)
        if dtype == np.bool_:
            drawn = str(self.rng.choice(BOOLEAN_MANNERS, p=[0.4, 0.3, 0.1, 0.1, 0.1]))
            return booleans(_ALL_ALIKE.get(integers or "", drawn), shape, self.rng)
        if dtype.kind == "c":
            real, imaginary = (
                self._float(number, shape, np.dtype(f"f{dtype.itemsize // 2}"), manner, huge) for _ in "12"
            )
            with np.errstate(all="ignore"):
                return to(real.astype(np.complex128) + 1j * imaginary, dtype)
        if is_float(dtype):
            return self._float(number, shape, dtype, manner, huge)
        return self._integer(number, shape, dtype, sizes, integers)

    def obeying(self, planned: Planned) -> Planned:
        """The call with its arguments brought under the facts on their values, whatever drew them."""
        if not self._facts:
            return planned
        arrays = list(planned.call.arguments)
        for number in self._facts:
            if number >= len(arrays) or self.contract(number).out:
                continue
            together = [number, *(k for k in range(len(arrays)) if k != number and arrays[k] is arrays[number])]
            forms = {fact.form for k in together for fact in self._facts.get(k, ())}
            spans = [self._range(k, arrays[k].dtype) for k in together if arrays[k].dtype.kind in "iu"] or [(0, 0)]
            low, high = max(span[0] for span in spans), min(span[1] for span in spans)
            changed = obeying(arrays[number], forms, low, high, self.rng)
            for k in together:
                arrays[k] = changed
        return dataclasses.replace(planned, call=dataclasses.replace(planned.call, arguments=tuple(arrays)))

    def contract(self, number: int) -> ArgumentContract:
        arguments = self._original.contract.arguments
        return arguments[number] if number < len(arguments) else ArgumentContract()

    def _float(self, number: int, shape: tuple[int, ...], dtype: np.dtype[Any], manner: str, huge: bool) -> Array:
        forms = {fact.form for fact in self._facts.get(number, ())}
        finite = "finite" in forms
        values = self._maker(finite, huge or self.policy.exact).fill(manner, shape, dtype, self.rng)
        if forms & {"positive", "nonnegative"}:
            values = np.abs(values)
            if "positive" in forms:
                values = np.where(values == 0, to(1.0, dtype), values)
        return np.sort(values, axis=-1) if "sorted" in forms and values.ndim else values

    def _maker(self, finite: bool, huge: bool) -> Floats:
        if (finite, huge) not in self._makers:
            self._makers[finite, huge] = Floats(
                self._floats,
                nan=self.policy.nan and not finite,
                inf=self.policy.inf and not finite,
                huge=huge,
                narrow=self.policy.narrow,
            )
        return self._makers[finite, huge]

    def _integer(
        self,
        number: int,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        sizes: Mapping[str, int],
        manner: str | None,
    ) -> Array:
        low, high = self._range(number, dtype)
        forms = {fact.form for fact in self._facts.get(number, ())}
        extents = {extent for kind in self._original.arguments for extent in kind.shape if extent is not None}
        maker = Integers(dtype, low, high, [*self._integers[:96], *sizes.values(), *sorted(extents)])
        if manner is None:
            chances = {
                "small": 3,
                "extremes": 4,
                "constants": 4,
                "uniform": 2,
                "ties": 2,
                "near_top": 1,
                "near_bottom": 1,
            }
            names = list(chances)
            weights = np.array(list(chances.values()), float)
            manner = str(self.rng.choice(names, p=weights / weights.sum()))
        if "unique" in forms:
            return self._unique(shape, dtype, low, high)
        values = maker.fill(manner, shape, self.rng)
        return np.sort(values, axis=-1) if "sorted" in forms and values.ndim else values

    def _unique(self, shape: tuple[int, ...], dtype: np.dtype[Any], low: int, high: int) -> Array:
        """Distinct integers."""
        count = int(np.prod(shape))
        high = min(high, low + max(4 * count, 1 << 16))
        if high - low + 1 < count:
            raise ValueError(f"{count} distinct integers from {low} to {high}: the contract cannot be met")
        pool: set[int] = set()
        while len(pool) < count:
            pool.update(int(x) for x in self.rng.integers(low, high, count, endpoint=True))
        values = list(pool)[:count]
        self.random.shuffle(values)
        return to(values, dtype, shape)


def _patterns(integers: Sequence[int], dtype: np.dtype[Any]) -> list[float]:
    """The floats whose bits are these integers: code may tell a value by its bits."""
    if not is_float(dtype) or dtype.itemsize > 8:
        return []
    width = 8 * dtype.itemsize
    bits = [n for n in integers if 256 < abs(n) < 1 << width]
    with np.errstate(all="ignore"):
        values = np.array([n % (1 << width) for n in bits], f"u{dtype.itemsize}").view(dtype).astype(np.float64)
    return [float(x) for x in values if x == x]


def integer_limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Lowest and highest value of an integer type, the small ones of ml_dtypes too."""
    import ml_dtypes

    info = np.iinfo(dtype) if dtype.kind in "iu" else ml_dtypes.iinfo(dtype)
    return int(info.min), int(info.max)
