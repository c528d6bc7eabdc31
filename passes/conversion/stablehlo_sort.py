"""``kc-convert-stablehlo-sort``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._attrs import integer
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._emit import Emitter, Index, int_type, ranked
from kc.passes.conversion._region import inline_scalars


@dataclasses.dataclass(frozen=True)
class ConvertStablehloSort(StablehloConversion):
    """``sort`` to a stable bottom-up merge sort: rounds of a parallel ``linalg.generic``.

    Every round merges neighbouring sorted runs of ``run`` elements into runs of twice that. Each element of the output
    finds its source by itself: a binary search along the merge path tells how many of the elements before it come from
    the left run, of which ties are taken first. So a round is parallel over all elements, reads one set of tensors and
    writes another; n elements take ceil(log2 n) rounds of O(n log n) comparisons. Any comparator ends and stays in
    bounds. (Merge path: Green, McColl, Bader, "GPU merge path", ICS 2012.) After::

        %s:2 = scf.while (%run = %c1, %t = %x) { condition %run < %n } do {
          %m = linalg.generic { search along the merge path, tensor.extract %t } outs(%empty)
          scf.yield 2 * %run, %m
        }
    """

    name: ClassVar[str] = "kc-convert-stablehlo-sort"
    converts: ClassVar[frozenset[str]] = frozenset({"stablehlo.sort"})

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value]:
        operands = list(op.operands)
        rank = ranked(operands[0]).rank
        axis = integer(op, "dimension", rank - 1) % rank if rank else 0
        if rank == 0:
            return operands
        extents = e.dims(operands[0])
        size = extents[axis]
        if isinstance(size, int) and size <= 1:
            return operands
        length = e.index(size)

        def another(i: Emitter, carried: list[ir.Value]) -> ir.Value:
            return i.cmpi("slt", carried[0], length)

        def merge_round(i: Emitter, carried: list[ir.Value]) -> Sequence[ir.Value]:
            run, tensors = carried[0], carried[1:]
            outs = [i.empty(t.type, extents) for t in tensors]
            identity = ir.AffineMap.get_identity(rank)

            def body(j: Emitter, _: list[ir.Value]) -> Sequence[ir.Value]:
                at = [j.linalg_index(d) for d in range(rank)]
                position = _source(j, op, tensors, at, axis, run, size, ctx)
                return [j.extract(t, [*at[:axis], position, *at[axis + 1 :]]) for t in tensors]

            merged = i.generic([], outs, [identity] * len(outs), ["parallel"] * rank, body)
            return [i.index(i.mul(run, 2)), *merged]

        return e.while_([e.index(1), *operands], another, merge_round)[1:]


def _source(
    e: Emitter,
    op: ir.Operation,
    tensors: Sequence[ir.Value],
    at: list[ir.Value],
    axis: int,
    run: ir.Value,
    size: Index,
    ctx: PassContext,
) -> ir.Value:
    """The position along ``axis`` of the element that goes to ``at`` when runs of ``run`` elements are merged."""
    pair = e.mul(run, 2)
    here: Index = at[axis]
    base = e.mul(e.floordiv(here, pair), pair)
    before = e.sub(here, base)  # how many outputs of this pair come before this one
    left_size = e.min(run, e.sub(size, base))
    right_size = e.min(run, e.sub(e.sub(size, base), left_size))
    right = e.add(base, left_size)

    def values(i: Emitter, place: Index) -> list[ir.Value]:
        return [i.extract(t, [*at[:axis], place, *at[axis + 1 :]]) for t in tensors]

    def right_first(i: Emitter, left_at: Index, right_at: Index) -> ir.Value:
        """Whether the right run's element comes strictly before the left run's."""
        pairs = zip(values(i, i.add(right, right_at)), values(i, i.add(base, left_at)), strict=True)
        return inline_scalars(i, op, [v for both in pairs for v in both], ctx)[0]

    low = e.index(e.max(0, e.sub(before, right_size)))
    high = e.index(e.min(before, left_size))

    def search(i: Emitter, bounds: list[ir.Value]) -> Sequence[ir.Value]:
        middle = i.index(i.floordiv(i.add(bounds[0], bounds[1]), 2))
        after = right_first(i, middle, i.sub(i.sub(before, 1), middle))
        return [i.select(after, bounds[0], i.index(i.add(middle, 1))), i.select(after, middle, bounds[1])]

    taken = e.while_([low, high], lambda i, b: i.cmpi("slt", b[0], b[1]), search)[0]
    rest = e.index(e.sub(before, taken))
    have_left = e.cmpi("slt", taken, e.index(left_size))
    have_right = e.cmpi("slt", rest, e.index(right_size))
    i1 = int_type(1)

    def both(i: Emitter) -> Sequence[ir.Value]:
        return [i.bin("arith.xori", right_first(i, taken, rest), i.const(i1, 1))]

    from_left = e.if_(e.bin("arith.andi", have_left, have_right), [i1], both, lambda _: [have_left])[0]
    return e.select(from_left, e.index(e.add(base, taken)), e.index(e.add(right, rest)))
