"""A perfect loop nest over memrefs: order chosen, outer loops cut into parallel chunks, reductions kept in registers.

``Nest`` is the plan: loops with their kinds and the places that each operand is read or written at. ``emit`` builds
``scf`` around a body that the caller supplies. Plan, then code, so that the plan can be tested and printed by itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Union

from kc.bindings import arith, ir, memref, scf

if TYPE_CHECKING:
    from kc.bindings import ir as _ir

Size = Union[int, "_ir.Value"]

#: what a size that is only known at run time is taken for when it is decided whether threads may be worth having; how
#: many of them really work is decided at run time
ASSUMED_SIZE = 1024
#: iterations of the parallel loop wanted at least: four for each of sixteen threads
WANTED_CHUNKS = 64


@dataclasses.dataclass
class Loop:
    """One loop from 0 to ``size``; ``parallel`` or else a reduction; ``sources`` are the dims of the op that it
    covers."""

    size: Size
    parallel: bool
    sources: tuple[int, ...]

    @property
    def estimate(self) -> int:
        """The size, guessed where it is not known."""
        return self.size if isinstance(self.size, int) else ASSUMED_SIZE


@dataclasses.dataclass
class Access:
    """Where an operand is read or written: ``exprs`` are affine over the op's dims; ``value`` a memref or a scalar."""

    value: ir.Value
    exprs: tuple[ir.AffineExpr, ...]

    @property
    def is_memref(self) -> bool:
        return isinstance(self.value.type, ir.MemRefType)

    def last_dim(self) -> int | None:
        """The dim that steps through this operand's last axis with stride one, if there is one."""
        if not self.is_memref or not self.exprs:
            return None
        last = self.exprs[-1]
        if isinstance(last, ir.AffineDimExpr):
            return last.position
        if isinstance(last, ir.AffineAddExpr):  # i + k (a window): the outer summand's dim, taken once
            for side in (last.lhs, last.rhs):
                if isinstance(side, ir.AffineDimExpr):
                    return side.position
        return None


@dataclasses.dataclass(frozen=True)
class Chunks:
    """The parallel loop: the first ``count`` loops of the nest, the last of them in steps of ``tile``.

    ``tile`` is None when it is to be computed at run time, such that a chunk does at least ``grain`` scalar ops.
    """

    count: int
    tile: int | None
    grain: int


@dataclasses.dataclass
class Nest:
    """Loops in order, operands' accesses (inputs, then outputs) and how many of them are outputs.

    ``cost`` is the number of scalar ops in one iteration; ``chunks`` is None for a nest that runs in one thread;
    ``in_registers``: the reduction loops are innermost and the outputs are carried through them as values.
    """

    loops: list[Loop]
    accesses: list[Access]
    outputs: int
    cost: int
    chunks: Chunks | None = None
    in_registers: bool = False

    def plan(self, grain: int, min_work: int) -> None:
        """Choose order, registers and chunks. ``grain``: least work of a chunk; ``min_work``: least work worth
        threads."""
        self._choose_order()
        work = self.cost
        for loop in self.loops:
            work *= loop.estimate
        if grain <= 0 or work < min_work:
            return
        outer = 0
        while outer < len(self.loops) and self.loops[outer].parallel:
            outer += 1
        if outer == 0 or not self._writes_apart(self.loops[:outer]):
            return
        # A size known only at run time may be one, so it does not count towards the chunks wanted.
        count, chunks = 0, 1
        while count < outer and chunks < WANTED_CHUNKS:
            chunks *= self.loops[count].size if isinstance(self.loops[count].size, int) else 1
            count += 1
        while True:
            tile = self._tile(count, grain)
            last = self.loops[count - 1].size
            if count == 1 or tile is None or not isinstance(last, int) or tile < last:
                break
            count -= 1  # a chunk takes the whole of this loop: cut the one around it
        if tile is not None and isinstance(last, int):
            # A tile wide enough for the grain may leave too few chunks where other loops are short; then it shrinks.
            most = max(1, last * max(1, chunks // max(last, 1)) // WANTED_CHUNKS)
            tile = max(1, min(tile, last, max(most, -(-tile // 4))))
        self.chunks = Chunks(count, tile, grain)

    def _writes_apart(self, loops: list[Loop]) -> bool:
        """Whether different iterations of ``loops`` write different elements: every output steps with each of them.

        linalg lets a parallel loop overwrite one element again and again; then the last iteration counts.
        """
        for access in self.accesses[len(self.accesses) - self.outputs :]:
            plain = {expr.position for expr in access.exprs if isinstance(expr, ir.AffineDimExpr)}
            if any(loop.sources[-1] not in plain for loop in loops):
                return False
        return True

    def _tile(self, count: int, grain: int) -> int | None:
        """Iterations of loop ``count - 1`` that make a chunk of ``grain`` scalar ops, None when that is not known."""
        inside = self.cost
        for loop in self.loops[count:]:
            if not isinstance(loop.size, int):
                return None
            inside *= loop.size
        return max(1, -(-grain // max(inside, 1)))

    def _choose_order(self) -> None:
        """Innermost goes the loop that steps through most operands with stride one; if it is a reduction, all of
        them."""
        reductions = [loop for loop in self.loops if not loop.parallel]
        parallels = [loop for loop in self.loops if loop.parallel]
        votes: dict[int, int] = {}
        for access in self.accesses:
            dim = access.last_dim()
            if dim is not None:
                votes[dim] = votes.get(dim, 0) + 1

        def vote(loop: Loop) -> int:
            return votes.get(loop.sources[-1], 0) if loop.estimate > 1 else 0

        if not reductions:
            # The loop order of an elementwise op is free: bring the one most operands want inside.
            best = max(parallels, key=vote, default=None)
            if best is not None and vote(best) > vote(parallels[-1]):
                parallels.remove(best)
                parallels.append(best)
            self.loops = parallels
            return
        best_parallel = max(parallels, key=vote, default=None)
        best_reduction = max(reductions, key=vote)
        folded = {dim for loop in reductions for dim in loop.sources}
        if any(mentions(expr, folded) for access in self.accesses[-self.outputs :] for expr in access.exprs):
            self.loops = [*parallels, *reductions]  # an output moves with a reduction: memory carries it, in order
        elif best_parallel is None or vote(best_reduction) >= vote(best_parallel):
            reductions.remove(best_reduction)
            self.loops = [*parallels, *reductions, best_reduction]
            self.in_registers = True
        else:
            parallels.remove(best_parallel)
            self.loops = [*parallels, *reductions, best_parallel]


Body = Callable[["Point", list["_ir.Value"]], list["_ir.Value"]]


class Point:
    """The innermost place of an emitted nest: the values of the op's dims, as far as single loops carry them."""

    def __init__(self, indices: dict[int, ir.Value]):
        self._indices = indices

    def dim(self, position: int) -> ir.Value:
        """The current index of dim ``position``."""
        return self._indices[position]

    def evaluate(self, expr: ir.AffineExpr) -> ir.Value:
        """The value of an affine expression over dims and constants, as ``arith`` ops."""
        if isinstance(expr, ir.AffineDimExpr):
            return self._indices[expr.position]
        if isinstance(expr, ir.AffineConstantExpr):
            return constant(expr.value)
        left, right = self.evaluate(expr.lhs), self.evaluate(expr.rhs)
        if isinstance(expr, ir.AffineAddExpr):
            return arith.addi(left, right)
        if isinstance(expr, ir.AffineMulExpr):
            return arith.muli(left, right)
        if isinstance(expr, ir.AffineModExpr):
            # Affine mod is not negative; indices in range are neither, so the signed remainder needs its correction.
            remainder = arith.remsi(left, right)
            wrapped = arith.addi(remainder, right)
            return arith.select(arith.cmpi(arith.CmpIPredicate.slt, remainder, constant(0)), wrapped, remainder)
        if isinstance(expr, ir.AffineFloorDivExpr):
            return arith.floordivsi(left, right)
        return arith.ceildivsi(left, right)


def mentions(expr: ir.AffineExpr, dims: set[int]) -> bool:
    """Whether ``expr`` depends on one of ``dims``."""
    if isinstance(expr, ir.AffineDimExpr):
        return expr.position in dims
    if isinstance(expr, (ir.AffineConstantExpr, ir.AffineSymbolExpr)):
        return False
    return mentions(expr.lhs, dims) or mentions(expr.rhs, dims)


def constant(value: int) -> ir.Value:
    """An ``arith.constant`` of type index."""
    return arith.constant(ir.IndexType.get(), value)


def size_value(size: Size) -> ir.Value:
    """``size`` as a value."""
    return constant(size) if isinstance(size, int) else size


def emit(nest: Nest, body: Body, yields: Sequence[bool]) -> None:
    """Build ``nest`` at the ambient insertion point and location.

    ``body(point, values)`` gets one value per access (loaded elements; carried values for outputs of a nest in
    registers) and returns the new value of each output. ``yields[i]`` is False for outputs whose old value the body
    does not read.
    """
    if nest.chunks is None:
        _emit_loops(nest, 0, {}, body, yields)
        return
    count = nest.chunks.count
    tile = _tile_value(nest, nest.chunks)
    zero, one = constant(0), constant(1)
    tiles = [size_value(loop.size) for loop in nest.loops[:count]]
    if tile != 1:
        last = nest.loops[count - 1].size
        if isinstance(last, int) and isinstance(tile, int):
            tiles[-1] = constant(-(-last // tile))
        else:
            tiles[-1] = arith.ceildivui(size_value(last), size_value(tile))
    total = tiles[0]
    for extent in tiles[1:]:
        total = arith.muli(total, extent)
    parallel = ir.Operation.create(
        "scf.parallel",
        operands=[zero, total, one],
        regions=1,
        attributes={"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, 1, 0])},
    )
    block = parallel.regions[0].blocks.append(ir.IndexType.get(), arg_locs=[parallel.location])
    with ir.InsertionPoint(block):
        rest = block.arguments[0]
        fixed: dict[int, ir.Value] = {}
        for position in range(count - 1, -1, -1):
            if position:
                current = arith.remui(rest, tiles[position])
                rest = arith.divui(rest, tiles[position])
            else:
                current = rest
            if position < count - 1 or tile == 1:
                fixed[position] = current
            else:
                low = arith.muli(current, size_value(tile))
                high = arith.minui(arith.addi(low, size_value(tile)), size_value(nest.loops[position].size))
        if tile == 1:
            _emit_loops(nest, count, _indices(nest, fixed), body, yields)
        else:
            loop = scf.ForOp(low, high, constant(1))
            with ir.InsertionPoint(loop.body):
                fixed[count - 1] = loop.induction_variable
                _emit_loops(nest, count, _indices(nest, fixed), body, yields)
                scf.yield_([])
        ir.Operation.create("scf.reduce")


def _tile_value(nest: Nest, chunks: Chunks) -> Size:
    """The tile, computed at run time where the sizes of the loops inside it are only known then."""
    if chunks.tile is not None:
        return chunks.tile
    inside = constant(nest.cost)
    for loop in nest.loops[chunks.count :]:
        inside = arith.muli(inside, size_value(loop.size))
    return arith.ceildivui(constant(chunks.grain), arith.maxui(inside, constant(1)))


def _indices(nest: Nest, fixed: dict[int, ir.Value]) -> dict[int, ir.Value]:
    return {nest.loops[position].sources[-1]: value for position, value in fixed.items()}


def _emit_loops(nest: Nest, first: int, indices: dict[int, ir.Value], body: Body, yields: Sequence[bool]) -> None:
    """Loops ``first`` … and the body; one nesting level per loop, so the recursion is as deep as the op's rank."""
    inputs = len(nest.accesses) - nest.outputs
    outputs = nest.accesses[inputs:]
    at_reductions = nest.in_registers and all(not loop.parallel for loop in nest.loops[first:])
    if at_reductions and first < len(nest.loops):
        point = Point(indices)
        places = [[point.evaluate(expr) for expr in access.exprs] for access in outputs]
        carried = [memref.load(access.value, place) for access, place in zip(outputs, places, strict=True)]
        results = _emit_reduction(nest, first, indices, body, carried)
        for access, place, result in zip(outputs, places, results, strict=True):
            memref.store(result, access.value, place)
        return
    if first == len(nest.loops):
        point = Point(indices)
        values = [load(access, point) for access in nest.accesses[:inputs]]
        places = [[point.evaluate(expr) for expr in access.exprs] for access in outputs]
        for access, place, read in zip(outputs, places, yields, strict=True):
            values.append(memref.load(access.value, place) if read else None)  # type: ignore[arg-type]
        for access, place, result in zip(outputs, places, body(point, values), strict=True):
            memref.store(result, access.value, place)
        return
    loop = scf.ForOp(constant(0), size_value(nest.loops[first].size), constant(1))
    with ir.InsertionPoint(loop.body):
        inner = {**indices, nest.loops[first].sources[-1]: loop.induction_variable}
        _emit_loops(nest, first + 1, inner, body, yields)
        scf.yield_([])


def _emit_reduction(
    nest: Nest, first: int, indices: dict[int, ir.Value], body: Body, carried: list[ir.Value]
) -> list[ir.Value]:
    if first == len(nest.loops):
        point = Point(indices)
        inputs = nest.accesses[: len(nest.accesses) - nest.outputs]
        return body(point, [load(access, point) for access in inputs] + carried)
    loop = scf.ForOp(constant(0), size_value(nest.loops[first].size), constant(1), carried)
    with ir.InsertionPoint(loop.body):
        inner = {**indices, nest.loops[first].sources[-1]: loop.induction_variable}
        scf.yield_(_emit_reduction(nest, first + 1, inner, body, list(loop.inner_iter_args)))
    return list(loop.results)


def load(access: Access, point: Point) -> ir.Value:
    """The element that ``access`` reads at ``point``, or the scalar itself."""
    if not access.is_memref:
        return access.value
    return memref.load(access.value, [point.evaluate(expr) for expr in access.exprs])
