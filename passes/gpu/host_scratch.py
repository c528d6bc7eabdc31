"""``kc-gpu-host-scratch``: the bookkeeping of deallocation stays in host memory."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.gpu._memory import root_of
from kc.rewrite import walk_ops

_HELPER = "dealloc_helper"


@dataclasses.dataclass(frozen=True)
class GpuHostScratch(Pass):
    """Turns the small buffers that ``bufferization-lower-deallocations`` makes into stack slots.

    Where several buffers may be the same one, that pass compares their addresses in memory: it stores addresses and
    flags in ``memref.alloc`` buffers and calls ``@dealloc_helper`` with them. On the GPU's road ``memref.alloc`` is
    device memory, so those buffers become ``memref.alloca`` at the function's entry, which is host memory. Run it
    before inlining.

    ::

        %a = memref.alloc() : memref<2xindex>
        %c = memref.cast %a : memref<2xindex> to memref<?xindex>
        call @dealloc_helper(%c, ..)
        memref.dealloc %a : memref<2xindex>
        // becomes
        %a = memref.alloca() : memref<2xindex>
        %c = memref.cast %a : memref<2xindex> to memref<?xindex>
        call @dealloc_helper(%c, ..)
    """

    name: ClassVar[str] = "kc-gpu-host-scratch"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "loops"

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        done: set[Any] = set()
        for function in walk_ops(op, "func.func"):
            for call in walk_ops(function, "func.call"):
                if ir.FlatSymbolRefAttr(call.attributes["callee"]).value != _HELPER:
                    continue
                for operand in call.operands:
                    root = root_of(operand)
                    if isinstance(root, ir.BlockArgument) or root in done:
                        continue
                    if root.owner.operation.name == "memref.alloc":
                        done.add(_to_stack(root.owner.operation, function))


def _to_stack(alloc: Any, function: Any) -> Any:
    """Replace ``alloc`` and its deallocations; returns the stack slot."""
    buffer = alloc.results[0]
    for use in list(buffer.uses):
        if use.owner.operation.name == "memref.dealloc":
            use.owner.operation.erase()
    with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]):
        slot = ir.Operation.create(
            "memref.alloca",
            results=[buffer.type],
            attributes={"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])},
            loc=alloc.location,
        ).results[0]
    buffer.replace_all_uses_with(slot)
    alloc.erase()
    return slot
