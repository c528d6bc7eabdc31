"""``kc-convert-stablehlo-scatter``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir, stablehlo_api
from kc.pass_base import PassContext
from kc.passes.conversion._attrs import ints, pairs
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._emit import Emitter, Index, int_type, mark_nest, ranked
from kc.passes.conversion._region import inline_scalars
from kc.passes.conversion._scalar import unsigned_flags


@dataclasses.dataclass(frozen=True)
class ConvertStablehloScatter(StablehloConversion):
    """``scatter`` and ``select_and_scatter`` to ``scf.for`` nests that carry the results and update them in place.

    Updates are applied one after the other in the order of their indices, so duplicates are all counted; each single
    update whose index is out of bounds is left out (not its whole window). The combiner is inlined; any number of
    operands, implicit index vectors, inserted, batching and non-leading dimensions are handled. The loops of a scatter
    with unique indices are marked ``kc.unique``: any order of their iterations will do. After::

        %r = scf.for %k = %c0 to %updates step %c1 iter_args(%t = %x) {
          %inside = arith.cmpi ult, %index, %size
          scf.if %inside { extract %t[%index], combine, insert into %t[%index] } else { yield %t }
        }
    """

    name: ClassVar[str] = "kc-convert-stablehlo-scatter"
    converts: ClassVar[frozenset[str]] = frozenset({"stablehlo.scatter", "stablehlo.select_and_scatter"})

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value]:
        if op.name == "stablehlo.scatter":
            return _scatter(e, op, ctx)
        return _select_and_scatter(e, op, ctx)


def _scatter(e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value]:
    count = len(op.results)
    operands = list(op.operands)
    inputs, indices, updates = operands[:count], operands[count], operands[count + 1 :]
    unsigned = unsigned_flags(op)[count]
    numbers = stablehlo_api.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
    window_dims, inserted = list(numbers.update_window_dims), list(numbers.inserted_window_dims)
    batching, indices_batching = list(numbers.input_batching_dims), list(numbers.scatter_indices_batching_dims)
    to_operand, vector_dim = list(numbers.scattered_dims_to_operand_dims), numbers.index_vector_dim
    rank, update_rank = ranked(inputs[0]).rank, ranked(updates[0]).rank
    scatter_dims = [d for d in range(update_rank) if d not in window_dims]
    window = [d for d in range(rank) if d not in inserted and d not in batching]
    indices_axes = [d for d in range(ranked(indices).rank) if d != vector_dim]
    limits = e.dims(inputs[0])
    update_extents = e.dims(updates[0])

    def scatter_body(outer: Emitter, at_scatter: list[ir.Value], carried: list[ir.Value]) -> Sequence[ir.Value]:
        where = dict(zip(indices_axes, at_scatter, strict=True))
        start: list[Index] = [0] * rank
        for k, axis in enumerate(to_operand):
            place = [k if d == vector_dim else where[d] for d in range(ranked(indices).rank)]
            start[axis] = outer.to_int(outer.extract(indices, place), ir.IndexType.get(), unsigned)
        for axis, indices_axis in zip(batching, indices_batching, strict=True):
            start[axis] = where[indices_axis]

        def window_body(i: Emitter, at_window: list[ir.Value], results: list[ir.Value]) -> Sequence[ir.Value]:
            at = list(start)
            for axis, offset in zip(window, at_window, strict=True):
                at[axis] = i.add(at[axis], offset)
            source: list[Index] = [0] * update_rank
            for d, v in (*zip(scatter_dims, at_scatter, strict=True), *zip(window_dims, at_window, strict=True)):
                source[d] = v
            return _update(i, op, at, limits, results, [i.extract(t, source) for t in updates], ctx)

        return outer.nest([update_extents[d] for d in window_dims], carried, window_body)

    results = e.nest([update_extents[d] for d in scatter_dims], inputs, scatter_body)
    if not scatter_dims or ("unique_indices" in op.attributes and ir.BoolAttr(op.attributes["unique_indices"]).value):
        mark_nest(results, update_rank, "kc.unique")
    return results


def _update(
    e: Emitter,
    op: ir.Operation,
    at: Sequence[Index],
    limits: Sequence[Index],
    results: list[ir.Value],
    values: list[ir.Value],
    ctx: PassContext,
) -> list[ir.Value]:
    """``results[at] = combiner(results[at], values)`` where ``at`` is in bounds."""
    inside: ir.Value = e.const(int_type(1), 1)
    for index, limit in zip(at, limits, strict=True):
        # one unsigned comparison: a negative index is a huge one
        inside = e.bin("arith.andi", inside, e.cmpi("ult", e.index(index), e.index(limit)))

    def apply(i: Emitter) -> Sequence[ir.Value]:
        current = [i.extract(t, at) for t in results]
        combined = inline_scalars(i, op, [*current, *values], ctx, region=len(op.regions) - 1)
        return [i.insert(v, t, at) for v, t in zip(combined, results, strict=True)]

    return e.if_(inside, [t.type for t in results], apply, lambda _: results)


def _select_and_scatter(e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value]:
    operand, source, initial = op.operands
    rank = ranked(operand).rank
    window, strides = ints(op, "window_dimensions", [1] * rank), ints(op, "window_strides", [1] * rank)
    low = [lo for lo, _ in pairs(op, "padding", rank)]
    extents = e.dims(operand)
    result = e.splat(op.results[0].type, extents, e.extract(initial))

    def body(outer: Emitter, at: list[ir.Value], carried: list[ir.Value]) -> Sequence[ir.Value]:
        base = [outer.sub(outer.mul(a, s), lo) for a, s, lo in zip(at, strides, low, strict=True)]
        nothing = outer.const(outer.extract(source, at).type, 0)
        # chosen value, whether there is one, its position
        start = [nothing, outer.const(int_type(1), 0), *(outer.index(0) for _ in range(rank))]

        def consider(i: Emitter, offset: list[ir.Value], best: list[ir.Value]) -> Sequence[ir.Value]:
            place = [i.add(b, o) for b, o in zip(base, offset, strict=True)]
            inside: ir.Value = i.const(int_type(1), 1)
            for p, n in zip(place, extents, strict=True):
                inside = i.bin("arith.andi", inside, i.cmpi("ult", i.index(p), i.index(n)))

            def compare(j: Emitter) -> Sequence[ir.Value]:
                value = j.extract(operand, place)
                keep = inline_scalars(j, op, [best[0], value], ctx, region=0)[0]
                keep = j.bin("arith.andi", keep, best[1])
                new = [value, j.const(int_type(1), 1), *(j.index(p) for p in place)]
                return [j.select(keep, old, fresh) for old, fresh in zip(best, new, strict=True)]

            return i.if_(inside, [v.type for v in best], compare, lambda _: best)

        found = outer.nest(window, start, consider)

        def apply(i: Emitter) -> Sequence[ir.Value]:
            return _update(i, op, found[2:], extents, carried, [i.extract(source, at)], ctx)

        return outer.if_(found[1], [t.type for t in carried], apply, lambda _: carried)

    return e.nest(e.dims(source), [result], body)
