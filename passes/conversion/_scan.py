"""Inclusive scans (cumulative sums and the like) in logarithmically many parallel rounds."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from kc.bindings import ir
from kc.passes.conversion._emit import Emitter, ranked
from kc.passes.conversion._window import Combine, Window


def scan_axis(
    window: Window,
    extents: Sequence[Any],
    same: Callable[[Any, Any], bool] = operator.eq,
    less_one: Callable[[Any], Any] = lambda n: n - 1,
) -> tuple[int, bool] | None:
    """The axis along which ``window`` is a scan of an operand of these extents, and whether it runs backwards.

    It is one when the window is as long as the axis, hangs over one end by all but one element, and leaves the other
    axes alone. None when it is no scan. Extents and padding are numbers, or symbols: ``same`` tells whether two of them
    are equal and ``less_one`` makes the one below.
    """
    rank = len(extents)
    if [*window.strides, *window.dilations, *window.base_dilations] != [1] * (3 * rank):
        return None
    wide = [a for a in range(rank) if window.extents[a] != 1]
    if len(wide) != 1 or any(window.low[a] != 0 or window.high[a] != 0 for a in range(rank) if a not in wide):
        return None
    axis = wide[0]
    size = extents[axis]
    if size is None or not same(window.extents[axis], size):
        return None
    low, high = window.low[axis], window.high[axis]
    if high == 0 and same(low, less_one(size)):
        return axis, False
    return (axis, True) if low == 0 and same(high, less_one(size)) else None


def scan(
    e: Emitter,
    inputs: Sequence[ir.Value],
    initial: Sequence[ir.Value],
    axis: int,
    reverse: bool,
    combine: Combine,
) -> list[ir.Value]:
    """Each element combined with ``initial`` and all elements before it (after it when ``reverse``), in order.

    An empty ``initial`` is none: the first element then stands for itself.

    In the round with distance d every element is combined with the one d away, whose value stands for d elements by
    then (Hillis and Steele, "Data parallel algorithms", 1986): n log n combinations, all of a round in parallel.
    """
    rank = ranked(inputs[0]).rank
    extents = e.dims(inputs[0])
    size = e.index(extents[axis])
    identity = ir.AffineMap.get_identity(rank)

    def round_(i: Emitter, carried: list[ir.Value]) -> Sequence[ir.Value]:
        distance, tensors = carried[0], carried[1:]

        def body(j: Emitter, a: list[ir.Value]) -> Sequence[ir.Value]:
            here = a[: len(tensors)]
            at = [j.linalg_index(d) for d in range(rank)]
            other = j.index(j.add(at[axis], distance) if reverse else j.sub(at[axis], distance))
            inside = j.cmpi("slt", other, size) if reverse else j.cmpi("sge", other, j.index(0))
            # the read stays in bounds where its value is not used
            place = [j.select(inside, other, at[axis]) if d == axis else x for d, x in enumerate(at)]
            away = [j.extract(t, place) for t in tensors]
            first, second = (here, away) if reverse else (away, here)
            combined = combine(j, [*second, *first])
            return [j.select(inside, new, old) for new, old in zip(combined, here, strict=True)]

        outs = [i.empty(t.type, extents) for t in tensors]
        maps = [identity] * (2 * len(outs))
        return [i.index(i.mul(distance, 2)), *i.generic(tensors, outs, maps, ["parallel"] * rank, body)]

    scanned = e.while_([e.index(1), *inputs], lambda i, c: i.cmpi("slt", c[0], size), round_)[1:]
    if not initial:
        return scanned

    def start(i: Emitter, a: list[ir.Value]) -> Sequence[ir.Value]:
        return combine(i, [*a[: len(inputs)], *initial])

    outs = [e.empty(t.type, extents) for t in inputs]
    return e.generic(scanned, outs, [identity] * (2 * len(outs)), ["parallel"] * rank, start)
