"""Window reductions as one ``linalg.generic`` over the padded operands."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from kc.bindings import ir
from kc.passes.conversion._attrs import ints, pairs
from kc.passes.conversion._emit import DYNAMIC, Emitter, Index, element, ranked, shape_of, tensor_type
from kc.passes.conversion._movement import pad

#: (emitter, block arguments: elements, [frame], accumulators) -> new accumulators
Combine = Callable[[Emitter, list[ir.Value]], Sequence[ir.Value]]


@dataclasses.dataclass(frozen=True)
class Window:
    """Where windows lie: extents, strides and dilations per axis, and the padding around the operand.

    Extents and padding may be run-time values, strides and dilations are numbers.
    """

    extents: Sequence[Index]
    strides: Sequence[int]
    dilations: Sequence[int]
    base_dilations: Sequence[int]
    low: Sequence[Index]
    high: Sequence[Index]

    @classmethod
    def of(cls, op: ir.Operation, rank: int) -> Window:
        """The window of a ``stablehlo.reduce_window``."""
        padding = pairs(op, "padding", rank)
        ones = [1] * rank
        return cls(
            ints(op, "window_dimensions"),
            ints(op, "window_strides", ones),
            ints(op, "window_dilations", ones),
            ints(op, "base_dilations", ones),
            [lo for lo, _ in padding],
            [hi for _, hi in padding],
        )


def reduce_window(
    e: Emitter,
    inputs: Sequence[ir.Value],
    initial: Sequence[ir.Value],
    results: Sequence[ir.Type],
    window: Window,
    combine: Combine,
) -> list[ir.Value]:
    """The loops are the result's axes, then the window's whose extent is not 1."""
    rank = ranked(inputs[0]).rank
    interior = [b - 1 for b in window.base_dilations]
    padded = [
        pad(e, v, init, _padded_type(v, window, interior), window.low, window.high, interior)
        for v, init in zip(inputs, initial, strict=True)
    ]
    extents: list[Index] = []
    for axis, n in enumerate(e.dims(padded[0])):
        reach = e.add(e.mul(e.sub(window.extents[axis], 1), window.dilations[axis]), 1)
        # no window fits when the operand is shorter than its reach
        room = e.max(0, e.add(e.sub(n, reach), window.strides[axis]))
        extents.append(e.floordiv(room, window.strides[axis]))
    outs = [e.splat(t, extents, v) for t, v in zip(results, initial, strict=True)]
    wide = [axis for axis in range(rank) if not (isinstance(window.extents[axis], int) and window.extents[axis] == 1)]
    exprs: list[ir.AffineExpr] = []
    for axis in range(rank):
        at = ir.AffineDimExpr.get(axis)
        at = at * window.strides[axis] if window.strides[axis] != 1 else at
        if axis in wide:
            at = at + ir.AffineDimExpr.get(rank + wide.index(axis)) * window.dilations[axis]
        exprs.append(at)
    loops = rank + len(wide)
    source = ir.AffineMap.get(loops, 0, exprs)
    shape = ir.AffineMap.get(loops, 0, [ir.AffineDimExpr.get(rank + i) for i in range(len(wide))])
    result = ir.AffineMap.get(loops, 0, [ir.AffineDimExpr.get(a) for a in range(rank)])
    # never read: its extents are the window's, which the padded operand alone does not say
    sizes = [window.extents[a] for a in wide]
    frame = e.empty(tensor_type([n if isinstance(n, int) else None for n in sizes], element(inputs[0])), sizes)
    maps = [source] * len(inputs) + [shape] + [result] * len(outs)
    iterators = ["parallel"] * rank + ["reduction"] * len(wide)
    return e.generic([*padded, frame], outs, maps, iterators, combine)


def _padded_type(value: ir.Value, window: Window, interior: Sequence[int]) -> ir.Type:
    shape: list[int] = []
    for n, lo, hi, k in zip(shape_of(value), window.low, window.high, interior, strict=True):
        known = n is not None and isinstance(lo, int) and isinstance(hi, int)
        shape.append(n + max(n - 1, 0) * k + lo + hi if known else DYNAMIC)  # type: ignore[operator]
    return tensor_type(shape, element(value))
