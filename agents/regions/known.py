"""The contract of a region: what kc knows of its arguments, and what it allows of its numerics."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from kc.agents.contract import ArgumentContract, Contract
from kc.agents.regions import buffers, sizes
from kc.agents.regions.alignment import alignment_facts
from kc.agents.regions.calls import calls_of
from kc.agents.regions.dataflow import argument_facts
from kc.agents.regions.find import BUFFERS, Region
from kc.agents.regions.forms import LARGEST
from kc.agents.regions.numerics import allowances
from kc.agents.regions.ranges import argument_ranges
from kc.agents.regions.symbols import is_public
from kc.bindings import ir
from kc.conditions import parse


def contract_of(
    region: Region,
    target: str = "cpu",
    options: Mapping[str, Any] | None = None,
    remembered: Mapping[str, Contract] | None = None,
) -> Contract:
    """The contract of ``region`` in its program.

    ``remembered``: contracts of the same program further up, by name: of kernels on tensors with ``destinations``, and
    for llvm of functions on buffers. Raises ``buffers.Overlap`` where arguments may share memory in a way that no
    contract can tell.
    """
    function = region.operation
    standing = Contract.of(function)
    allow = frozenset(allowances(region, target, options or {})) | standing.allow
    if region.level == "llvm":
        above = (remembered or {}).get(region.name)
        return standing if above is None else _expanded(function, allow, above)
    kernel = (remembered or {}).get(region.name.removesuffix("__impl"))
    if kernel is not None and len(calls_of(function, region.module)) != 1:
        kernel = _of_some_call(kernel)
    holds = sizes.known(function, region.module)
    if region.level in ("loops", "gpu"):
        arguments = buffers.arguments(region, holds.dims, kernel)
        allow |= kernel.allow if kernel is not None else frozenset()
    else:
        arguments = []
        for value, own, given in zip(
            function.regions[0].blocks[0].arguments, holds.dims, argument_ranges(region), strict=True
        ):
            is_extent = bool(own) and not isinstance(value.type, ir.ShapedType)  # its dimension's range says it all
            arguments.append(ArgumentContract(own, None if is_extent else given))
    for number, told in enumerate(standing.arguments[: len(arguments)]):
        if told.range is not None or told.out or told.inout or told.may_alias is not None:
            own_dims = arguments[number].dims
            arguments[number] = ArgumentContract(own_dims, told.range, told.out, told.inout, told.may_alias)
    ranges = dict(holds.ranges)
    facts = [str(condition) for condition in holds.conditions]
    facts += argument_facts(region, target, options or {})
    if kernel is not None and (kernel.sizes or kernel.facts):  # what was known of the kernel's tensors
        ranges, facts = dict(kernel.sizes), [f for f in kernel.facts if not f.startswith("align(")]
    facts += alignment_facts(region, target)
    promised = not is_public(function)  # what an entry point says is in ``holds``, as far as calls are held to it
    facts = [f for f in standing.facts if promised or parse(f) is None] + facts
    if promised:
        ranges |= standing.sizes
    table = {
        name: ranges.get(name, (0, LARGEST)) for a in arguments for name in a.dims if not name.isdigit()
    }
    return Contract(allow, tuple(dict.fromkeys(facts)), table, tuple(arguments))


def _of_some_call(kernel: Contract) -> Contract:
    """``kernel`` without what was known of one call: equal kernels have become one since (``kc-merge-kernels``)."""
    arguments = tuple(dataclasses.replace(told, dims=(), range=None) for told in kernel.arguments)
    return Contract(kernel.allow, (), {}, arguments)


def _expanded(function: ir.Operation, allow: frozenset[str], told: Contract) -> Contract:
    """``told`` of a function on buffers for the ``llvm.func`` that it became: a buffer's part stands on its pointer."""
    arguments: list[ArgumentContract] = []
    places: list[int] = []
    for text, argument in zip(buffer_types(function), told.arguments, strict=True):
        places.append(len(arguments))
        arguments.append(argument)
        if text.startswith("memref<"):
            rank = ir.MemRefType(ir.Type.parse(text, function.context)).rank
            arguments += [ArgumentContract()] * (2 + 2 * rank)
    for number in places:
        other = arguments[number].may_alias
        if other is not None:
            arguments[number] = dataclasses.replace(arguments[number], may_alias=places[other])
    facts = tuple(_ARGUMENT.sub(lambda match: f"arg{places[int(match[1])]}", fact) for fact in told.facts)
    return Contract(allow | told.allow, facts, told.sizes, tuple(arguments))


#: an argument in a fact
_ARGUMENT = re.compile(r"\barg(\d+)\b")


def buffer_types(function: ir.Operation) -> list[str]:
    """The types in ``kc.buffers``: those of the arguments that the function had on buffers."""
    return [str(ir.StringAttr(item).value) for item in ir.ArrayAttr(function.attributes[BUFFERS])]


def note_buffers(function: ir.Operation) -> None:
    """Write ``kc.buffers`` on a function on buffers, for when it has become an ``llvm.func``."""
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    with function.context:
        function.attributes[BUFFERS] = ir.ArrayAttr.get([ir.StringAttr.get(str(t)) for t in kind.inputs])


def destinations(kernel: ir.Operation, contract: Contract) -> Contract:
    """``contract`` of a kernel on tensors with its destinations marked, as they are once tensors are buffers.

    One that is written whole and never read is ``out``, any other ``inout``.
    """
    from kc.kernels import analyze
    from kc.kernels.expr import General, Load, _Node, walk

    kind = ir.FunctionType(ir.TypeAttr(kernel.attributes["function_type"]).value)
    first = len(kind.inputs) - len(kind.results)
    read = analyze(kernel)
    whole = not isinstance(read, General)
    loads: set[int] = set()
    if whole:
        roots = [output.expr for output in read.outputs]  # type: ignore[attr-defined]
        fields = (getattr(read, field.name) for field in dataclasses.fields(read))
        roots += [value for value in fields if isinstance(value, _Node)]
        loads = {node.arg for node in walk(*roots) if isinstance(node, Load)}
    arguments = []
    for number, told in enumerate(contract.arguments):
        out = number >= first and whole and number not in loads
        arguments.append(dataclasses.replace(told, out=out, inout=number >= first and not out))
    return dataclasses.replace(contract, arguments=tuple(arguments))
