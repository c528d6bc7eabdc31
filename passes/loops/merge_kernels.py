"""``kc-merge-kernels``: equal kernels are kept once."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass
from kc.passes.loops._functions import functions
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext


@dataclasses.dataclass(frozen=True)
class MergeKernels(Pass):
    """Redirect the calls of kernels that differ by name only to the first of them, and erase the others.

    A model's layers repeat the same kernels; each is then scheduled, lowered and compiled once. Run before schedules
    are picked. ::

        call @main_k0(%a, %b)
        call @main_k1(%b, %c)    // same body as @main_k0

    becomes ::

        call @main_k0(%a, %b)
        call @main_k0(%b, %c)
    """

    name: ClassVar[str] = "kc-merge-kernels"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("func",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        first: dict[str, str] = {}
        merged: dict[str, str] = {}
        erased: list[ir.Operation] = []
        rest: list[ir.Operation] = []
        for function in functions(op):
            name = ir.StringAttr(function.attributes["sym_name"]).value
            if "kc.kernel" not in function.attributes or "kc.impl" in function.attributes:
                rest.append(function)
                continue
            body = function.get_asm(use_local_scope=True).replace(f"@{name}(", "@(", 1)
            if body in first:
                merged[name] = first[body]
                erased.append(function)
            else:
                first[body] = name
                rest.append(function)
        if not merged:
            return
        for function in rest:
            for call in walk_ops(function, "func.call"):
                callee = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
                if callee in merged:
                    call.attributes["callee"] = ir.FlatSymbolRefAttr.get(merged[callee])
        for function in erased:
            function.erase()
