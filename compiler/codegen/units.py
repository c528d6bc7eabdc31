"""A module of the llvm level cut into pieces that are compiled apart.

What a schedule built is vectorised already: LLVM's IR passes find nothing to do there and cost half of the compile time.
General loops need them. So scheduled functions go into one object, without IR passes, everything else into another.
"""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from kc.bindings import ir
from kc.codegen import llvm_ir
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclasses.dataclass(frozen=True)
class Unit:
    """One object to be: its name, LLVM IR text and optimisation level."""

    name: str
    text: str
    opt: str


def split(module: ir.Module, opt: str) -> list[Unit]:
    """``module`` as units; one unit only when there is nothing scheduled or no IR passes are wanted at all."""
    functions = _functions(module)
    scheduled = {name for name, function in functions.items() if "kc.impl" in function.attributes}
    if not scheduled or opt in ("O0", "codegen-only"):
        return [Unit("main", llvm_ir.translate(module.operation), opt)]
    general = {name for name, function in functions.items() if _is_defined(function)} - scheduled
    return [
        Unit("main", _text(module, general), opt),
        Unit("kernels", _text(module, scheduled), "codegen-only"),
    ]


def _text(module: ir.Module, keep: Iterable[str]) -> str:
    """LLVM IR of the functions in ``keep``; the others are declared where they are called."""
    clone = module.operation.clone().operation
    kept = set(keep)
    functions = _functions(clone)
    called: set[str] = set()
    for name in kept:
        for op in walk_ops(functions[name]):
            for attribute in ("callee", "global_name"):
                if attribute in op.attributes:
                    called.add(ir.FlatSymbolRefAttr(op.attributes[attribute]).value)
    for name, function in functions.items():
        if name in kept:
            continue
        if name in called:
            _declare(function)
        else:
            function.erase()
    return llvm_ir.translate(clone)


def _declare(function: ir.Operation) -> None:
    """Replace a definition by a declaration of the same function."""
    if not _is_defined(function):
        return
    with function.context:
        attributes = {name: function.attributes[name] for name in function.attributes}
        attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<external>")
        ir.Operation.create(
            function.name,
            attributes=attributes,
            regions=1,
            loc=function.location,
            ip=ir.InsertionPoint(function),
        )
        function.erase()


def _functions(module: ir.Module | ir.Operation) -> dict[str, ir.Operation]:
    return {
        ir.StringAttr(function.attributes["sym_name"]).value: function
        for function in walk_ops(module.operation, "llvm.func")
    }


def _is_defined(function: ir.Operation) -> bool:
    return len(function.regions[0].blocks) > 0
