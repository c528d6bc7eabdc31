"""``kc-plan-memory``: the static buffers of a function share one allocation."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import ir
from kc.builder.arena import Interval, pack, peak
from kc.params import itemsize, type_dtype
from kc.pass_base import Pass
from kc.passes.loops._functions import functions
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext

#: bodies that several threads run at once: their buffers cannot live in an arena outside
_CONCURRENT = frozenset({"scf.parallel", "scf.forall", "omp.parallel", "gpu.launch"})


@dataclasses.dataclass(frozen=True)
class PlanMemory(Pass):
    """Pack the statically shaped buffers of each function into one arena, by liveness.

    A buffer takes part when its ``memref.alloc`` and its ``memref.dealloc`` stand in the same block: it then lives
    from one to the other, and two buffers that never live at once may have the same place. Buffers inside
    ``scf.for``, ``scf.while`` and ``scf.if`` take part too, which also moves their allocation out of the loop; those
    in loops that run in parallel, those of dynamic shape and those that the function returns keep their own
    allocation. Every buffer starts at a multiple of ``alignment`` bytes. With ``report`` a remark tells the sizes. ::

        %a = memref.alloc() : memref<16xf32>      // used, then
        memref.dealloc %a : memref<16xf32>
        %b = memref.alloc() : memref<32xf32>      // used, then
        memref.dealloc %b : memref<32xf32>

    becomes ::

        %arena = memref.alloc() {alignment = 64 : i64} : memref<128xi8>
        %a = memref.view %arena[%c0][] : memref<128xi8> to memref<16xf32>
        %b = memref.view %arena[%c0][] : memref<128xi8> to memref<32xf32>
        memref.dealloc %arena : memref<128xi8>
    """

    name: ClassVar[str] = "kc-plan-memory"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "loops"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "memref")
    alignment: int = 64
    report: bool = False

    def __post_init__(self) -> None:
        if self.alignment <= 0 or self.alignment & (self.alignment - 1):
            raise ValueError("alignment must be a power of two")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        for function in functions(op):
            if len(function.regions[0].blocks) == 1:
                self._plan(function, ctx)

    def _plan(self, function: ir.Operation, ctx: PassContext) -> None:
        buffers = _buffers(function)
        if not buffers:
            return
        offsets, total = pack([buffer.interval for buffer in buffers], self.alignment)
        entry = function.regions[0].blocks[0]
        byte = ir.IntegerType.get_signless(8)
        alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), self.alignment)
        location = function.location
        begin = ir.InsertionPoint.at_block_begin(entry)
        arena = ir.Operation.create(
            "memref.alloc",
            results=[ir.MemRefType.get([total], byte, loc=location)],
            attributes={"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0]), "alignment": alignment},
            loc=location,
            ip=begin,
        ).results[0]
        index = ir.IndexType.get()
        constants: dict[int, ir.Value] = {}
        for offset in sorted(set(offsets)):
            constants[offset] = ir.Operation.create(
                "arith.constant",
                results=[index],
                attributes={"value": ir.IntegerAttr.get(index, offset)},
                loc=location,
                ip=begin,
            ).results[0]
        for buffer, offset in zip(buffers, offsets, strict=True):
            view = ir.Operation.create(
                "memref.view",
                results=[buffer.alloc.results[0].type],
                operands=[arena, constants[offset]],
                loc=buffer.alloc.location,
                ip=ir.InsertionPoint(buffer.alloc),
            )
            buffer.dealloc.erase()
            buffer.alloc.results[0].replace_all_uses_with(view.results[0])
            buffer.alloc.erase()
        terminator = walk_ops(function, "func.return")[-1]
        ir.Operation.create("memref.dealloc", operands=[arena], loc=location, ip=ir.InsertionPoint(terminator))
        if self.report:
            intervals = [buffer.interval for buffer in buffers]
            separate, least = sum(interval.size for interval in intervals), peak(intervals)
            name = ir.StringAttr(function.attributes["sym_name"]).value
            ctx.remark(
                function,
                f"@{name}: {len(buffers)} buffers, {separate} bytes in all, at most {least} at a time, "
                f"in an arena of {total} bytes",
            )


@dataclasses.dataclass
class _Buffer:
    alloc: ir.Operation
    dealloc: ir.Operation
    interval: Interval


def _buffers(function: ir.Operation) -> list[_Buffer]:
    """The buffers of ``function`` that can be planned, in the order of their allocation.

    Times are positions in a walk that sees an op before what is inside it, so a buffer outside a loop that is freed
    after it lives through all of the loop's positions.
    """
    found: list[_Buffer] = []
    open_allocs: dict[ir.Value, tuple[ir.Operation, int, ir.Operation]] = {}
    clock = 0

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal clock
        clock += 1
        if op.name in _CONCURRENT:
            return ir.WalkResult.SKIP
        if op.name == "memref.alloc" and _nbytes(op.results[0].type):
            open_allocs[op.results[0]] = (op, clock, op.parent)
        elif op.name == "memref.dealloc":
            start = open_allocs.pop(op.operands[0], None)
            if start is not None and start[2] == op.parent and _same_block(start[0], op):
                size = _nbytes(start[0].results[0].type)
                found.append(_Buffer(start[0], op, Interval(start[1], clock, size)))
        return ir.WalkResult.ADVANCE

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    found.sort(key=lambda buffer: buffer.interval.start)
    return found


def _same_block(left: ir.Operation, right: ir.Operation) -> bool:
    return bool(left.block == right.block)


def _nbytes(kind: ir.Type) -> int:
    """Size of a buffer that may be planned: static, identity layout, default memory space; otherwise 0."""
    if not isinstance(kind, ir.MemRefType) or not kind.has_static_shape or kind.memory_space is not None:
        return 0
    if kind.affine_map != ir.AffineMap.get_identity(kind.rank):
        return 0
    try:
        total = itemsize(type_dtype(kind.element_type))
    except ValueError:
        return 0
    for extent in kind.shape:
        total *= extent
    return total
