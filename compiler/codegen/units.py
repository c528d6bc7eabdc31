"""A module of the llvm level cut into pieces that are compiled apart.

What a schedule built is vectorised already: LLVM's IR passes find nothing to do there and cost half of the compile
time. General loops need them. So scheduled functions go into one object, without IR passes, everything else into
another.
"""

from __future__ import annotations

import dataclasses

from kc.bindings import ir
from kc.codegen import llvm_ir
from kc.rewrite import walk_ops

#: prefix of the symbols that the runtime looks up
PREFIX = "kc_entry_"


@dataclasses.dataclass(frozen=True)
class Unit:
    """One object to be: its name, LLVM IR text and optimisation level."""

    name: str
    text: str
    opt: str


def split(module: ir.Module, opt: str) -> list[Unit]:
    """``module`` as units; one unit only when there is nothing scheduled or no IR passes are wanted at all.

    Only entry points (``kc_entry_…``) are visible outside the program. Kernels that are called from ``main`` are not
    inlined into it: LLVM's passes take time that grows faster than the length of a function.
    """
    functions = _functions(module)
    callees = {name: _callees(function) for name, function in functions.items()}
    defined = {name for name, function in functions.items() if _is_defined(function)}
    scheduled = _reachable({name for name in defined if "kc.impl" in functions[name].attributes}, callees) & defined
    if not scheduled or opt in ("O0", "codegen-only"):
        return [Unit("main", _text(module, defined, callees), opt)]
    return [
        Unit("main", _text(module, defined - scheduled, callees), opt),
        Unit("kernels", _text(module, scheduled, callees), "codegen-only"),
    ]


def _text(module: ir.Module, keep: set[str], callees: dict[str, set[str]]) -> str:
    """LLVM IR of the functions in ``keep``; the others are declared where they are called."""
    clone = module.operation.clone().operation
    functions = _functions(clone)
    called = {callee for name in keep for callee in callees[name]}
    outside = {callee for name in functions if name not in keep for callee in callees[name]}
    hidden = ir.IntegerAttr.get(ir.IntegerType.get_signless(64, module.context), 1)
    with module.context:
        internal = ir.Attribute.parse("#llvm.linkage<internal>")
        unit = ir.UnitAttr.get()
    for name, function in functions.items():
        if name in keep:
            if "kc.kernel" in function.attributes:
                function.attributes["no_inline"] = unit
            if name in outside:
                function.attributes["visibility_"] = hidden
            elif not name.startswith(PREFIX):
                function.attributes["linkage"] = internal
        elif name not in called:
            function.erase()
        elif _is_defined(function):
            function.attributes["visibility_"] = hidden
            _declare(function)
    return llvm_ir.translate(clone)


def _reachable(roots: set[str], callees: dict[str, set[str]]) -> set[str]:
    """``roots`` and what they call, directly or not."""
    seen, stack = set(roots), list(roots)
    while stack:
        for callee in callees[stack.pop()]:
            if callee in callees and callee not in seen:
                seen.add(callee)
                stack.append(callee)
    return seen


def _callees(function: ir.Operation) -> set[str]:
    """Functions and globals that ``function`` names."""
    found: set[str] = set()
    for op in walk_ops(function, ("llvm.call", "llvm.mlir.addressof")):
        attribute = "callee" if op.name == "llvm.call" else "global_name"
        if attribute in op.attributes:
            found.add(ir.FlatSymbolRefAttr(op.attributes[attribute]).value)
    return found


def _declare(function: ir.Operation) -> None:
    """Replace a definition by a declaration of the same function."""
    if not _is_defined(function):
        return
    with function.context:
        attributes = {name: function.attributes[name] for name in function.attributes}
        attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<external>", function.context)
        ir.Operation.create(
            function.name,
            attributes=attributes,
            regions=1,
            loc=function.location,
            ip=ir.InsertionPoint(function),
        )
        function.erase()


def _functions(module: ir.Module | ir.Operation) -> dict[str, ir.Operation]:
    block = module.operation.regions[0].blocks[0]
    return {
        ir.StringAttr(op.operation.attributes["sym_name"]).value: op.operation
        for op in block.operations
        if op.operation.name == "llvm.func"
    }


def _is_defined(function: ir.Operation) -> bool:
    return len(function.regions[0].blocks) > 0
