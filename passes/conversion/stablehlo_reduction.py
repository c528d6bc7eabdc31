"""``kc-convert-stablehlo-reduction``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._attrs import ints, pairs
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._emit import DYNAMIC, Emitter, Index, element, is_float, ranked, shape_of, tensor_type
from kc.passes.conversion._movement import pad
from kc.passes.conversion._multiply_add import reassociable_add
from kc.passes.conversion._region import inline_scalars, single_op


@dataclasses.dataclass(frozen=True)
class ConvertStablehloReduction(StablehloConversion):
    """``reduce`` and ``reduce_window`` to ``linalg.generic`` with reduction loops, any number of operands, any reducer.

    The result is filled with the initial value first, so an empty reduction gives it back; the reducer's scalar code is
    inlined. The loops of ``reduce`` are its operand's axes in order. A window is read from the operand padded with the
    initial value; its loops come after the result's. Sums of floats may be reassociated. Before / after::

        %r = stablehlo.reduce(%x init: %v) applies stablehlo.add across dimensions = [1]
          : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>

        %f = linalg.fill ins(%init : f32) outs(%empty : tensor<4xf32>)
        %r = linalg.generic {iterator_types = ["parallel", "reduction"]} ins(%x) outs(%f)
          { addf fastmath<reassoc,contract> }
    """

    name: ClassVar[str] = "kc-convert-stablehlo-reduction"
    converts: ClassVar[frozenset[str]] = frozenset({"stablehlo.reduce", "stablehlo.reduce_window"})

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value] | None:
        count = len(op.results)
        inputs, initial = list(op.operands)[:count], [e.extract(v) for v in list(op.operands)[count:]]
        if op.name == "stablehlo.reduce":
            return _reduce(e, op, inputs, initial, ctx)
        return _reduce_window(e, op, inputs, initial, ctx)


def _combine(e: Emitter, op: ir.Operation, arguments: list[ir.Value], ctx: PassContext) -> list[ir.Value]:
    """The reducer for block arguments (elements, [window], accumulators); it takes accumulators first."""
    count = len(op.results)
    elements, accumulators = arguments[:count], arguments[-count:]
    if count == 1 and is_float(elements[0].type) and single_op(op) == "stablehlo.add":
        return [reassociable_add(e, accumulators[0], elements[0])]
    return inline_scalars(e, op, [*accumulators, *elements], ctx)


def _reduce(
    e: Emitter, op: ir.Operation, inputs: list[ir.Value], initial: list[ir.Value], ctx: PassContext
) -> list[ir.Value]:
    rank, axes = ranked(inputs[0]).rank, ints(op, "dimensions")
    kept = [a for a in range(rank) if a not in axes]
    shape = [e.dim(_best(inputs, a), a) for a in kept]
    outs = [e.splat(r.type, shape, v) for r, v in zip(op.results, initial, strict=True)]
    identity = ir.AffineMap.get_identity(rank)
    result = ir.AffineMap.get(rank, 0, [ir.AffineDimExpr.get(a) for a in kept])
    iterators = ["reduction" if a in axes else "parallel" for a in range(rank)]
    maps = [identity] * len(inputs) + [result] * len(outs)
    return e.generic(inputs, outs, maps, iterators, lambda i, a: _combine(i, op, a, ctx))


def _best(values: list[ir.Value], axis: int) -> ir.Value:
    """The operand whose extent along ``axis`` is known, if there is one."""
    return next((v for v in values if shape_of(v)[axis] is not None), values[0])


def _reduce_window(
    e: Emitter, op: ir.Operation, inputs: list[ir.Value], initial: list[ir.Value], ctx: PassContext
) -> list[ir.Value]:
    rank = ranked(inputs[0]).rank
    window = ints(op, "window_dimensions")
    strides, dilations = ints(op, "window_strides", [1] * rank), ints(op, "window_dilations", [1] * rank)
    base, padding = ints(op, "base_dilations", [1] * rank), pairs(op, "padding", rank)
    low, high = [lo for lo, _ in padding], [hi for _, hi in padding]
    interior = [b - 1 for b in base]
    padded = [
        pad(e, v, init, _padded_type(v, low, high, interior), low, high, interior)
        for v, init in zip(inputs, initial, strict=True)
    ]
    extents: list[Index] = []
    for axis, n in enumerate(e.dims(padded[0])):
        room = e.sub(n, (window[axis] - 1) * dilations[axis] + 1)
        # no window fits when room is negative
        extents.append(e.floordiv(e.max(0, e.add(room, strides[axis])), strides[axis]))
    outs = [e.splat(r.type, extents, v) for r, v in zip(op.results, initial, strict=True)]
    wide = [axis for axis in range(rank) if window[axis] != 1]
    loops = rank + len(wide)
    exprs: list[ir.AffineExpr] = []
    for axis in range(rank):
        at = ir.AffineDimExpr.get(axis)
        at = at * strides[axis] if strides[axis] != 1 else at
        if axis in wide:
            at = at + ir.AffineDimExpr.get(rank + wide.index(axis)) * dilations[axis]
        exprs.append(at)
    source = ir.AffineMap.get(loops, 0, exprs)
    shape = ir.AffineMap.get(loops, 0, [ir.AffineDimExpr.get(rank + i) for i in range(len(wide))])
    result = ir.AffineMap.get(loops, 0, [ir.AffineDimExpr.get(a) for a in range(rank)])
    # never read: its extents are the window's, which the padded operand alone does not say
    sizes = [window[a] for a in wide]
    frame = e.empty(tensor_type(sizes, element(inputs[0])), sizes)
    maps = [source] * len(inputs) + [shape] + [result] * len(outs)
    iterators = ["parallel"] * rank + ["reduction"] * len(wide)
    return e.generic([*padded, frame], outs, maps, iterators, lambda i, a: _combine(i, op, a, ctx))


def _padded_type(value: ir.Value, low: list[int], high: list[int], interior: list[int]) -> ir.Type:
    shape = [
        DYNAMIC if n is None else n + max(n - 1, 0) * k + lo + hi
        for n, lo, hi, k in zip(shape_of(value), low, high, interior, strict=True)
    ]
    return tensor_type(shape, element(value))
