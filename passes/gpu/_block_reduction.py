"""Reductions with blocks of threads for each output: partial results by thread, then a tree in shared memory.

A long reduction of few outputs is cut into parts with a block each, whose results a second launch folds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kc.bindings import ir
from kc.passes.gpu._generic import Folds, Generic, static_product
from kc.passes.gpu._launch import Arith, Extent, compare, end_loop, for_loop, if_block, make_launch
from kc.passes.gpu._memory import load, store
from kc.passes.gpu._selection import Selection

#: elements that a thread takes of a part: they lie together where the order is kept, so not more than a few lines
_PER_THREAD = 32
#: blocks above which the outputs alone fill a GPU
_FULL = 512

Values = list[Any]


class _Block:
    """A launch with a block for each part of each output, and a tile of shared memory for each accumulator.

    ``length``: elements of a reduction (of all parts together); ``span``: of a part.
    """

    def __init__(
        self, a: Arith, outputs: Sequence[Extent], length: Extent, block: int, types: Sequence[Any], parts: int = 1
    ) -> None:
        short = isinstance(length, int) and parts == 1
        self.threads = min(block, max(32, 1 << (length - 1).bit_length())) if short else block
        self.length, self.span, self.parts = length, self.threads * _PER_THREAD, parts
        space = ir.Attribute.parse("#gpu.address_space<workgroup>")
        shared = [ir.MemRefType.get([self.threads], kind, memory_space=space, loc=a.location) for kind in types]
        _, self.body = make_launch(a, a.mul(a.product(outputs), parts), self.threads, shared)
        self.thread, self.tiles = self.body.arguments[3], list(self.body.arguments)[12:]
        self._outputs = outputs

    def place(self, a: Arith) -> tuple[Extent, Extent]:
        """(number of the output, number of the part) of this block."""
        output, part = a.delinearize(self.body.arguments[0], [a.product(self._outputs), self.parts])
        return output, part

    def coordinates(self, a: Arith) -> list[Extent]:
        """The coordinates of this block's output."""
        return a.delinearize(self.place(a)[0], self._outputs)

    def bounds(self, a: Arith) -> tuple[Extent, Extent]:
        """The first element of this block's part, and the one after the last."""
        if self.parts == 1:
            return 0, self.length
        begin = a.mul(self.place(a)[1], self.span)
        return begin, _least(a, a.add(begin, self.span), self.length)

    def store(self, a: Arith, values: Sequence[Any], at: Any) -> None:
        for tile, value in zip(self.tiles, values, strict=True):
            store(a, value, tile, [at])

    def load(self, a: Arith, at: Any) -> Values:
        return [load(a, tile, [at]) for tile in self.tiles]

    def first(self, a: Arith) -> Any:
        """A block of code for the first thread alone."""
        return if_block(a, compare(a, "eq", self.thread, 0))


def _least(a: Arith, x: Extent, y: Extent) -> Any:
    return a.op("arith.minui", [a.value(x), a.value(y)], [a.index_type])


def _parts(generic: Generic, extents: Sequence[Extent], block: int) -> int:
    """Into how many parts the reduction is cut."""
    length, outputs = static_product(extents, generic.reduction), static_product(extents, generic.parallel)
    if length is None or outputs is None or outputs >= _FULL or length < 4 * block * _PER_THREAD:
        return 1
    return -(-length // (block * _PER_THREAD))


class _Scratch:
    """Device memory for the results of the parts of ``outputs`` reductions."""

    def __init__(self, a: Arith, outputs: int, parts: int, types: Sequence[Any]) -> None:
        segments = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}
        self.buffers = [
            a.op("memref.alloc", [], [ir.MemRefType.get([outputs, parts], t, loc=a.location)], segments) for t in types
        ]

    def store(self, a: Arith, values: Sequence[Any], place: Sequence[Extent]) -> None:
        for buffer, value in zip(self.buffers, values, strict=True):
            store(a, value, buffer, [a.value(i) for i in place])

    def load(self, a: Arith, place: Sequence[Extent]) -> Values:
        return [load(a, buffer, [a.value(i) for i in place]) for buffer in self.buffers]

    def free(self, a: Arith) -> None:
        for buffer in self.buffers:
            a.op("memref.dealloc", [buffer], [])


def _in_stages(
    generic: Generic,
    a: Arith,
    extents: Sequence[Extent],
    types: Sequence[Any],
    block: int,
    reduce_elements: Callable[[Arith, _Block, dict[int, Extent]], None],
    reduce_parts: Callable[[Arith, _Block, Callable[[Arith, Extent], Values]], None],
    finish: Callable[[Arith, _Block, dict[int, Extent]], None],
) -> None:
    """One launch, or one for the parts and one for their results.

    ``reduce_elements`` and ``reduce_parts`` leave what they find in the first place of the tiles; the latter gets a
    function that loads a part's result.
    """
    length = generic_length(generic, a, extents)
    outputs = [extents[d] for d in generic.parallel]
    parts = _parts(generic, extents, block)

    def point(k: Arith, launch: _Block) -> dict[int, Extent]:
        return dict(zip(generic.parallel, launch.coordinates(k), strict=True))

    launch = _Block(a, outputs, length, block, types, parts)
    if parts == 1:
        with ir.InsertionPoint.at_block_terminator(launch.body):
            k = Arith(a.location)
            at = point(k, launch)
            reduce_elements(k, launch, at)
            with ir.InsertionPoint.at_block_terminator(launch.first(k)):
                finish(Arith(a.location), launch, at)
        return
    with ir.InsertionPoint(launch.body.owner):
        count = static_product(extents, generic.parallel)
        assert count is not None, "only reductions of known size are cut"
        scratch = _Scratch(a, count, parts, types)
    with ir.InsertionPoint.at_block_terminator(launch.body):
        k = Arith(a.location)
        reduce_elements(k, launch, point(k, launch))
        with ir.InsertionPoint.at_block_terminator(launch.first(k)):
            t = Arith(a.location)
            scratch.store(t, launch.load(t, t.value(0)), launch.place(t))
    second = _Block(a, outputs, parts, block, types)
    with ir.InsertionPoint.at_block_terminator(second.body):
        k = Arith(a.location)
        reduce_parts(k, second, lambda t, part: scratch.load(t, [second.place(t)[0], part]))
        with ir.InsertionPoint.at_block_terminator(second.first(k)):
            t = Arith(a.location)
            finish(t, second, point(t, second))
    scratch.free(a)


def generic_length(generic: Generic, a: Arith, extents: Sequence[Extent]) -> Extent:
    """Elements that one output is made of."""
    return a.product([extents[d] for d in generic.reduction])


# ----------------------------------------------------------------------------------------------------------- folds


def fold_per_output(generic: Generic, a: Arith, extents: Sequence[Extent], folds: Folds, block: int) -> None:
    """Every thread folds every ``block``-th element; order does not matter to a fold."""
    reduced = [extents[d] for d in generic.reduction]

    def combine(k: Arith, x: Values, y: Values) -> Values:
        return [fold.combine(k, p, q) for fold, p, q in zip(folds, x, y, strict=True)]

    def strided(
        k: Arith, launch: _Block, bounds: tuple[Extent, Extent], step: Callable[[Arith, Any, Values], Values]
    ) -> None:
        starts = [fold.neutral(k) for fold in folds]
        loop, body = for_loop(k, k.add(bounds[0], launch.thread), bounds[1], launch.threads, starts)
        with ir.InsertionPoint(body):
            inner = Arith(a.location)
            end_loop(inner, body, step(inner, body.arguments[0], list(body.arguments)[1:]))
        launch.store(k, list(loop.results), launch.thread)
        _tree(k, launch, combine)

    def elements(k: Arith, launch: _Block, point: dict[int, Extent]) -> None:
        def step(inner: Arith, position: Any, carried: Values) -> Values:
            point.update(zip(generic.reduction, inner.delinearize(position, reduced), strict=True))
            return generic.inline(inner, point, folds, carried)

        strided(k, launch, launch.bounds(k), step)

    def parts(k: Arith, launch: _Block, result: Callable[[Arith, Extent], Values]) -> None:
        strided(k, launch, launch.bounds(k), lambda inner, part, carried: combine(inner, carried, result(inner, part)))

    def finish(t: Arith, launch: _Block, point: dict[int, Extent]) -> None:
        initial = generic.initial(t, point, folds)
        generic.write(t, point, combine(t, initial, launch.load(t, t.value(0))))

    _in_stages(generic, a, extents, [fold.type for fold in folds], block, elements, parts, finish)


def _tree(k: Arith, launch: _Block, combine: Callable[[Arith, Values, Values], Values]) -> None:
    """Halve the number of the threads' results until one is left."""
    _, body = for_loop(k, 1, launch.threads.bit_length(), 1, [])
    with ir.InsertionPoint(body):
        step = Arith(k.location)
        step.op("gpu.barrier", [], [])
        stride = step.op("arith.shrui", [step.value(launch.threads), body.arguments[0]], [step.index_type])
        with ir.InsertionPoint.at_block_terminator(if_block(step, compare(step, "ult", launch.thread, stride))):
            t = Arith(k.location)
            mine, other = launch.load(t, launch.thread), launch.load(t, t.add(launch.thread, stride))
            launch.store(t, combine(t, mine, other), launch.thread)
        end_loop(step, body, [])


# ------------------------------------------------------------------------------------------------------ selections


def select_per_output(generic: Generic, a: Arith, extents: Sequence[Extent], selection: Selection, block: int) -> None:
    """Every thread picks from a contiguous part, and the tree combines neighbours: the order of the elements is
    kept.
    """
    types = [value.type for value in selection.accumulators]
    reduced = [extents[d] for d in generic.reduction]
    none: Folds = [None] * len(types)
    length = generic_length(generic, a, extents)

    def ordered(k: Arith, launch: _Block, step: Callable[[Arith, Any], Values]) -> None:
        first, last = launch.bounds(k)
        part = launch.span // launch.threads if launch.parts > 1 else k.ceildiv(launch.length, launch.threads)
        begin = k.add(first, k.mul(launch.thread, part))
        end = _least(k, k.add(begin, part), last)
        flag = ir.IntegerType.get_signless(1)
        # the first element is taken as it is; until then the carried values mean nothing
        starts = [k.constant(False, flag), *(k.constant(0, kind) for kind in types)]
        loop, body = for_loop(k, begin, end, 1, starts)
        with ir.InsertionPoint(body):
            inner = Arith(a.location)
            new = step(inner, body.arguments[0])
            some, *carried = list(body.arguments)[1:]
            picked = selection.combine(inner, carried, new)
            values = [inner.op("arith.select", [some, x, y], [y.type]) for x, y in zip(picked, new, strict=True)]
            end_loop(inner, body, [inner.constant(True, flag), *values])
        launch.store(k, list(loop.results)[1:], launch.thread)
        _ordered_tree(k, launch, k.op("arith.subi", [k.value(last), k.value(first)], [k.index_type]), part, selection)

    def elements(k: Arith, launch: _Block, point: dict[int, Extent]) -> None:
        def step(inner: Arith, position: Any) -> Values:
            point.update(zip(generic.reduction, inner.delinearize(position, reduced), strict=True))
            generic.inline_elements(inner, point, selection)
            return list(selection.elements)

        ordered(k, launch, step)

    def parts(k: Arith, launch: _Block, result: Callable[[Arith, Extent], Values]) -> None:
        ordered(k, launch, result)

    def finish(t: Arith, launch: _Block, point: dict[int, Extent]) -> None:
        initial = generic.initial(t, point, none)
        picked = selection.combine(t, initial, launch.load(t, t.value(0)))
        if not isinstance(length, int):
            empty = compare(t, "eq", length, 0)
            picked = [t.op("arith.select", [empty, x, y], [y.type]) for x, y in zip(initial, picked, strict=True)]
        generic.write(t, point, picked)

    _in_stages(generic, a, extents, types, block, elements, parts, finish)


def _ordered_tree(k: Arith, launch: _Block, length: Extent, part: Extent, selection: Selection) -> None:
    """Combine the threads' results with their neighbours', the earlier one first; threads hold ``part`` elements of
    ``length``.
    """
    flag = ir.IntegerType.get_signless(1)
    _, body = for_loop(k, 0, launch.threads.bit_length() - 1, 1, [])
    with ir.InsertionPoint(body):
        step = Arith(k.location)
        step.op("gpu.barrier", [], [])
        stride = step.op("arith.shli", [step.value(1), body.arguments[0]], [step.index_type])
        other = step.add(launch.thread, stride)
        first = compare(step, "eq", step.rem(launch.thread, step.mul(stride, 2)), 0)
        has_elements = compare(step, "ult", step.mul(other, part), length)
        both = step.op("arith.andi", [first, has_elements], [flag])
        with ir.InsertionPoint.at_block_terminator(if_block(step, both)):
            t = Arith(k.location)
            mine, theirs = launch.load(t, launch.thread), launch.load(t, other)
            launch.store(t, selection.combine(t, mine, theirs), launch.thread)
        end_loop(step, body, [])
