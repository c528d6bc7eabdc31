"""``kc-own-results``: every buffer that an entry function returns is its caller's alone."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass
from kc.passes.loops._functions import functions
from kc.passes.loops.mark_entry_points import is_public
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext

_VIEWS = frozenset({"memref.cast", "memref.collapse_shape", "memref.expand_shape", "memref.memory_space_cast"})


@dataclasses.dataclass(frozen=True)
class OwnResults(Pass):
    """Copy what a public function returns unless it is a whole allocation of its own that is returned once.

    The caller frees each result. Returning an argument, a constant, a part of a buffer, or one buffer twice would
    free what is not there to be freed. Run after bufferization, before deallocation. A value that comes out of a
    loop or a branch is copied, because it may be any of those. ::

        %a = memref.alloc() : memref<4xf32>
        return %a, %a, %x : memref<4xf32>, memref<4xf32>, memref<4xf32>

    becomes ::

        %a = memref.alloc() : memref<4xf32>
        %b = memref.alloc() : memref<4xf32>
        memref.copy %a, %b : memref<4xf32> to memref<4xf32>
        %c = memref.alloc() : memref<4xf32>
        memref.copy %x, %c : memref<4xf32> to memref<4xf32>
        return %a, %b, %c : memref<4xf32>, memref<4xf32>, memref<4xf32>
    """

    name: ClassVar[str] = "kc-own-results"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "loops"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "memref")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        for function in functions(op):
            if not is_public(function):
                continue
            for terminator in walk_ops(function, "func.return"):
                taken: set[int] = set()
                for position, value in enumerate(list(terminator.operands)):
                    if not isinstance(value.type, ir.MemRefType):
                        continue
                    root = _root_allocation(value)
                    identity = None if root is None else hash(root)
                    if identity is None or identity in taken:
                        terminator.operands[position] = _copy(value, terminator)
                    else:
                        taken.add(identity)


def _root_allocation(value: ir.Value) -> ir.Value | None:
    """The ``memref.alloc`` that ``value`` is the whole of, or None."""
    while True:
        owner = value.owner
        if isinstance(owner, ir.Block):
            return None
        operation = owner.operation
        if operation.name == "memref.alloc":
            return value
        if operation.name not in _VIEWS:
            return None
        value = operation.operands[0]


def _copy(value: ir.Value, before: ir.Operation) -> ir.Value:
    kind = ir.MemRefType(value.type)
    location = before.location
    point = ir.InsertionPoint(before)
    index = ir.IndexType.get()
    sizes = []
    for axis in range(kind.rank):
        if kind.is_dynamic_dim(axis):
            position = ir.Operation.create(
                "arith.constant",
                results=[index],
                attributes={"value": ir.IntegerAttr.get(index, axis)},
                loc=location,
                ip=point,
            )
            dim = ir.Operation.create(
                "memref.dim", results=[index], operands=[value, position.results[0]], loc=location, ip=point
            )
            sizes.append(dim.results[0])
    segments = ir.DenseI32ArrayAttr.get([len(sizes), 0])
    alignment = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 64)
    copy = ir.Operation.create(
        "memref.alloc",
        results=[kind],
        operands=sizes,
        attributes={"operandSegmentSizes": segments, "alignment": alignment},
        loc=location,
        ip=point,
    ).results[0]
    ir.Operation.create("memref.copy", operands=[value, copy], loc=location, ip=point)
    return copy
