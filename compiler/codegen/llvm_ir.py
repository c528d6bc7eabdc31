"""From a module of the llvm level to LLVM IR text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kc.codegen.downgrade import downgrade
from kc.diagnostics import Diagnostic, location_of
from kc.errors import UnsupportedError

if TYPE_CHECKING:
    from kc.bindings import ir

__all__ = ["PREFIX", "check_translatable", "downgrade", "functions", "translate"]

#: prefix of the symbols that the runtime looks up, those of the entry points
PREFIX = "kc_entry_"

# Dialects that MLIR's translation to LLVM IR knows, as registered in this wheel and used by kc.
_TRANSLATABLE = ("llvm.", "omp.", "nvvm.", "rocdl.")
_ALSO = frozenset({"builtin.module", "gpu.module"})


def functions(module_op: ir.Operation) -> list[ir.Operation]:
    """The ``llvm.func`` ops directly inside ``module_op``, without a walk through their bodies (and without OpViews,
    which would import MLIR's Python module of the dialect: 0.2 s)."""
    from kc.bindings import ir

    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner == module_op:
            return ir.WalkResult.ADVANCE
        if inner.name == "llvm.func":
            found.append(inner.operation)
        return ir.WalkResult.SKIP

    module_op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def check_translatable(op: ir.Operation) -> None:
    """Raise ``UnsupportedError`` naming the first op of ``op`` that has no translation to LLVM IR.

    The native translation does not check: it dereferences null on such an op and takes the process with it.
    """
    from kc.bindings import ir

    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        name = inner.name
        if name.startswith(_TRANSLATABLE) or name in _ALSO:
            return ir.WalkResult.ADVANCE
        found.append(inner)
        return ir.WalkResult.INTERRUPT

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    if found:
        place = location_of(found[0])
        message = f"'{found[0].name}' cannot be translated to LLVM IR"
        note = Diagnostic("note", place, "run the remaining phases of the target's road first (kc phases lists them)")
        raise UnsupportedError(
            f"{message} (at {place or 'an unknown place'}): every op must be of the llvm level: llvm, omp, nvvm",
            (Diagnostic("error", place, message, (note,)),),
        )


def translate(module_op: ir.Operation) -> str:
    """LLVM IR text, as LLVM 22 reads it, of ``module_op`` (a ``builtin.module`` or ``gpu.module`` at the llvm level).

    Raises ``UnsupportedError`` when an op has no translation.
    """
    from kc.bindings import llvm

    check_translatable(module_op)
    return downgrade(llvm.translate_module_to_llvmir(module_op.operation))
