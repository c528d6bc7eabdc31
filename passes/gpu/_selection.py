"""Reductions that pick one of their elements (arg max, arg min, lexicographic minimum): found, proved associative,
emitted.

The body of such a reduction, given the values picked so far and the next element's, returns the one or the other
component by component, by comparing them. Whether partial results may be combined in any grouping (in order) is
decided by trying all cases: a body that only compares components can only see which is smaller, equal, or NaN, so
three elements over three values and NaN are all there is to see.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from kc.bindings import ir
from kc.passes.gpu._launch import Arith

_LOGIC = ("arith.ori", "arith.andi", "arith.xori")
_COMPARE = ("arith.cmpf", "arith.cmpi")
_MAX_COMPONENTS = 3

# (value, name of the element that it came from): picking is about elements, so equal values stay apart
Tagged = tuple[Any, str]


class Selection:
    """The combiner of one ``linalg.generic`` whose reduction picks elements."""

    def __init__(self, accumulators: Sequence[Any], elements: Sequence[Any], yielded: Sequence[Any]) -> None:
        self.accumulators, self.elements, self.yielded = list(accumulators), list(elements), list(yielded)

    def combine(self, a: Arith, left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
        """Emit the combiner of two picks, ``left`` coming earlier, at the ambient insertion point."""
        known = dict(zip([*self.accumulators, *self.elements], [*left, *right], strict=True))

        def emit(value: Any) -> Any:
            if value not in known:
                op = value.owner.operation
                attributes = {name: op.attributes[name] for name in op.attributes}
                known[value] = a.op(op.name, [emit(v) for v in op.operands], [value.type], attributes)
            return known[value]

        return [emit(value) for value in self.yielded]

    def operations(self) -> list[Any]:
        """The ops of the body that belong to the combiner, users before what they use."""
        found: list[Any] = []
        leaves = {*self.accumulators, *self.elements}

        def visit(value: Any) -> None:
            if value in leaves:
                return
            op = value.owner.operation
            if op in found:
                found.remove(op)
            found.append(op)
            for operand in op.operands:
                visit(operand)

        for value in self.yielded:
            visit(value)
        return found


def find_selection(accumulators: Sequence[Any], yielded: Sequence[Any]) -> Selection | None:
    """The selection that makes ``yielded`` from the block arguments ``accumulators``, if it is a proven one."""
    if len(accumulators) > _MAX_COMPONENTS:
        return None
    places = {value: i for i, value in enumerate(accumulators)}
    block = accumulators[0].owner
    elements: dict[int, Any] = {}
    seen: set[Any] = set()

    def inside(value: Any) -> Any:
        """The op that makes ``value`` when it is part of the combiner."""
        if isinstance(value, ir.BlockArgument) or value.owner.operation.block != block:
            return None
        op = value.owner.operation
        if op.name == "arith.select" and value in chosen:
            return op
        return op if op.name in (*_LOGIC, *_COMPARE) and str(value.type) == "i1" else None

    chosen: set[Any] = set()  # selects that pick: reached from what is yielded

    def pair(x: Any, y: Any) -> bool:
        """Two values of one component: an accumulator and what may take its place."""
        i = places.get(x, places.get(y))
        if i is None or (x in places and y in places and x != y):
            return x == y and x in elements.values()
        other = y if x in places else x
        if other in places:
            return True  # compared with itself: a test for NaN
        return other.type == accumulators[i].type and elements.setdefault(i, other) == other

    def picks(value: Any, i: int) -> bool:
        """``value`` is component ``i`` of one of the two, chosen by conditions."""
        if value in places:
            return places[value] == i
        if not isinstance(value, ir.BlockArgument) and value.owner.operation.name == "arith.select":
            op = value.owner.operation
            if op.block == block and str(op.operands[0].type) == "i1" and _depends(op, places, block):
                chosen.add(value)
                return condition(op.operands[0]) and picks(op.operands[1], i) and picks(op.operands[2], i)
        fresh = isinstance(value, ir.BlockArgument) or not _depends(value.owner.operation, places, block)
        return fresh and value.type == accumulators[i].type and elements.setdefault(i, value) == value

    def condition(value: Any) -> bool:
        if value in seen:
            return True
        seen.add(value)
        op = inside(value)
        if op is None:
            return False
        if op.name in _LOGIC:
            return all(condition(v) for v in op.operands)
        pending.append((op.operands[0], op.operands[1]))
        return True

    pending: list[tuple[Any, Any]] = []
    if not all(picks(value, i) for i, value in enumerate(yielded)):
        return None
    # tests of an element against itself come last: by then it is known which component it is
    pending.sort(key=lambda both: both[0] == both[1])
    if not all(pair(x, y) for x, y in pending) or len(elements) != len(accumulators):
        return None
    found = Selection(accumulators, [elements[i] for i in range(len(accumulators))], yielded)
    return found if _is_associative(found) else None


def _depends(op: Any, places: dict[Any, int], block: Any) -> bool:
    """Whether ``op`` uses an accumulator, directly or not."""
    if op.block != block:
        return False
    return any(
        value in places or (not isinstance(value, ir.BlockArgument) and _depends(value.owner.operation, places, block))
        for value in op.operands
    )


def _is_associative(selection: Selection) -> bool:
    domains: list[list[Any]] = []
    for value in selection.accumulators:
        if isinstance(value.type, ir.FloatType):
            domains.append([0.0, 1.0, 2.0, math.nan])
        elif str(value.type) == "i1":
            domains.append([0, -1])
        else:
            domains.append([-1, 0, 1])
    values = list(itertools.product(*domains))
    step = _compiled(selection)
    tagged = {name: [tuple((v, name) for v in value) for value in values] for name in "xyz"}
    for x in tagged["x"]:
        for y in tagged["y"]:
            first = step(x, y)
            for z in tagged["z"]:
                if _tags(step(first, z)) != _tags(step(x, step(y, z))):
                    return False
    return True


def _tags(element: Sequence[Tagged]) -> list[str]:
    return [tag for _, tag in element]


def _compiled(selection: Selection) -> Callable[[Sequence[Tagged], Sequence[Tagged]], tuple[Tagged, ...]]:
    """The combiner as a Python function."""
    count = len(selection.accumulators)
    slots: dict[Any, int] = {v: i for i, v in enumerate([*selection.accumulators, *selection.elements])}
    steps: list[tuple[Callable[..., Any], tuple[int, ...]]] = []
    for op in reversed(selection.operations()):
        slots[op.results[0]] = 2 * count + len(steps)
        steps.append((_meaning(op), tuple(slots[v] for v in op.operands)))
    results = [slots[v] for v in selection.yielded]

    def step(left: Sequence[Tagged], right: Sequence[Tagged]) -> tuple[Tagged, ...]:
        values: list[Any] = [*left, *right]
        for function, operands in steps:
            values.append(function(*(values[i] for i in operands)))
        return tuple(values[i] for i in results)

    return step


def _meaning(op: Any) -> Callable[..., Any]:
    if op.name == "arith.select":
        return lambda condition, x, y: x if condition else y
    if op.name in _LOGIC:
        return {"arith.ori": lambda x, y: x or y, "arith.andi": lambda x, y: x and y}.get(op.name, lambda x, y: x != y)
    predicate = int(ir.IntegerAttr(op.attributes["predicate"]).value)
    if op.name == "arith.cmpi":
        return lambda x, y: _compare_integers(predicate, x[0], y[0])
    return lambda x, y: _compare_floats(predicate, x[0], y[0])


def _compare_integers(predicate: int, x: int, y: int) -> bool:
    if predicate >= 6:  # unsigned
        x, y, predicate = x % (1 << 64), y % (1 << 64), predicate - 4
    return [x == y, x != y, x < y, x <= y, x > y, x >= y][predicate]


def _compare_floats(predicate: int, x: float, y: float) -> bool:
    unordered = math.isnan(x) or math.isnan(y)
    ordered = [False, x == y, x > y, x >= y, x < y, x <= y, x != y, True]
    if predicate < 8:
        return not unordered and ordered[predicate]
    return unordered or [x == y, x > y, x >= y, x < y, x <= y, x != y, False, True][predicate - 8]
