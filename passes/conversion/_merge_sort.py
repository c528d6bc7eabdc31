"""A stable bottom-up merge sort of tensors: rounds of a parallel ``linalg.generic``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kc.bindings import ir
from kc.passes.conversion._emit import Emitter, Index, int_type, ranked

#: emits whether the first elements (one of each tensor) come strictly before the second ones
Before = Callable[[Emitter, list[ir.Value], list[ir.Value]], ir.Value]


def merge_sort(e: Emitter, operands: Sequence[ir.Value], axis: int, before: Before) -> list[ir.Value]:
    """``operands`` (tensors of one shape) sorted together along ``axis``; elements of equal rank keep their order.

    Every round merges neighbouring sorted runs of ``run`` elements into runs of twice that. Each element of the output
    finds its source by itself: a binary search along the merge path tells how many of the elements before it come from
    the left run, of which ties are taken first. So a round is parallel over all elements, reads one set of tensors and
    writes another; n elements take ceil(log2 n) rounds of O(n log n) comparisons. Any comparator ends and stays in
    bounds. (Merge path: Green, McColl, Bader, "GPU merge path", ICS 2012.)
    """
    rank = ranked(operands[0]).rank
    if rank == 0:
        return list(operands)
    extents = e.dims(operands[0])
    size = extents[axis]
    if isinstance(size, int) and size <= 1:
        return list(operands)
    length = e.index(size)

    def another(i: Emitter, carried: list[ir.Value]) -> ir.Value:
        return i.cmpi("slt", carried[0], length)

    def merge_round(i: Emitter, carried: list[ir.Value]) -> Sequence[ir.Value]:
        run, tensors = carried[0], carried[1:]
        outs = [i.empty(t.type, extents) for t in tensors]
        identity = ir.AffineMap.get_identity(rank)

        def body(j: Emitter, _: list[ir.Value]) -> Sequence[ir.Value]:
            at = [j.linalg_index(d) for d in range(rank)]
            position = _source(j, tensors, at, axis, run, size, before)
            return [j.extract(t, [*at[:axis], position, *at[axis + 1 :]]) for t in tensors]

        merged = i.generic([], outs, [identity] * len(outs), ["parallel"] * rank, body)
        return [i.index(i.mul(run, 2)), *merged]

    return e.while_([e.index(1), *operands], another, merge_round)[1:]


def _source(
    e: Emitter,
    tensors: Sequence[ir.Value],
    at: list[ir.Value],
    axis: int,
    run: ir.Value,
    size: Index,
    before: Before,
) -> ir.Value:
    """The position along ``axis`` of the element that goes to ``at`` when runs of ``run`` elements are merged."""
    pair = e.mul(run, 2)
    here: Index = at[axis]
    base = e.mul(e.floordiv(here, pair), pair)
    ahead = e.sub(here, base)  # how many outputs of this pair come before this one
    left_size = e.min(run, e.sub(size, base))
    right_size = e.min(run, e.sub(e.sub(size, base), left_size))
    right = e.add(base, left_size)

    def values(i: Emitter, place: Index) -> list[ir.Value]:
        return [i.extract(t, [*at[:axis], place, *at[axis + 1 :]]) for t in tensors]

    def right_first(i: Emitter, left_at: Index, right_at: Index) -> ir.Value:
        """Whether the right run's element comes strictly before the left run's."""
        return before(i, values(i, i.add(right, right_at)), values(i, i.add(base, left_at)))

    low = e.index(e.max(0, e.sub(ahead, right_size)))
    high = e.index(e.min(ahead, left_size))

    def search(i: Emitter, bounds: list[ir.Value]) -> Sequence[ir.Value]:
        middle = i.index(i.floordiv(i.add(bounds[0], bounds[1]), 2))
        after = right_first(i, middle, i.sub(i.sub(ahead, 1), middle))
        return [i.select(after, bounds[0], i.index(i.add(middle, 1))), i.select(after, middle, bounds[1])]

    taken = e.while_([low, high], lambda i, b: i.cmpi("slt", b[0], b[1]), search)[0]
    rest = e.index(e.sub(ahead, taken))
    have_left = e.cmpi("slt", taken, e.index(left_size))
    have_right = e.cmpi("slt", rest, e.index(right_size))
    i1 = int_type(1)

    def both(i: Emitter) -> Sequence[ir.Value]:
        return [i.bin("arith.xori", right_first(i, taken, rest), i.const(i1, 1))]

    from_left = e.if_(e.bin("arith.andi", have_left, have_right), [i1], both, lambda _: [have_left])[0]
    return e.select(from_left, e.index(e.add(base, taken)), e.index(e.add(right, rest)))
