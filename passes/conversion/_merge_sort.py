"""A stable bottom-up merge sort of tensors, in loops over chunks that do not depend on each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kc.bindings import ir
from kc.passes.conversion._emit import Emitter, Index, int_type, mark_nest, ranked

#: emits whether the first elements (one of each tensor) come strictly before the second ones
Before = Callable[[Emitter, list[ir.Value], list[ir.Value]], ir.Value]
#: elements that are sorted, or merged, one after the other
CHUNK = 8


def merge_sort(e: Emitter, operands: Sequence[ir.Value], axis: int, before: Before) -> list[ir.Value]:
    """``operands`` (tensors of one shape) sorted together along ``axis``; elements of equal rank keep their order.

    Chunks of ``CHUNK`` elements are sorted in place first. Then every round merges neighbouring sorted runs of ``run``
    elements into runs of twice that, one set of tensors into another. Each chunk of a round's output finds its source
    by itself: a binary search along the merge path tells how many of the elements before it come from the left run, of
    which ties are taken first. So chunks are independent (the loops over them are marked ``kc.independent``), and n
    elements take ceil(log2(n / CHUNK)) rounds of O(n + n log(n) / CHUNK) comparisons. Any comparator ends and stays in
    bounds; a strict weak order gives a permutation. (Merge path: Green, McColl, Bader, "GPU merge path", ICS 2012.)
    """
    rank = ranked(operands[0]).rank
    if rank == 0:
        return list(operands)
    extents = e.dims(operands[0])
    size = extents[axis]
    if isinstance(size, int) and size <= 1:
        return list(operands)
    sorter = _Sorter(axis, extents, before)
    tensors = sorter.sort_chunks(e, operands)
    if isinstance(size, int) and size <= CHUNK:
        return tensors

    def merge_round(i: Emitter, number: ir.Value, carried: list[ir.Value]) -> Sequence[ir.Value]:
        return sorter.merge(i, i.bin("arith.shli", i.index(CHUNK), number), carried)

    return e.for_(0, _rounds(e, size), tensors, merge_round)


def _rounds(e: Emitter, size: Index) -> Index:
    """How often runs of ``CHUNK`` elements are doubled until they have ``size``."""
    if isinstance(size, int):
        return (-(-size // CHUNK) - 1).bit_length()

    def double(i: Emitter, state: list[ir.Value]) -> Sequence[ir.Value]:
        return [i.index(i.mul(state[0], 2)), i.index(i.add(state[1], 1))]

    return e.while_([e.index(CHUNK), e.index(0)], lambda i, state: i.cmpi("slt", state[0], size), double)[1]


class _Sorter:
    """The loops of a sort of tensors of ``extents`` along ``axis``."""

    def __init__(self, axis: int, extents: Sequence[Index], before: Before) -> None:
        self.axis, self.extents, self.before = axis, list(extents), before
        self.size = extents[axis]

    def _at(self, at: Sequence[Index], place: Index) -> list[Index]:
        """``at`` with ``place`` along the axis."""
        return [*at[: self.axis], place, *at[self.axis + 1 :]]

    def _over_chunks(
        self,
        e: Emitter,
        inits: Sequence[ir.Value],
        body: Callable[[Emitter, list[Index], Index, Index, list[ir.Value]], Sequence[ir.Value]],
    ) -> list[ir.Value]:
        """A nest over all chunks; ``body`` gets the coordinates, the first place along the axis, how many there are,
        and the tensors.
        """
        chunks = list(self.extents)
        chunks[self.axis] = e.floordiv(e.add(self.size, CHUNK - 1), CHUNK)

        def chunk(i: Emitter, at: list[ir.Value], carried: list[ir.Value]) -> Sequence[ir.Value]:
            first = i.mul(at[self.axis], CHUNK)
            return body(i, list(at), first, i.min(CHUNK, i.sub(self.size, first)), carried)

        results = e.nest(chunks, inits, chunk)
        mark_nest(results, len(chunks), "kc.independent")
        return results

    def sort_chunks(self, e: Emitter, operands: Sequence[ir.Value]) -> list[ir.Value]:
        """Every chunk sorted by insertion, neighbours changing places."""

        def body(
            i: Emitter, at: list[Index], first: Index, count: Index, carried: list[ir.Value]
        ) -> Sequence[ir.Value]:
            def insert(j: Emitter, element: ir.Value, tensors: list[ir.Value]) -> Sequence[ir.Value]:
                def step(k: Emitter, back: ir.Value, now: list[ir.Value]) -> Sequence[ir.Value]:
                    right = k.sub(k.add(first, element), back)
                    places = [self._at(at, k.sub(right, 1)), self._at(at, right)]
                    left_values, right_values = ([k.extract(t, p) for t in now] for p in places)
                    swap = self.before(k, right_values, left_values)
                    result = []
                    for tensor, left, other in zip(now, left_values, right_values, strict=True):
                        tensor = k.insert(k.select(swap, other, left), tensor, places[0])
                        result.append(k.insert(k.select(swap, left, other), tensor, places[1]))
                    return result

                return j.for_(0, element, tensors, step)

            return i.for_(1, count, carried, insert)

        return self._over_chunks(e, operands, body)

    def merge(self, e: Emitter, run: ir.Value, tensors: Sequence[ir.Value]) -> list[ir.Value]:
        """Neighbouring runs of ``run`` elements, a multiple of ``CHUNK``, merged."""

        def body(
            i: Emitter, at: list[Index], first: Index, count: Index, carried: list[ir.Value]
        ) -> Sequence[ir.Value]:
            pair = i.mul(run, 2)
            base = i.mul(i.floordiv(first, pair), pair)
            ahead = i.sub(first, base)  # how many outputs of this pair come before the chunk
            left_size = i.min(run, i.sub(self.size, base))
            middle = i.add(base, left_size)
            right_size = i.min(run, i.sub(self.size, middle))
            end = i.index(i.add(middle, right_size))

            def right_first(j: Emitter, left: Index, right: Index) -> ir.Value:
                """Whether the right run's element at ``right`` comes strictly before the left run's at ``left``."""
                values = [[j.extract(t, self._at(at, place)) for t in tensors] for place in (right, left)]
                return self.before(j, *values)

            def search(j: Emitter, bounds: list[ir.Value]) -> Sequence[ir.Value]:
                half = j.index(j.floordiv(j.add(bounds[0], bounds[1]), 2))
                opposite = j.add(middle, j.sub(j.sub(ahead, 1), half))
                after = right_first(j, j.add(base, half), opposite)
                return [j.select(after, bounds[0], j.index(j.add(half, 1))), j.select(after, half, bounds[1])]

            low, high = i.index(i.max(0, i.sub(ahead, right_size))), i.index(i.min(ahead, left_size))
            taken = i.while_([low, high], lambda j, b: j.cmpi("slt", b[0], b[1]), search)[0]

            def step(j: Emitter, number: ir.Value, state: list[ir.Value]) -> Sequence[ir.Value]:
                left, right, *outs = state
                have_left = j.cmpi("slt", left, j.index(middle))
                have_right = j.cmpi("slt", right, end)
                i1 = int_type(1)

                def compare(k: Emitter) -> Sequence[ir.Value]:
                    return [k.bin("arith.xori", right_first(k, left, right), k.const(i1, 1))]

                both = j.bin("arith.andi", have_left, have_right)
                from_left = j.if_(both, [i1], compare, lambda _: [have_left])[0]
                source = self._at(at, j.select(from_left, left, right))
                target = self._at(at, j.add(first, number))
                outs = [j.insert(j.extract(t, source), o, target) for t, o in zip(tensors, outs, strict=True)]
                next_left, next_right = j.index(j.add(left, 1)), j.index(j.add(right, 1))
                return [j.select(from_left, next_left, left), j.select(from_left, right, next_right), *outs]

            begin = [i.index(i.add(base, taken)), i.index(i.add(middle, i.sub(ahead, taken)))]
            return i.for_(0, count, [*begin, *carried], step)[2:]

        return self._over_chunks(e, [e.empty(t.type, self.extents) for t in tensors], body)
