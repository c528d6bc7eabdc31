"""Inputs of the differential test: calls drawn from the region's contract, each with a reason for being drawn."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kc.agents.contract import ArgumentContract
from kc.agents.execution.calls import Call
from kc.agents.facts import Fact, parse_fact
from kc.agents.gates.policy import Policy
from kc.agents.gates.reading import Reading
from kc.agents.gates.sizes import Shapes, Sizes, large, ordinary
from kc.agents.gates.values import BOOLEAN_MANNERS, INTEGER_MANNERS, Array, Floats, Integers, booleans, is_float, to

#: manners of floats in order of what they tell; each is drawn at least once where time allows
_THEMES = (
    "normal",
    "scattered",
    "rows",
    "one_row",
    "some_nan",
    "some_inf",
    "equal",
    "zeros",
    "big",
    "negative",
    "ties",
    "offset",
    "tiny",
    "constants",
    "some_big",
    "inf_then_nan",
    "zero_signs",
    "negative_infs",
    "infs",
    "halves",
    "edges",
    "beyond",
    "denormal",
    "nan_then_inf",
    "opposite_infs",
    "first_nan",
    "last_nan",
    "all_constant",
    "one_constant",
    "some_large",
    "constant",
    "some_negative_inf",
    "negative_zeros",
    "nans",
    "pair",
    "unit",
    "wide",
    "single",
    "positive",
)
#: values of scalar floats (and of tiny arrays), each with ordinary and with special values elsewhere
_SCALARS = (0.0, 1.0, -0.0, -1.0, float("nan"), float("inf"), float("-inf"), 2.0, 0.5, 1e-40, 3.0)
_TINY = 4
_ROWS = ("scattered", "rows", "one_row")


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
    ):
        self._original, self._policy = original, policy
        self.shapes = Shapes(original, [parse_fact(part) for part in guard])
        self._integers = list(dict.fromkeys(integers))
        floats = [*floats, *(float(n) for n in self._integers[:24] if abs(n) < 1 << 53)]
        self._floats = list(dict.fromkeys(floats))
        self.rng = np.random.default_rng(seed)
        self.random = random.Random(seed)
        self._facts: dict[int, list[Fact]] = {}
        for fact in original.contract.known:
            if fact.argument >= 0:
                self._facts.setdefault(fact.argument, []).append(fact)

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
        contract = self._contract(number)
        if contract.out:
            return np.zeros(shape, dtype)
        if dtype == np.bool_:
            return booleans(str(self.rng.choice(BOOLEAN_MANNERS, p=[0.4, 0.3, 0.1, 0.1, 0.1])), shape, self.rng)
        if dtype.kind == "c":
            real, imaginary = (
                self._float(number, shape, np.dtype(f"f{dtype.itemsize // 2}"), manner, huge) for _ in "12"
            )
            with np.errstate(all="ignore"):
                return to(real.astype(np.complex128) + 1j * imaginary, dtype)
        if is_float(dtype):
            return self._float(number, shape, dtype, manner, huge)
        return self._integer(number, shape, dtype, contract, sizes, integers)

    def _contract(self, number: int) -> ArgumentContract:
        arguments = self._original.contract.arguments
        return arguments[number] if number < len(arguments) else ArgumentContract()

    def _float(self, number: int, shape: tuple[int, ...], dtype: np.dtype[Any], manner: str, huge: bool) -> Array:
        forms = {fact.form for fact in self._facts.get(number, ())}
        finite = "finite" in forms
        allowed = Floats(
            self._floats,
            nan=self._policy.nan and not finite,
            inf=self._policy.inf and not finite,
            huge=huge or self._policy.exact,
            narrow=self._policy.narrow,
        )
        values = allowed.fill(manner, shape, dtype, self.rng)
        if forms & {"positive", "nonnegative"}:
            values = np.abs(values)
            if "positive" in forms:
                values = np.where(values == 0, to(1.0, dtype), values)
        return np.sort(values, axis=-1) if "sorted" in forms and values.ndim else values

    def _integer(
        self,
        number: int,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        contract: ArgumentContract,
        sizes: Mapping[str, int],
        manner: str | None,
    ) -> Array:
        low, high = integer_limits(dtype)
        if contract.range is not None:
            low, high = max(low, contract.range[0]), min(high, contract.range[1])
        forms = {fact.form for fact in self._facts.get(number, ())}
        if "positive" in forms or "nonnegative" in forms:
            low = max(low, 1 if "positive" in forms else 0)
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


def integer_limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """Lowest and highest value of an integer type, the small ones of ml_dtypes too."""
    import ml_dtypes

    info = np.iinfo(dtype) if dtype.kind in "iu" else ml_dtypes.iinfo(dtype)
    return int(info.min), int(info.max)


def plan(drawer: Drawer, original: Reading, policy: Policy, integers: Sequence[int], most: int) -> list[Planned]:
    """Ordinary calls, at most ``most``, the most telling first; each twice where arguments may share a buffer."""
    found = []
    for planned in _unlimited(drawer, original, policy, integers):
        found.append(planned)
        if len(found) >= most:
            break
    aliased = [p for group in (_aliased(p, original) for p in found[::3]) for p in group]
    return found + aliased


def _unlimited(drawer: Drawer, original: Reading, policy: Policy, integers: Sequence[int]) -> Iterator[Planned]:
    sizes = ordinary(drawer.shapes, integers, drawer.random)
    full = [s for s in sizes if drawer.shapes.elements(s) > 0 and all(s.values())] or sizes
    mixed = full[: min(len(full), 24)]

    def at(number: int) -> Sizes:
        return mixed[number % len(mixed)]

    def made(sizes: Sizes, manner: str, why: str, **options: Any) -> Planned:
        return Planned(Call(drawer.arguments(sizes, manner, **options)), sizes, why, bool(options.get("huge")))

    yield made(at(0), "normal", "normal values")
    yield made(at(1), "normal", "normal values at odd sizes")
    yield made(at(0), "scattered", "special values")
    step = 0
    for size in sizes:  # every size once, with ordinary values and with special ones in turn
        yield made(size, "normal" if step % 2 else _ROWS[step // 2 % 3], "sizes of the contract")
        step += 1
        if step in (6, 12, 18) or step % 40 == 39:
            yield from _scalars(drawer, original, at(step), step)
    numbers = [k for k, kind in enumerate(original.arguments) if not kind.element.startswith(("i", "u", "s"))]
    if drawer.has_floats:
        for manner in _THEMES:
            yield made(at(step), manner, f"{manner} values")
            step += 1
        for manner in _THEMES[1:]:
            for number in numbers if len(numbers) > 1 else ():
                yield made(at(step), manner, f"{manner} values in argument {number}", only=number)
                step += 1
        if policy.overflow:
            for manner in ("some_large", "wide", "beyond", "single"):
                yield made(at(step), manner, f"{manner} values up to the largest", huge=True)
                step += 1
    if len(numbers) < len(original.arguments):
        for manner in (*INTEGER_MANNERS, "extremes", "constants", "uniform"):
            yield made(at(step), "normal", f"{manner} integers", integers=manner)
            step += 1
    for repeat in range(2):
        for manner in ("rows", "one_row", "scattered", "constants", "one_constant", "edges", "halves", "all_constant"):
            if drawer.has_floats or repeat == 0:
                yield made(at(step), manner, f"{manner} values")
                step += 1
    while not drawer.has_floats or step < 400:
        yield made(at(step), _THEMES[step % len(_THEMES)], "values and sizes at random")
        step += 1
        if step > 400:
            return


def _scalars(drawer: Drawer, original: Reading, sizes: Sizes, step: int) -> Iterator[Planned]:
    """Each small float argument at each special value, with special values elsewhere."""
    for number, kind in enumerate(original.arguments):
        shape = drawer.shapes.shape(number, sizes)
        if int(np.prod(shape)) > _TINY or not is_float(kind.dtype) or drawer._contract(number).out:
            continue
        for value in _SCALARS:
            arrays = list(drawer.arguments(sizes, _ROWS[step % 3] if step % 4 else "normal"))
            wanted = drawer._policy.legal(value)
            if wanted is not None and arrays[number].size:
                flat = arrays[number].reshape(-1).copy()
                flat[int(drawer.rng.integers(flat.size)) if step % 2 else slice(None)] = to(wanted, kind.dtype)
                arrays[number] = flat.reshape(shape)
            yield Planned(Call(tuple(arrays)), sizes, f"{value} in argument {number}")
            step += 1


def _aliased(planned: Planned, original: Reading) -> list[Planned]:
    """The same call with each pair of arguments that may share a buffer doing so."""
    found = []
    for number, argument in enumerate(original.contract.arguments):
        other = argument.may_alias
        if other is None or planned.call.arguments[number].shape != planned.call.arguments[other].shape:
            continue
        first, second = sorted((number, other))
        arrays = list(planned.call.arguments)
        source = other if argument.out else number
        arrays[first] = arrays[second] = arrays[source]
        call = dataclasses.replace(planned.call, arguments=tuple(arrays), aliases=((second, first),))
        found.append(
            dataclasses.replace(planned, call=call, why=f"{planned.why}, arguments {first} and {second} shared")
        )
    return found


def plan_large(drawer: Drawer, integers: Sequence[int], most: int) -> list[Planned]:
    """Calls at the upper ends of the sizes."""
    found = []
    for sizes in large(drawer.shapes, integers)[:most]:
        call = Call(drawer.arguments(sizes, "normal"), guard="after")
        found.append(Planned(call, sizes, "upper ends of the sizes"))
    return found
