"""``kc-convert-stablehlo-reduction``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._attrs import ints
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._emit import Emitter, is_float, ranked, shape_of
from kc.passes.conversion._long_sum import shorten
from kc.passes.conversion._multiply_add import reassociable_add
from kc.passes.conversion._region import inline_scalars, single_op
from kc.passes.conversion._scan import may_scan, padding_matters, scan, scan_axis
from kc.passes.conversion._window import Window, reduce_window


@dataclasses.dataclass(frozen=True)
class ConvertStablehloReduction(StablehloConversion):
    """``reduce`` and ``reduce_window`` to ``linalg.generic`` with reduction loops, any number of operands, any reducer.

    The result is filled with the initial value first, so an empty reduction gives it back; the reducer's scalar code is
    inlined. The loops of ``reduce`` are its operand's axes in order. Sums of floats may be reassociated; over tens of
    thousands of elements they are sums of the sums of blocks. A window is read from the operand padded with the initial
    value; its loops come after the result's. A window that makes a cumulative sum (or product, maximum ...) of an axis
    is scanned instead, in order, in blocks. Before / after::

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
        window = Window.of(op, ranked(inputs[0]).rank)
        axis = scan_axis(window, shape_of(inputs[0]))
        reducer = single_op(op) if count == 1 else None
        if axis is not None and may_scan(reducer, shape_of(inputs[0])[axis[0]]):
            padded = padding_matters(reducer, op.operands[count])
            return scan(e, inputs, initial, *axis, lambda i, a: _in_turn(i, op, a, ctx), padded)
        types = [r.type for r in op.results]
        return reduce_window(e, inputs, initial, types, window, lambda i, a: combine(i, op, a, ctx))


def combine(e: Emitter, op: ir.Operation, arguments: list[ir.Value], ctx: PassContext) -> list[ir.Value]:
    """The reducer for block arguments (elements, [window], accumulators); it takes accumulators first."""
    count = len(op.results)
    elements, accumulators = arguments[:count], arguments[-count:]
    if count == 1 and is_float(elements[0].type) and single_op(op) == "stablehlo.add":
        return [reassociable_add(e, accumulators[0], elements[0])]
    return inline_scalars(e, op, [*accumulators, *elements], ctx)


def _in_turn(e: Emitter, op: ir.Operation, arguments: list[ir.Value], ctx: PassContext) -> list[ir.Value]:
    """``combine`` with additions that may not be reassociated."""
    count = len(op.results)
    return inline_scalars(e, op, [*arguments[count:], *arguments[:count]], ctx)


def _reduce(
    e: Emitter, op: ir.Operation, inputs: list[ir.Value], initial: list[ir.Value], ctx: PassContext
) -> list[ir.Value]:
    rank, axes = ranked(inputs[0]).rank, ints(op, "dimensions")
    if len(inputs) == 1 and is_float(initial[0].type) and single_op(op) == "stablehlo.add":
        inputs = [shorten(e, inputs[0], axes)]
    kept = [a for a in range(rank) if a not in axes]
    shape = [e.dim(_best(inputs, a), a) for a in kept]
    outs = [e.splat(r.type, shape, v) for r, v in zip(op.results, initial, strict=True)]
    identity = ir.AffineMap.get_identity(rank)
    result = ir.AffineMap.get(rank, 0, [ir.AffineDimExpr.get(a) for a in kept])
    iterators = ["reduction" if a in axes else "parallel" for a in range(rank)]
    maps = [identity] * len(inputs) + [result] * len(outs)
    return e.generic(inputs, outs, maps, iterators, lambda i, a: combine(i, op, a, ctx))


def _best(values: list[ir.Value], axis: int) -> ir.Value:
    """The operand whose extent along ``axis`` is known, if there is one."""
    return next((v for v in values if shape_of(v)[axis] is not None), values[0])
