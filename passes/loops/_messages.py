"""Texts for the runtime's failure functions, as constants of the module."""

from __future__ import annotations

from collections.abc import Sequence

from kc.bindings import ir

_PREFIX = "kc_message_"


def declare(module: ir.Operation, name: str, arguments: str) -> None:
    """Declare the runtime's function ``name`` unless the module has it."""
    if name in ir.SymbolTable(module):
        return
    parsed = ir.Module.parse(f"func.func private @{name}{arguments}")  # the op does not keep its module alive
    first = ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0])
    parsed.body.operations[0].operation.clone(ip=first)


class Messages:
    """The texts of one pass over a module: equal ones share a constant."""

    def __init__(self, module: ir.Operation):
        self._body = module.regions[0].blocks[0]
        self._taken = ir.SymbolTable(module)
        self._names: dict[str, str] = {}

    def call(self, function: str, text: str, operands: Sequence[ir.Value] = ()) -> None:
        """``function(text, operands...)`` at the ambient insertion point and location."""
        address = ir.Operation.create(
            "llvm.mlir.addressof",
            results=[ir.Type.parse("!llvm.ptr")],
            attributes={"global_name": ir.FlatSymbolRefAttr.get(self._constant(text))},
        ).result
        callee = {"callee": ir.FlatSymbolRefAttr.get(function)}
        ir.Operation.create("func.call", results=[], operands=[address, *operands], attributes=callee)

    def _constant(self, text: str) -> str:
        name = self._names.get(text)
        if name is not None:
            return name
        number = len(self._names)
        while f"{_PREFIX}{number}" in self._taken:
            number += 1
        name = self._names[text] = f"{_PREFIX}{number}"
        data = text.encode() + b"\0"
        made = ir.Operation.create(
            "llvm.mlir.global",
            regions=1,
            attributes={
                "sym_name": ir.StringAttr.get(name),
                "global_type": ir.TypeAttr.get(ir.Type.parse(f"!llvm.array<{len(data)} x i8>")),
                "value": ir.StringAttr.get(data),
                "constant": ir.UnitAttr.get(),
                "linkage": ir.Attribute.parse("#llvm.linkage<internal>"),
                "addr_space": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 0),
            },
            ip=ir.InsertionPoint.at_block_begin(self._body),
        )
        self._taken.insert(made)
        return name
