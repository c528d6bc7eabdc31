"""Calls of functions outside of the program, on whole tensors: how a conversion out of StableHLO writes one.

A host call is a ``func.call`` of a private declaration on tensors, in destination-passing style: inputs first, then one
destination per result. Calls keep their order and are never removed. ``kc-bind-host-calls`` makes it a call of
libkc_runtime once the analysis of buffers has to know what it reads and writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kc.bindings import ir
from kc.passes.conversion._emit import Emitter, Index

#: on a declaration: the function of libkc_runtime that is called
CALLEE = "kc.host_call"
#: on a declaration: the i64 words that the function gets before those of the buffers
WORDS = "kc.host_words"


def host_call(
    e: Emitter,
    callee: str,
    words: Sequence[int],
    inputs: Sequence[ir.Value],
    results: Sequence[ir.Type],
    extents: Sequence[Sequence[Index]],
    aliases: Mapping[int, int] | None = None,
    attributes: Mapping[str, ir.Attribute] | None = None,
) -> list[ir.Value]:
    """Emits ``callee(words, inputs) -> results``; all tensors, row-major in memory.

    ``extents``: those of each result. ``aliases``: result -> input whose old value the callee finds in the result's
    buffer; that input is then not passed on its own. ``attributes`` go to the declaration.
    """
    aliases = aliases or {}
    taken = set(aliases.values())
    if len(taken) != len(aliases):
        raise ValueError("two results cannot be made in the buffer of one input")
    passed = [value for number, value in enumerate(inputs) if number not in taken]
    destinations = [
        e.cast(inputs[aliases[number]], type_) if number in aliases else e.empty(type_, sizes)
        for number, (type_, sizes) in enumerate(zip(results, extents, strict=True))
    ]
    operands = [*passed, *destinations]
    name = _declare(e, callee, words, [v.type for v in operands], list(results), attributes or {})
    return list(e.op("func.call", operands, list(results), {"callee": ir.FlatSymbolRefAttr.get(name)}).results)


def _declare(
    e: Emitter,
    callee: str,
    words: Sequence[int],
    inputs: list[ir.Type],
    results: list[ir.Type],
    attributes: Mapping[str, ir.Attribute],
) -> str:
    """The name of a new declaration at the end of the module, free of the names that are there."""
    module = e.ip.block.owner
    while module.operation.parent is not None:
        module = module.operation.parent
    body = module.operation.regions[0].blocks[0]
    names = {
        ir.StringAttr(op.operation.attributes["sym_name"]).value
        for op in body.operations
        if "sym_name" in op.operation.attributes
    }
    name = next(n for n in (f"{callee}_{k}" for k in range(len(names) + 1)) if n not in names)
    ir.Operation.create(
        "func.func",
        attributes={
            "sym_name": ir.StringAttr.get(name),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, results)),
            "sym_visibility": ir.StringAttr.get("private"),
            CALLEE: ir.StringAttr.get(callee),
            WORDS: ir.DenseI64ArrayAttr.get(list(words)),
            **attributes,
        },
        regions=1,
        loc=e.loc,
        ip=ir.InsertionPoint(body),
    )
    return name
