"""Symbols of a module: who defines and who names them."""

from __future__ import annotations

from collections.abc import Mapping

from kc.bindings import ir


def symbol(op: ir.Operation) -> str:
    """The symbol that ``op`` defines."""
    return str(ir.StringAttr(op.attributes["sym_name"]).value)


def symbols(module: ir.Operation) -> set[str]:
    """The symbols that a module defines."""
    block = module.regions[0].blocks[0]
    return {symbol(op.operation) for op in block.operations if "sym_name" in op.operation.attributes}


def lookup(module: ir.Operation, name: str) -> ir.Operation | None:
    """What defines ``name`` directly inside ``module``."""
    for op in module.regions[0].blocks[0].operations:
        if "sym_name" in op.operation.attributes and symbol(op.operation) == name:
            return op.operation
    return None


def free_name(name: str, taken: set[str]) -> str:
    """``name``, with a number behind it where it is taken; it is taken then."""
    number, free = 0, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free


def is_public(function: ir.Operation) -> bool:
    """Whether it is an entry point of the program."""
    if "sym_visibility" not in function.attributes:
        return True
    return bool(ir.StringAttr(function.attributes["sym_visibility"]).value == "public")


def called(op: ir.Operation) -> list[str]:
    """The symbols that ``op`` and the ops inside it name, in order, each once."""
    found: dict[str, None] = {}

    def attribute(value: ir.Attribute) -> None:
        if isinstance(value, ir.FlatSymbolRefAttr):
            found[value.value] = None
        elif isinstance(value, ir.SymbolRefAttr):
            found[value.value[0]] = None
        elif isinstance(value, ir.ArrayAttr):
            for item in value:
                attribute(item)
        elif isinstance(value, ir.DictAttr):
            for entry in value:
                attribute(entry.attr)

    def visit(inner: ir.Operation) -> ir.WalkResult:
        for name in inner.attributes:
            attribute(inner.attributes[name])
        return ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return list(found)


def rename(root: ir.Operation, names: Mapping[str, str]) -> None:
    """Replace references to symbols by others, wherever the ops inside ``root`` name them; definitions stay."""

    def changed(value: ir.Attribute) -> ir.Attribute | None:
        if isinstance(value, ir.FlatSymbolRefAttr):
            new = names.get(value.value)
            return None if new is None else ir.FlatSymbolRefAttr.get(new)
        if isinstance(value, ir.SymbolRefAttr):
            path = list(value.value)
            return None if path[0] not in names else ir.SymbolRefAttr.get([names[path[0]], *path[1:]])
        if isinstance(value, ir.ArrayAttr):
            items = [(item, changed(item)) for item in value]
            return ir.ArrayAttr.get([n or o for o, n in items]) if any(n is not None for _, n in items) else None
        if isinstance(value, ir.DictAttr):
            entries = {entry.name: (entry.attr, changed(entry.attr)) for entry in value}
            if not any(n is not None for _, n in entries.values()):
                return None
            return ir.DictAttr.get({key: n or o for key, (o, n) in entries.items()})
        return None

    def visit(op: ir.Operation) -> ir.WalkResult:
        for name in list(op.attributes):
            new = changed(op.attributes[name])
            if new is not None:
                op.attributes[name] = new
        return ir.WalkResult.ADVANCE

    with root.context:
        root.walk(visit, ir.WalkOrder.PRE_ORDER)
