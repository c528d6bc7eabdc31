"""The builder of random programs: it draws choices, keeps the values made so far, and writes operations."""

from __future__ import annotations

import contextlib
import dataclasses
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from . import values
from .facts import Facts, fits
from .program import Op, Program, Value
from .tensors import ALL_FLOATS, COMPLEX, Dyn, Tensor, is_inexact, is_integer, limits, same

T = TypeVar("T")

#: sizes of dimensions, the plain ones first; around the widths of vectors and tiles
SIZES = (2, 3, 1, 4, 5, 7, 8, 9, 16, 17, 33, 65)
LARGE_SIZES = (257, 129, 1025, 66, 4099)
MAX_ELEMENTS, MAX_LARGE = 300, 70_000


class Choices:
    """Draws of a hypothesis strategy; the first alternative is what shrinking moves to."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]):
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high)) if low < high else low

    def one_of(self, options: Sequence[T]) -> T:
        return options[self.integer(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        return self.integer(0, 99) >= 100 - percent

    def permutation(self, n: int) -> list[int]:
        """A permutation of ``range(n)``, the identity first."""
        left, out = list(range(n)), []
        while left:
            out.append(left.pop(self.integer(0, len(left) - 1)))
        return out

    def subset(self, items: Iterable[T], percent: int = 50) -> list[T]:
        return [i for i in items if self.chance(percent)]


class Random(Choices):
    """Choices without hypothesis, each for itself; a tenth of the time, and no variations of what went before."""

    def __init__(self, rng: random.Random):
        self._rng = rng

    def integer(self, low: int, high: int) -> int:
        return self._rng.randint(low, high) if low < high else low


def _any(_: Value) -> bool:
    return True


@dataclasses.dataclass
class Inner:
    """The operations of a region."""

    ops: list[Op]

    def text(self) -> str:
        return "\n".join(line for op in self.ops for line in op.lines())

    def made(self) -> list[Value]:
        return [r for op in self.ops for r in op.results]


class Builder:
    """A program under construction.

    ``exact``: only operations whose results the specification fixes bit for bit are made (see ``facts``);
    ``dynamic``: arguments get unknown dimensions; ``special``: arguments hold NaN, infinities and the like; ``large``:
    some arrays are large enough to be shared out among threads.
    """

    def __init__(self, choices: Choices):
        self.c = choices
        self.exact = not choices.chance(40)
        self.special = choices.chance(40)
        self.dynamic = False
        self.large = False
        self.args: list[tuple[Value, Any]] = []
        self.ops: list[Op] = []
        self.values: list[Value] = []
        self.helpers: list[str] = []
        self.families: list[str] = []
        #: whether the interpreter can run the program in its own types
        self.low_ok = True
        #: values that are no results, for they are not fixed in all elements
        self.hidden: list[Value] = []
        self._count = 0
        self._depth = 0
        self._isolated = False
        self._hoisted: list[Value] = []

    @property
    def in_region(self) -> bool:
        return self._depth > 0

    @property
    def depth(self) -> int:
        """How many regions deep the next operation stands."""
        return self._depth

    # names and operations

    def name(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def emit(
        self,
        body: str,
        results: Sequence[tuple[Tensor, Facts]],
        rounds: bool = False,
        shaken: Sequence[tuple[Value, float]] = (),
        reference: tuple[str, ...] = (),
    ) -> list[Value]:
        """Append an operation; ``body`` is what stands right of the ``=``."""
        made = [Value(self.name(), t, f) for t, f in results]
        self.ops.append(Op(made, body, rounds, tuple(shaken), reference=reference))
        self.values += made
        return made

    def op(
        self,
        name: str,
        operands: Sequence[Value],
        result: Tensor,
        facts: Facts,
        attributes: str = "",
        region: str = "",
        rounds: bool = False,
        shake: float = 0.0,
    ) -> Value:
        """An operation with one result in MLIR's generic form."""
        return self.emit(
            generic(name, operands, [result], attributes, region),
            [(result, facts)],
            rounds,
            [(v, shake) for v in {v.name: v for v in operands}.values()] if shake else (),
        )[0]

    # values

    def arg(self, kind: Tensor, values_kind: str | None = None) -> Value:
        """A new argument (or, at times, a constant) of the type."""
        if values_kind == values.GRID and is_integer(kind.element):
            values_kind = None
        if self._isolated:  # a function of its own sees no arguments of main: a constant, plain and finite
            values_kind = values.SMALL if is_integer(kind.element) else values.GRID
        elif values_kind is None:
            values_kind = self.kind_of_values(kind.element)
        seed = self.c.integer(0, 2**16)
        array, facts = values.make(kind, values_kind, seed)
        value = Value(self.name(), kind, facts)
        if self._isolated or (
            not self._depth and not any(isinstance(n, Dyn) for n in kind.shape) and self.c.chance(15)
        ):
            self.ops.append(Op([value], "", constant=array))
        else:
            self.args.append((value, array))
            if self._depth:
                self._hoisted.append(value)
        self.values.append(value)
        return value

    def kind_of_values(self, element: str) -> str:
        if is_integer(element):
            return self.c.one_of((values.SMALL, values.EDGES if self.special else values.SMALL))
        if element in ALL_FLOATS or element in COMPLEX:
            if self.special:
                return self.c.one_of((values.GRID, values.GRID_SPECIAL, values.SPECIAL))
            if self.exact:
                return self.c.one_of((values.GRID, values.GRID, values.UNIT))
            return self.c.one_of((values.UNIT, values.GRID, values.UNIT, values.WIDE))
        return values.SMALL

    def pick(self, suits: Callable[[Value], bool], make: Callable[[], Value], reuse: int = 80) -> Value:
        """A value made before that suits, or a new one."""
        old = [v for v in reversed(self.values) if suits(v)]
        if old and self.c.chance(reuse):
            return self.c.one_of(old)
        return make()

    def any(
        self,
        elements: Sequence[str],
        ranks: tuple[int, int] = (0, 4),
        suits: Callable[[Value], bool] = _any,
        kind: str | None = None,
        least: int = 0,
    ) -> Value:
        """A value of one of the element types with a rank in the range; every dimension at least ``least``."""
        lowest, highest = ranks

        def ok(v: Value) -> bool:
            t = v.type
            return (
                t.element in elements
                and lowest <= t.rank <= highest
                and min(t.shape, default=least) >= least
                and suits(v)
            )

        def make() -> Value:
            for _ in range(3):
                value = self.arg(Tensor(self.shape(ranks, least), self.c.one_of(elements)), kind)
                if suits(value):
                    break
            return value

        return self.pick(ok, make)

    def like(self, kind: Tensor, values_kind: str | None = None, reuse: int = 80) -> Value:
        """A value of just this type."""
        return self.pick(
            lambda v: same(v.type, kind) and values_kind is None, lambda: self.arg(kind, values_kind), reuse
        )

    def summable(self, elements: Sequence[str], ranks: tuple[int, int], suits: Callable[[Value], bool] = _any) -> Value:
        """As ``any``; in an exact program its elements lie on a grid, so that sums of them do not round."""
        kind = values.GRID if self.exact else None
        return self.any(elements, ranks, lambda v: self._sums(v) and suits(v), kind)

    def summable_like(self, kind: Tensor) -> Value:
        """As ``like``, and as ``summable``."""
        plain = values.GRID if self.exact and not self.special else None
        return self.pick(lambda v: same(v.type, kind) and self._sums(v), lambda: self.arg(kind, plain))

    def _sums(self, v: Value) -> bool:
        return not self.exact or not is_inexact(v.type.element) or fits(v.facts, v.type.element)

    def scalar(self, element: str, values_kind: str | None = None) -> Value:
        return self.like(Tensor((), element), values_kind)

    def given(self, array: Any, element: str, facts: Facts | None = None) -> Value:
        """A new argument with just this array."""
        value = Value(self.name(), Tensor(array.shape, element), facts or Facts(mag=None))
        self.args.append((value, array))
        self.values.append(value)
        return value

    def index(self, element: str) -> Value:
        """A scalar index. The interpreter takes unsigned ones from half of their range on for negative, so small."""
        suits = limits(element)[1] // 2
        return self.pick(
            lambda v: same(v.type, Tensor((), element)) and (element[0] == "i" or (v.facts.mag or suits + 1) <= suits),
            lambda: self.arg(Tensor((), element), values.SMALL if element[0] == "u" else None),
        )

    def constant(self, array: Any, element: str) -> Value:
        """A constant whose values are given (small integers)."""
        kind = Tensor(array.shape, element)
        top = float(abs(array.astype(float)).max()) if array.size else 0.0
        value = Value(self.name(), kind, Facts(mag=top, step=1.0))
        self.ops.append(Op([value], "", constant=array))
        self.values.append(value)
        return value

    # regions

    @contextlib.contextmanager
    def inside(self, values: list[Value] | None = None, isolated: bool = False) -> Iterator[Inner]:
        """Operations made within go into a region and are not seen after it; it sees ``values`` (default: all).

        Arguments made within are main's. ``isolated``: it is a function, which sees nothing else.
        """
        outer, self.ops = self.ops, []
        kept, self.values = self.values, list(self.values if values is None else values)
        exact, before = self.exact, self._isolated
        # a region's operations are not perturbed one by one, so they do not round
        self.exact, self._isolated = True, isolated
        self._depth += 1
        inner = Inner(self.ops)
        try:
            yield inner
        finally:
            self.ops, self.values, self.exact, self._isolated = outer, kept, exact, before
            self._depth -= 1
            if not self._depth:
                self.values += self._hoisted
                self._hoisted = []

    # shapes

    def shape(self, ranks: tuple[int, int] = (0, 4), least: int = 0) -> tuple[int, ...]:
        rank = self.c.one_of([r for r in (1, 2, 0, 3, 4, 5) if ranks[0] <= r <= ranks[1]] or [ranks[0]])
        dims: list[int] = []
        left = MAX_LARGE if self.large else MAX_ELEMENTS
        for _ in range(rank):
            dims.append(self.size(left, least))
            left //= max(int(dims[-1]), 1)
        return tuple(dims)

    def size(self, at_most: int, least: int = 0) -> int:
        sizes = (*LARGE_SIZES, *SIZES) if self.large else SIZES
        options = [n for n in sizes if least <= n <= max(at_most, least, 1)] or [max(least, 1)]
        n = 0 if least == 0 and self.c.chance(3) else self.c.one_of(options)
        return Dyn(n) if self.dynamic and self.c.chance(60) else n

    def program(self) -> Program:
        """The finished program; values that nothing uses are results, and some others too."""
        made = [r for op in self.ops for r in op.results if op.constant is None]
        bodies = [op.body for op in self.ops]
        results = [
            v for v in made if not any(f"%{v.name}," in b or f"%{v.name} " in b or f"%{v.name})" in b for b in bodies)
        ]
        results += [v for v in made if v not in results and v not in self.hidden and self.c.chance(15)]
        if not results:
            results = made[-1:] or [v for v, _ in self.args][:1]
        return Program(self.args, self.ops, results[:6], self.helpers, self.families, self.low_ok)


def generic(
    name: str, operands: Sequence[Value], results: Sequence[Tensor], attributes: str = "", region: str = ""
) -> str:
    """An operation of StableHLO in MLIR's generic form."""
    names = ", ".join(f"%{v.name}" for v in operands)
    types = ", ".join(str(v.type) for v in operands)
    outs = ", ".join(str(t) for t in results)
    full = name if "." in name else f"stablehlo.{name}"
    attributes = f" <{{{attributes}}}>" if attributes else ""
    region = f" ({region})" if region else ""
    return f'"{full}"({names}){attributes}{region} : ({types}) -> ({outs})'


def ints(values: Iterable[int]) -> str:
    """``array<i64: …>``."""
    text = ", ".join(str(int(v)) for v in values)
    return f"array<i64: {text}>" if text else "array<i64>"
