"""The functions of a module, without a walk through their bodies."""
from __future__ import annotations

from kc.bindings import ir


def functions(root: ir.Operation, name: str = "func.func") -> list[ir.Operation]:
    """``root`` itself when it is a function called ``name``, else those directly inside the module ``root``."""
    if root.name == name:
        return [root]
    if root.name != "builtin.module":
        return []
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner == root:
            return ir.WalkResult.ADVANCE
        if inner.name == name:
            found.append(inner.operation)
        return ir.WalkResult.SKIP

    root.walk(visit, ir.WalkOrder.PRE_ORDER)  # iterating would make OpViews, and import the dialect's Python module
    return found


def unscheduled(root: ir.Operation) -> list[ir.Operation]:
    """``root`` or its functions, without what schedules built: that is code on buffers already, and much of it."""
    if root.name != "builtin.module":
        return [root]
    return [function for function in functions(root) if not is_implementation(function)]


def is_implementation(function: ir.Operation) -> bool:
    """Whether a schedule built ``function`` (a kernel that has an implementation names it instead)."""
    return "kc.impl" in function.attributes and isinstance(function.attributes["kc.impl"], ir.UnitAttr)
