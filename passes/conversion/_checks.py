"""Calls that check a condition on sizes while the program runs: a declared function with the attribute ``kc.check``.

``@kc_check_N(%holds, %a, %b)`` ends the program's call with the text in ``kc.check`` when ``%holds`` is false;
``{0}`` and ``{1}`` in the text are the numbers ``%a`` and ``%b``. ``kc-lower-size-checks`` turns it into code.
"""

from __future__ import annotations

from kc.bindings import ir
from kc.passes.conversion._emit import Emitter, Index, int_type

PREFIX = "kc_check_"
#: on an op that stands for another one: the name that messages use
ORIGIN = "kc.origin"


class Checks:
    """Makes checks in one module; equal texts share one declaration."""

    def __init__(self, module: ir.Operation):
        self._module = module
        self._names: dict[str, str] = {}
        for view in module.regions[0].blocks[0].operations:
            if "kc.check" in view.operation.attributes:
                text = ir.StringAttr(view.operation.attributes["kc.check"]).value
                self._names[text] = ir.StringAttr(view.operation.attributes["sym_name"]).value

    def emit(self, e: Emitter, holds: ir.Value, text: str, a: Index = 0, b: Index = 0) -> None:
        """A check at ``e`` that ``holds`` (i1) is true."""
        callee = {"callee": ir.FlatSymbolRefAttr.get(self._declaration(text))}
        e.op("func.call", [holds, e.index(a), e.index(b)], [], callee)

    def _declaration(self, text: str) -> str:
        name = self._names.get(text)
        if name is None:
            symbols = ir.SymbolTable(self._module)
            number = len(self._names)
            while f"{PREFIX}{number}" in symbols:
                number += 1
            name = self._names[text] = f"{PREFIX}{number}"
            index = ir.IndexType.get()
            Emitter(ir.InsertionPoint(self._module.regions[0].blocks[0]), ir.Location.unknown()).op(
                "func.func",
                [],
                [],
                {
                    "sym_name": ir.StringAttr.get(name),
                    "sym_visibility": ir.StringAttr.get("private"),
                    "function_type": ir.TypeAttr.get(ir.FunctionType.get([int_type(1), index, index], [])),
                    "kc.check": ir.StringAttr.get(text),
                },
                regions=1,
            )
        return name


def is_check(op: ir.Operation) -> bool:
    """Whether ``op`` is a call that ``Checks`` made."""
    return op.name == "func.call" and ir.FlatSymbolRefAttr(op.attributes["callee"]).value.startswith(PREFIX)
