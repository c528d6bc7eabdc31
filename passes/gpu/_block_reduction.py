"""Reductions with a block of threads for each output: partial results by thread, then a tree in shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kc.bindings import ir
from kc.passes.gpu._generic import Folds, Generic, static_product
from kc.passes.gpu._launch import Arith, Extent, compare, end_loop, for_loop, if_block, make_launch
from kc.passes.gpu._memory import load, store
from kc.passes.gpu._selection import Selection


class _Block:
    """The launch of one block per output at the ambient insertion point, with a tile of shared memory per
    accumulator.
    """

    def __init__(self, generic: Generic, a: Arith, extents: Sequence[Extent], block: int, types: Sequence[Any]) -> None:
        length = static_product(extents, generic.reduction)
        self.threads = block if length is None else min(block, max(32, 1 << (length - 1).bit_length()))
        self.reduced = [extents[d] for d in generic.reduction]
        space = ir.Attribute.parse("#gpu.address_space<workgroup>")
        shared = [ir.MemRefType.get([self.threads], kind, memory_space=space, loc=a.location) for kind in types]
        outputs = [extents[d] for d in generic.parallel]
        _, self.body = make_launch(a, a.product(outputs), self.threads, shared)
        self.thread, self.tiles = self.body.arguments[3], list(self.body.arguments)[12:]
        self._generic, self._outputs = generic, outputs

    def point(self, a: Arith) -> dict[int, Extent]:
        """The coordinates of this block's output."""
        return dict(zip(self._generic.parallel, a.delinearize(self.body.arguments[0], self._outputs), strict=True))

    def store(self, a: Arith, values: Sequence[Any], at: Any) -> None:
        for tile, value in zip(self.tiles, values, strict=True):
            store(a, value, tile, [at])

    def load(self, a: Arith, at: Any) -> list[Any]:
        return [load(a, tile, [at]) for tile in self.tiles]


def fold_per_output(generic: Generic, a: Arith, extents: Sequence[Extent], folds: Folds, block: int) -> None:
    """Every thread folds every ``block``-th element; order does not matter to a fold."""
    launch = _Block(generic, a, extents, block, [fold.type for fold in folds])
    with ir.InsertionPoint.at_block_terminator(launch.body):
        k = Arith(a.location)
        point = launch.point(k)
        initial = generic.initial(k, point, folds)
        starts = [fold.neutral(k) for fold in folds]
        loop, loop_body = for_loop(k, launch.thread, k.product(launch.reduced), launch.threads, starts)
        with ir.InsertionPoint(loop_body):
            inner = Arith(a.location)
            at = inner.delinearize(loop_body.arguments[0], launch.reduced)
            point.update(zip(generic.reduction, at, strict=True))
            end_loop(inner, loop_body, generic.inline(inner, point, folds, list(loop_body.arguments)[1:]))
        launch.store(k, list(loop.results), launch.thread)

        # halve the number of partial results until one is left
        _tree, step_body = for_loop(k, 1, launch.threads.bit_length(), 1, [])
        with ir.InsertionPoint(step_body):
            step = Arith(a.location)
            step.op("gpu.barrier", [], [])
            stride = step.op("arith.shrui", [step.value(launch.threads), step_body.arguments[0]], [step.index_type])
            with ir.InsertionPoint.at_block_terminator(if_block(step, compare(step, "ult", launch.thread, stride))):
                t = Arith(a.location)
                mine, other = launch.load(t, launch.thread), launch.load(t, t.add(launch.thread, stride))
                totals = [fold.combine(t, x, y) for fold, x, y in zip(folds, mine, other, strict=True)]
                launch.store(t, totals, launch.thread)
            end_loop(step, step_body, [])
        with ir.InsertionPoint.at_block_terminator(if_block(k, compare(k, "eq", launch.thread, 0))):
            t = Arith(a.location)
            rest = launch.load(t, launch.thread)
            generic.write(t, point, [f.combine(t, x, y) for f, x, y in zip(folds, initial, rest, strict=True)])


def select_per_output(generic: Generic, a: Arith, extents: Sequence[Extent], selection: Selection, block: int) -> None:
    """Every thread picks from a contiguous part, and the tree combines neighbours: the order of the elements is
    kept.
    """
    types = [value.type for value in selection.accumulators]
    launch = _Block(generic, a, extents, block, types)
    none: Folds = [None] * len(types)
    with ir.InsertionPoint.at_block_terminator(launch.body):
        k = Arith(a.location)
        point = launch.point(k)
        initial = generic.initial(k, point, none)
        length = k.product(launch.reduced)
        part = k.ceildiv(length, launch.threads)
        begin = k.mul(launch.thread, part)
        end = k.op("arith.minui", [k.value(k.add(begin, part)), k.value(length)], [k.index_type])
        flag = ir.IntegerType.get_signless(1)
        # the first element is taken as it is; until then the carried values mean nothing
        starts = [k.constant(False, flag), *(k.constant(0, kind) for kind in types)]
        loop, loop_body = for_loop(k, begin, end, 1, starts)
        with ir.InsertionPoint(loop_body):
            inner = Arith(a.location)
            at = inner.delinearize(loop_body.arguments[0], launch.reduced)
            point.update(zip(generic.reduction, at, strict=True))
            generic.inline_elements(inner, point, selection)
            some, *carried = list(loop_body.arguments)[1:]
            picked = selection.combine(inner, carried, selection.elements)
            values = [
                inner.op("arith.select", [some, x, y], [y.type])
                for x, y in zip(picked, selection.elements, strict=True)
            ]
            end_loop(inner, loop_body, [inner.constant(True, flag), *values])
        launch.store(k, list(loop.results)[1:], launch.thread)

        steps = launch.threads.bit_length() - 1
        _tree, step_body = for_loop(k, 0, steps, 1, [])
        with ir.InsertionPoint(step_body):
            step = Arith(a.location)
            step.op("gpu.barrier", [], [])
            stride = step.op("arith.shli", [step.value(1), step_body.arguments[0]], [step.index_type])
            other = step.add(launch.thread, stride)
            first = compare(step, "eq", step.rem(launch.thread, step.mul(stride, 2)), 0)
            has_elements = compare(step, "ult", step.mul(other, part), length)
            both = step.op("arith.andi", [first, has_elements], [flag])
            with ir.InsertionPoint.at_block_terminator(if_block(step, both)):
                t = Arith(a.location)
                mine, theirs = launch.load(t, launch.thread), launch.load(t, other)
                launch.store(t, selection.combine(t, mine, theirs), launch.thread)
            end_loop(step, step_body, [])
        with ir.InsertionPoint.at_block_terminator(if_block(k, compare(k, "eq", launch.thread, 0))):
            t = Arith(a.location)
            picked = selection.combine(t, initial, launch.load(t, launch.thread))
            if not isinstance(length, int):
                empty = compare(t, "eq", length, 0)
                picked = [t.op("arith.select", [empty, x, y], [y.type]) for x, y in zip(initial, picked, strict=True)]
            generic.write(t, point, picked)
