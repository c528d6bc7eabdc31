"""``kc-mark-entry-points``: what bufferization and the LLVM lowering must know of public functions."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext


@dataclasses.dataclass(frozen=True)
class MarkEntryPoints(Pass):
    """Mark public functions: their tensor arguments are the caller's and never written, their C interface is wanted.

    An argument with the attribute ``kc.donated`` may be written. ::

        func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32> {kc.donated})

    becomes ::

        func.func @main(%x: tensor<4xf32> {bufferization.writable = false}, %y: tensor<4xf32> {kc.donated})
            attributes {llvm.emit_c_interface}
    """

    name: ClassVar[str] = "kc-mark-entry-points"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("bufferization", "func", "llvm")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        readonly = ir.BoolAttr.get(False)
        for function in walk_ops(op, "func.func"):
            if not is_public(function) or not len(function.regions[0].blocks):
                continue
            function.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
            inputs = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs
            given = list(ir.ArrayAttr(function.attributes["arg_attrs"])) if "arg_attrs" in function.attributes else None
            marked = []
            for position, kind in enumerate(inputs):
                entries = {entry.name: entry.attr for entry in ir.DictAttr(given[position])} if given else {}
                if isinstance(kind, ir.RankedTensorType) and "kc.donated" not in entries:
                    entries["bufferization.writable"] = readonly
                marked.append(ir.DictAttr.get(entries))
            if marked:
                function.attributes["arg_attrs"] = ir.ArrayAttr.get(marked)


def is_public(function: ir.Operation) -> bool:
    """Whether ``function`` is an entry point."""
    if "sym_visibility" not in function.attributes:
        return True
    return ir.StringAttr(function.attributes["sym_visibility"]).value == "public"
