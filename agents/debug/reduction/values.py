"""What can stand in for a value that goes away."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kc.agents.debug.reduction.case import Draft
from kc.bindings import ir

#: in which order stand-ins are tried: ``operand`` (of the op, or an argument of a block around it), ``constant``
#: (zero), ``argument`` (a new one of ``@main``)
MODES = ("operand", "constant", "argument")


def stand_in(draft: Draft, op: ir.Operation, result: ir.Value, mode: str) -> ir.Value:
    """A value of the type of ``result`` that may replace it; raises ValueError when there is none."""
    order = (mode, *(other for other in MODES if other != mode))
    for each in order:
        found = _MAKERS[each](draft, op, result)
        if found is not None:
            return found
    raise ValueError(f"nothing can stand in for a value of type {result.type}")


def _operand(draft: Draft, op: ir.Operation, result: ir.Value) -> ir.Value | None:
    for operand in (*op.operands, *_arguments_around(op)):
        if operand.type == result.type:
            return operand
    return None


def _arguments_around(op: ir.Operation) -> Iterator[ir.Value]:
    """Arguments of the blocks around ``op`` up to its function, innermost first."""
    block = op.block
    while True:
        owner = block.owner.operation
        yield from (block.arguments if block == owner.regions[0].blocks[0] or len(owner.regions[0].blocks) == 1 else ())
        if owner.name in ("func.func", "builtin.module", "gpu.func", "llvm.func") or owner.parent is None:
            return
        block = owner.block


def _constant(draft: Draft, op: ir.Operation, result: ir.Value) -> ir.Value | None:
    value = zero_attribute(result.type)
    if value is None:
        return None
    with ir.InsertionPoint.at_block_begin(_entry_block(op)), op.location:
        return zero_op(draft, op, result.type, value)


def zero_op(draft: Draft, op: ir.Operation, kind: ir.Type, value: ir.Attribute) -> ir.Value | None:
    """A constant op for ``value`` at the insertion point, of the dialect that suits the module."""
    text = str(kind)
    if text.startswith("complex<"):
        return None
    graph = isinstance(kind, ir.RankedTensorType) and _is_graph(draft)
    name = "stablehlo.constant" if graph else "llvm.mlir.constant" if _is_llvm(op) else "arith.constant"
    if name == "arith.constant" and "complex<" in text:
        return None
    made = ir.Operation.create(name, results=[kind], attributes={"value": value})
    return made.results[0]


def zero_attribute(kind: ir.Type) -> ir.Attribute | None:
    """Zero of a type as an attribute; None for a type that has none."""
    text = str(kind)
    if isinstance(kind, ir.RankedTensorType) or text.startswith("vector<"):
        if "?" in text or "[" in text:
            return None
        element = str(ir.ShapedType(kind).element_type)
        zero = "(0.0, 0.0)" if element.startswith("complex") else "false" if element == "i1" else _zero(element)
        return ir.Attribute.parse(f"dense<{zero}> : {text}") if zero else None
    if text == "i1":
        return ir.BoolAttr.get(False)
    zero = _zero(text)
    return ir.Attribute.parse(f"{zero} : {text}") if zero else None


def _zero(element: str) -> str | None:
    if element == "index" or element.lstrip("su").startswith("i"):
        return "0"
    return "0.0" if element.startswith(("f", "bf")) else None


def _is_graph(draft: Draft) -> bool:
    return "stablehlo." in str(draft.module.operation.get_asm(large_elements_limit=0))


def _is_llvm(op: ir.Operation) -> bool:
    return op.name.startswith("llvm.")


def _entry_block(op: ir.Operation) -> ir.Block:
    """The first block of the innermost region around ``op`` that values cannot enter."""
    block = op.block
    while not block.owner.operation.has_trait(ir.IsIsolatedFromAboveTrait):
        block = block.owner.operation.block
    return block.owner.operation.regions[0].blocks[0] if len(block.owner.operation.regions) == 1 else block


def _argument(draft: Draft, op: ir.Operation, result: ir.Value) -> ir.Value | None:
    """A new argument of ``@main``, with an input drawn for it."""
    main = draft.main()
    if main is None or _function_of(op) != main:
        return None
    array = None
    if draft.inputs is not None:
        array = drawn(str(result.type), len(draft.inputs))
        if array is None:
            return None
    block = main.regions[0].blocks[0]
    kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([*kind.inputs, result.type], kind.results))
    if "arg_attrs" in main.attributes:
        given = ir.ArrayAttr(main.attributes["arg_attrs"])
        main.attributes["arg_attrs"] = ir.ArrayAttr.get([*given, ir.DictAttr.get({})])
    if draft.inputs is not None:
        draft.inputs.append(array)
    return block.add_argument(result.type, op.location)


def _function_of(op: ir.Operation) -> ir.Operation:
    around = op
    while around.name not in ("func.func", "gpu.func", "llvm.func") and around.parent is not None:
        around = around.parent.operation
    return around


def drawn(text: str, seed: int) -> np.ndarray[Any, Any] | None:
    """An array for a value of that type, None where an array cannot be one."""
    from kc.agents.debug.inputs import _draw
    from kc.agents.execution.errors import ExecutionError
    from kc.agents.execution.signature import kind_of

    try:
        kind = kind_of(text)
        return None if kind.form == "pointer" else _draw(kind, np.random.default_rng(seed), 4)
    except ExecutionError:
        return None


_MAKERS = {"operand": _operand, "constant": _constant, "argument": _argument}
