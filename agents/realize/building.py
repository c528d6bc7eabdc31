"""A region compiled alone, as it is or with a proposal in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kc.agents.realize.realized import Realized, splice

if TYPE_CHECKING:
    from kc.api import Executable
    from kc.bindings import ir


def build(region_ir: str, realized: Realized | None = None, target: str = "cpu") -> Executable:
    """An executable whose entry ``main`` is the region, with ``realized`` in the region's place when it is given.

    What ``kc.compile`` makes of the region, so the proposal runs as it would inside a program. A kernel's destinations
    are arguments whose values count only where the kernel reads them, and results. Raises what ``kc.compile`` raises.
    """
    from kc.agents.realize.region import parse_source
    from kc.api import compile_loaded
    from kc.frontends import load

    if realized is not None and realized.answer is None:
        region_ir = realized.ir
    source = parse_source(region_ir)
    function = source.function
    with source.module.context:
        if "kc.kernel" in function.attributes:
            _give_entry(function)
        if realized is not None and realized.answer is not None:
            splice(function, realized)
    return compile_loaded(load(source.module, "main"), target, "main")


def _give_entry(kernel: ir.Operation) -> None:
    """Rename a kernel and put a public ``@main`` beside it that calls it."""
    from kc.bindings import ir

    assert kernel.parent is not None
    block = kernel.parent.operation.regions[0].blocks[0]
    kernel.attributes["sym_name"] = ir.StringAttr.get("region")
    kernel.attributes["sym_visibility"] = ir.StringAttr.get("private")
    kind = ir.TypeAttr(kernel.attributes["function_type"])
    function_type = ir.FunctionType(kind.value)
    attributes: dict[str, ir.Attribute] = {"sym_name": ir.StringAttr.get("main"), "function_type": kind}
    with kernel.location:
        made = ir.Operation.create("func.func", attributes=attributes, regions=1, ip=ir.InsertionPoint(block))
        inputs = list(function_type.inputs)
        body = made.regions[0].blocks.append(*inputs, arg_locs=[kernel.location] * len(inputs))
        with ir.InsertionPoint(body):
            call = ir.Operation.create(
                "func.call",
                list(function_type.results),
                list(body.arguments),
                {"callee": ir.FlatSymbolRefAttr.get("region")},
            )
            ir.Operation.create("func.return", [], list(call.results))
