"""A region compiled alone, as it is or with a proposal in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kc.agents.realize.realized import Realized, splice

if TYPE_CHECKING:
    from kc.agents.protocol import Proposal
    from kc.api import Executable
    from kc.bindings import ir


def build(region_ir: str, realized: Realized | None = None, target: str = "cpu") -> Executable:
    """An executable whose entry ``main`` is the region, with ``realized`` in the region's place when it is given.

    What ``kc.compile`` makes of the region, so the proposal runs as it would inside a program. A kernel's destinations
    are arguments whose values count only where the kernel reads them, and results. Raises what ``kc.compile`` raises.
    """
    from kc.agents.realize.region import is_kernel, parse_source
    from kc.api import compile_loaded
    from kc.frontends import load

    held = parse_source(region_ir)  # attributes are read while it lives
    kernel = is_kernel(held.function)
    if realized is not None and (realized.guarded or realized.answer is None):
        region_ir, realized = realized.guarded or realized.ir, None
    source = parse_source(region_ir)
    function = source.function
    with source.module.context:
        if kernel:
            give_entry(function)
        if realized is not None and realized.answer is not None:
            splice(function, realized)
    return compile_loaded(load(source.module, "main"), target, "main")


def build_asm(region_ir: str, proposal: Proposal, target: str, device: str | None = None) -> tuple[Executable, str]:
    """``build`` of a region with the PTX of one device module edited as ``proposal`` says; and that PTX as it was.

    ``device`` names the module; it may be left out where there is one only. Raises InputError when there is none of
    that name, RealizeError when the PTX cannot take its place.
    """
    from kc.agents.realize.asm import asm
    from kc.agents.realize.realized import splice_ptx
    from kc.api import Executable
    from kc.errors import InputError
    from kc.targets import get_target
    from kc.targets.nvptx import split

    chosen = get_target(target)
    whole = build(region_ir, None, target)
    module = whole._source.lowered("llvm")
    names = list(split(module)[1])
    if device is None and len(names) == 1:
        (device,) = names
    if device not in names:
        raise InputError(f"there is no device module {device!r}: {', '.join(names) or 'none'}")
    before = ptx_text(module, device, chosen)
    realized = asm(before, proposal, target)
    for view in module.body.operations:
        op = view.operation
        if op.name == "gpu.module" and str(op.attributes["sym_name"]).strip('"') == device:
            splice_ptx(op, realized)
    manifest, files = chosen.generate(module, {})
    return Executable(manifest, files, "main", whole._source), before


def ptx_text(module: ir.Module, device: str, target: Any) -> str:
    """The PTX of device module ``device`` of a program at the llvm level."""
    from kc.codegen import llvm_ir
    from kc.targets.nvptx import ptx_of, split

    op = split(module)[1][device]
    return ptx_of(op) or target.ptx(llvm_ir.translate(op))


def device_ptx(region_ir: str, target: str = "nvptx:sm_90a") -> dict[str, str]:
    """The PTX of each device module of a region compiled as it is, by name: what a proposal at level ``asm`` edits."""
    from kc.targets import get_target
    from kc.targets.nvptx import split

    module = build(region_ir, None, target)._source.lowered("llvm")
    return {name: ptx_text(module, name, get_target(target)) for name in split(module)[1]}


def give_entry(kernel: ir.Operation) -> None:
    """Rename a kernel and put a public ``@main`` beside it that calls it."""
    from kc.bindings import ir

    assert kernel.parent is not None
    block = kernel.parent.operation.regions[0].blocks[0]
    kernel.attributes["sym_name"] = ir.StringAttr.get("region")
    kernel.attributes["kc.kernel"] = ir.UnitAttr.get()
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
