"""Regions of the levels llvm and asm as programs that can be called: an entry on buffers round the function itself."""
from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from kc.agents.contract import ArgumentContract, Contract
from kc.agents.measure import prepare
from kc.errors import InputError

if TYPE_CHECKING:
    from kc.bindings import ir

#: name of the region's function in its program
_INNER = "region"


def surface(text: str) -> str:
    """A module of the loops level whose ``@main`` takes what the region takes, as buffers, under the same contract.

    It calls a function without a body that stands for the region: ``text``, a module of the llvm level whose ``@main``
    has ``kc.buffers``. Raises InputError for a region that gives results, or does not say what its arguments are.
    """
    from kc.bindings import ir
    from kc.context import make_context, parse_module

    held = prepare.parse(text)
    inner = _function(held)
    types = _types(inner)
    arguments = ", ".join(f"%a{n}: {kind}" for n, kind in enumerate(types))
    made = parse_module(
        f"func.func private @{_INNER}({', '.join(types)})\n"
        f"func.func @main({arguments}) {{\n"
        f"  call @{_INNER}({', '.join(f'%a{n}' for n in range(len(types)))}) : ({', '.join(types)}) -> ()\n"
        "  return\n}",
        make_context(),
        "surface",
    )
    _grouped(inner, types).write(prepare.entry(made))
    with made.context:
        assert isinstance(made, ir.Module)
        return str(made.operation.get_asm(enable_debug_info=False))


def build(text: str, target: str, code: str | None = None) -> prepare.Artifact:
    """A program of the region ``text``, a module of the llvm level; ``code``: assembly in place of its function's body.

    Raises what ``prepare.build`` raises.
    """
    from kc.agents.realize.x86.lines import renamed
    from kc.answers import ASM, place
    from kc.bindings import ir
    from kc.context import parse_module
    from kc.pipelines.run import run_phases
    from kc.targets import get_target

    module, chosen = prepare.parse(surface(text)), get_target(target)
    main = prepare.entry(module)
    with module.context:
        main.attributes["kc.signature"] = ir.StringAttr.get(json.dumps(prepare.signature(main)))
    run_phases(module, [phase for phase in chosen.phases() if phase.start != "linalg"])
    region = parse_module(text, module.context, "region")
    placed = place(_function(module, _INNER), region, _function(region))
    if code is not None:
        with module.context:
            placed.attributes[ASM] = ir.StringAttr.get(renamed(code, "main", _INNER))
    return chosen.generate(module, {})


def _function(module: ir.Module, name: str = "main") -> ir.Operation:
    from kc.bindings import ir

    for op in module.body.operations:
        operation = op.operation
        if operation.name == "llvm.func" and ir.StringAttr(operation.attributes["sym_name"]).value == name:
            return operation
    raise InputError(f"the module has no llvm.func @{name}")


def _types(function: ir.Operation) -> list[str]:
    """The types of a function's arguments as buffers."""
    from kc.bindings import ir

    if "kc.buffers" not in function.attributes:
        raise InputError("@main does not say in 'kc.buffers' what its arguments are")
    if "-> " in str(function.attributes["function_type"]) or "<void " not in str(function.attributes["function_type"]):
        raise InputError("a region that gives results cannot be called here")
    return [str(ir.StringAttr(item).value) for item in ir.ArrayAttr(function.attributes["kc.buffers"])]


def _grouped(function: ir.Operation, types: list[str]) -> Contract:
    """The contract with one argument per buffer: what is said of a buffer stands on its first word."""
    from kc.agents.execution.signature import kind_of

    contract = Contract.of(function)
    firsts, at = [], 0
    for text in types:
        firsts.append(at)
        at += kind_of(text).words
    arguments: list[ArgumentContract] = []
    for first in firsts:
        told = contract.arguments[first]
        shared = firsts.index(told.may_alias) if told.may_alias in firsts else None
        arguments.append(dataclasses.replace(told, may_alias=shared))
    return dataclasses.replace(contract, arguments=tuple(arguments))
