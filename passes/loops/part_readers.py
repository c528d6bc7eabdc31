"""``kc-part-readers``: what a thousand ops read is read under many names: the analysis of buffers is quick then."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass
from kc.passes.loops._functions import functions
from kc.passes.loops.mark_entry_points import READ_ONLY

if TYPE_CHECKING:
    from kc.pass_base import PassContext


@dataclasses.dataclass(frozen=True)
class PartReaders(Pass):
    """Give each use of a read-only argument a tensor of its own when there are at least ``readers`` of them.

    ``one-shot-bufferize`` compares every reader of a tensor with every other, which takes seconds where a thousand
    kernels read one argument. Nothing ever writes an argument that is ``bufferization.writable = false``, so there is
    nothing to find out: tensors made of its buffer are as good, and each has one reader. Afterwards all of them are
    the argument again. ::

        func.func @main(%x: tensor<4xf32> {bufferization.writable = false}) {
          … %x … %x …

    becomes ::

        func.func @main(%x: tensor<4xf32> {bufferization.writable = false}) {
          %buffer = bufferization.to_buffer %x read_only : tensor<4xf32> to memref<4xf32>
          %0 = bufferization.to_tensor %buffer restrict : memref<4xf32> to tensor<4xf32>
          %1 = bufferization.to_tensor %buffer restrict : memref<4xf32> to tensor<4xf32>
          … %0 … %1 …
    """

    name: ClassVar[str] = "kc-part-readers"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("bufferization",)
    readers: int = 64

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        for function in functions(op):
            if len(function.regions[0].blocks) and "arg_attrs" in function.attributes:
                given = list(ir.ArrayAttr(function.attributes["arg_attrs"]))
                for argument, entries in zip(function.regions[0].blocks[0].arguments, given, strict=True):
                    if READ_ONLY in ir.DictAttr(entries) and not ir.BoolAttr(ir.DictAttr(entries)[READ_ONLY]).value:
                        self._part(argument, function)

    def _part(self, argument: ir.Value, function: ir.Operation) -> None:
        uses = [(use.owner.operation, use.operand_number) for use in argument.uses]
        if len(uses) < self.readers:
            return
        kind = ir.RankedTensorType(argument.type)
        memref = ir.MemRefType.get(kind.shape, kind.element_type, loc=function.location)
        buffer = ir.Operation.create(
            "bufferization.to_buffer",
            results=[memref],
            operands=[argument],
            attributes={"read_only": ir.UnitAttr.get()},
            loc=function.location,
            ip=ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]),
        )
        last = buffer
        for owner, position in uses:
            last = ir.Operation.create(
                "bufferization.to_tensor",
                results=[kind],
                operands=[buffer.results[0]],
                attributes={"restrict": ir.UnitAttr.get()},
                loc=owner.location,
                ip=ir.InsertionPoint.after(last),
            )
            owner.operands[position] = last.results[0]
