"""Answers: code for a function that stands further down the ladder than the function, kept beside it as text.

A function of tensors with the string attribute ``kc.answer`` is one whose code is known already: the text of a module
whose ``@main`` computes what the function computes. The function's own body stays as the reference, which passes on
tensors (bufferization above all) read. Two passes put an answer in its place when the program has come down to it:

- ``kc-bind-answers``, where linalg begins: an answer on tensors becomes the function's body. One on buffers makes the
  function a kernel, in destination-passing style.
- ``kc-place-answers``, where kernels' bodies have become buffers: an answer on buffers becomes the function's body.

``@main`` of an answer on buffers takes the function's arguments as memrefs of identity layout (scalars as they are),
then one memref per result unless the function is in destination-passing style already, and returns nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kc.context import parse_module
from kc.errors import InputError

if TYPE_CHECKING:
    from kc.bindings import ir

#: on a function: text of the module with its code
ANSWER = "kc.answer"
#: on an llvm.func: assembly that defines its symbol, hidden, and takes the place of its body
ASM = "kc.asm"
#: on a gpu.module: PTX text that takes the place of its ops, whose kernels are declarations
PTX = "kc.ptx"


def names_of(module: ir.Operation) -> dict[str, ir.Operation]:
    """The symbols of a module (``builtin.module``) by name."""
    from kc.bindings import ir

    return {
        ir.StringAttr(op.operation.attributes["sym_name"]).value: op.operation
        for op in module.regions[0].blocks[0].operations
        if "sym_name" in op.operation.attributes
    }


def answered(module: ir.Operation) -> list[ir.Operation]:
    """The functions of a module that have an answer. Looks at no function's body."""
    from kc.bindings import ir

    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner == module:
            return ir.WalkResult.ADVANCE
        if inner.name == "func.func" and ANSWER in inner.attributes:
            found.append(inner.operation)
        return ir.WalkResult.SKIP

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def parse_answer(function: ir.Operation) -> tuple[ir.Module, ir.Operation]:
    """The module of a function's answer, and its ``@main``. Raises InputError when the text is no such module."""
    from kc.bindings import ir

    name = ir.StringAttr(function.attributes["sym_name"]).value
    text = ir.StringAttr(function.attributes[ANSWER]).value
    module = parse_module(text, function.context, f"answer of @{name}")
    main = names_of(module.operation).get("main")
    if main is None or main.name != "func.func" or not len(main.regions[0].blocks):
        raise InputError(f"the answer of '@{name}' has no func.func @main with a body")
    return module, main


def on_buffers(main: ir.Operation) -> bool:
    """Whether an answer's ``@main`` stands on memrefs."""
    from kc.bindings import ir

    kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    return not any(isinstance(type_, ir.RankedTensorType) for type_ in (*kind.inputs, *kind.results))


def place(function: ir.Operation, answer: ir.Module, main: ir.Operation) -> ir.Operation:
    """Put an answer's ``@main`` in the place of ``function``, under its name, and what it uses beside it.

    Other symbols of the answer get names that begin with the function's. A function without a body that the program
    declares too (the runtime's) is declared once. Returns what took the place.
    """
    from kc.bindings import ir

    name = ir.StringAttr(function.attributes["sym_name"]).value
    outer = function.parent
    assert outer is not None
    program = outer.operation
    block = program.regions[0].blocks[0]
    taken = set(names_of(program))
    _number_calls(program, answer.operation)
    for old, op in names_of(answer.operation).items():
        if old == "main":
            continue
        external = _is_external(op)
        if external and old in taken:
            op.erase()
            continue
        new = old if external else _fresh(f"{name}__{old}", taken)
        taken.add(new)
        if new != old:
            ir.SymbolTable.replace_all_symbol_uses(old, new, answer.operation)
            ir.SymbolTable.set_symbol_name(op, new)
    if "gpu.container_module" in answer.operation.attributes:
        program.attributes["gpu.container_module"] = ir.UnitAttr.get(program.context)
    ir.SymbolTable.replace_all_symbol_uses("main", name, answer.operation)
    ir.SymbolTable.set_symbol_name(main, name)
    if "sym_visibility" in function.attributes:
        main.attributes["sym_visibility"] = function.attributes["sym_visibility"]
    function.erase()
    for op in [view.operation for view in answer.body.operations]:
        op.detach_from_parent()
        block.append(op)
    return main


def _number_calls(program: ir.Operation, answer: ir.Operation) -> None:
    """Give the custom calls of an answer numbers that are free in the program.

    A call is a function with ``kc.custom_call`` (its entry of the manifest); the constant that passes the number has
    the attribute ``kc.number``.
    """
    import json

    from kc.bindings import ir
    from kc.rewrite import walk_ops

    def calls(module: ir.Operation) -> list[ir.Operation]:
        return [op for op in names_of(module).values() if "kc.custom_call" in op.attributes]

    used = [json.loads(ir.StringAttr(op.attributes["kc.custom_call"]).value)["number"] for op in calls(program)]
    number = max(used, default=-1) + 1
    for function in calls(answer):
        described = json.loads(ir.StringAttr(function.attributes["kc.custom_call"]).value) | {"number": number}
        with function.context:
            function.attributes["kc.custom_call"] = ir.StringAttr.get(json.dumps(described))
            for constant in walk_ops(function, "arith.constant"):
                if "kc.number" in constant.attributes:
                    kind = constant.results[0].type
                    constant.attributes["value"] = ir.IntegerAttr.get(kind, number)
                    del constant.attributes["kc.number"]
        number += 1


def _is_external(op: ir.Operation) -> bool:
    """Whether ``op`` declares a function of the runtime: it has neither a body nor a kernel that it stands for."""
    return op.name in ("func.func", "llvm.func") and not len(op.regions[0].blocks) and "kc.launch" not in op.attributes


def _fresh(name: str, taken: set[str]) -> str:
    number = 0
    while (made := f"{name}_{number}" if number else name) in taken:
        number += 1
    return made
