"""``kc-merge-kernels``: kernels that do the same are one kernel."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.rewrite import walk_ops


@dataclasses.dataclass(frozen=True)
class MergeKernels(Pass):
    """Keeps one of the kernels that are equal but for their name, and redirects the calls of the others to it.

    A network repeats its layers: everything that follows, schedules, code generation, loading, is done once for all of
    them. Only functions with ``kc.kernel`` are looked at. Upstream's ``duplicate-function-elimination`` also takes
    entry points away. ::

        call @k0(%a, %b)
        call @k1(%b, %c)      // @k1 is @k0 under another name

    becomes ::

        call @k0(%a, %b)
        call @k0(%b, %c)
    """

    name: ClassVar[str] = "kc-merge-kernels"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ()

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        first: dict[str, str] = {}  # text without the name -> name of the kernel that is kept
        merged: dict[str, str] = {}
        duplicates: list[Any] = []
        for function in walk_ops(op, "func.func"):
            if "kc.kernel" not in function.attributes:
                continue
            name = ir.StringAttr(function.attributes["sym_name"]).value
            # locations are not printed, and values are numbered anew in every function
            text = function.get_asm(use_local_scope=True).replace(f"@{name}(", "@(", 1)
            kept = first.setdefault(text, name)
            if kept != name:
                merged[name] = kept
                duplicates.append(function)
        for call in walk_ops(op, "func.call"):
            kept = merged.get(ir.FlatSymbolRefAttr(call.attributes["callee"]).value, "")
            if kept:
                call.attributes["callee"] = ir.FlatSymbolRefAttr.get(kept)
        for function in duplicates:
            function.erase()
