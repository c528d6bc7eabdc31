"""Who calls a function of a module, and what holds where the call stands."""

from __future__ import annotations

from kc.agents.regions.symbols import called, is_public, symbol
from kc.bindings import ir
from kc.rewrite import walk_ops

#: ops besides ``func.call`` that run a function which they name
_OTHERS = ("func.constant", "stablehlo.composite", "stablehlo.custom_call", "stablehlo.async_start",
           "gpu.launch_func", "llvm.call")  # fmt: skip


def calls_of(function: ir.Operation, module: ir.Operation) -> list[ir.Operation]:
    """All calls of a private function; none where something else may run it, too: then nothing follows from them."""
    if function.name != "func.func" or is_public(function):
        return []
    name = symbol(function)
    if any(name in called(op) for op in walk_ops(module, _OTHERS)):
        return []
    return [c for c in walk_ops(module, "func.call") if ir.FlatSymbolRefAttr(c.attributes["callee"]).value == name]


def is_called(function: ir.Operation, module: ir.Operation) -> bool:
    """Whether anything inside ``module`` names the function."""
    name = symbol(function)
    return any(name in called(op) for op in walk_ops(module, ("func.call", *_OTHERS)))


def caller_of(call: ir.Operation) -> ir.Operation | None:
    """The function in which ``call`` stands; None where that is no ``func.func`` of one block."""
    op: ir.Operation | None = call
    while op is not None and op.name != "func.func":
        op = _parent(op)
    return op if op is not None and len(op.regions[0].blocks) == 1 else None


def before(call: ir.Operation, function: ir.Operation) -> list[ir.Operation]:
    """The ops of the function's own block that have run when ``call`` runs, in order."""
    body = function.regions[0].blocks[0]
    op = call
    while op.block != body:
        outer = _parent(op)
        assert outer is not None
        op = outer
    found = []
    for view in body.operations:
        if view.operation == op:
            break
        found.append(view.operation)
    return found


def _parent(op: ir.Operation) -> ir.Operation | None:
    return None if op.parent is None else op.parent.operation
