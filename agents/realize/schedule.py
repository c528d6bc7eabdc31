"""``schedule``: a kernel's implementation from other knobs, or by a transform script."""

from __future__ import annotations

from typing import Any

from kc.agents.protocol import Proposal, ProtocolError
from kc.agents.realize.knob_space import SCHEDULE, knobs_of
from kc.agents.realize.realized import Realized, RealizeError
from kc.agents.realize.region import Source

#: what the road does to implementations between schedules and their place: buffers that they make are freed
_SETTLE = (
    "builtin.module(kc-canonicalize,cse,func.func(ownership-based-buffer-deallocation,kc-canonicalize,"
    "buffer-deallocation-simplification),bufferization-lower-deallocations,cse,kc-canonicalize,"
    "convert-bufferization-to-memref)"
)

#: what schedules build with
_DIALECTS = ("arith", "cf", "func", "gpu", "llvm", "math", "memref", "nvvm", "scf", "vector")


def schedule(region: Source, proposal: Proposal, level: str, target: str) -> Realized:
    """The implementation that a schedule builds for a kernel. Raises ProtocolError for knobs that are not its own."""
    if proposal.script is not None:
        from kc.agents.realize.transform import transform

        return transform(region, proposal, level, target)
    if level != "linalg":
        raise RealizeError(
            "level", "level.kind", f"knobs are for kernels at level 'linalg', not for a region at '{level}'"
        )
    assert proposal.knobs is not None
    name = proposal.knobs.get(SCHEDULE)
    if name is not None and not isinstance(name, str):
        raise ProtocolError(f"wants a name, not {name!r}", "knobs.schedule")
    space = knobs_of(region.function, target, name)
    if space is None:
        raise RealizeError("level", "level.schedule", f"no schedule of target '{target}' fits this region")
    chosen = space.point(proposal.knobs)
    shown, answer = implementation(space.kernel, chosen)
    if target.partition(":")[0] == "nvptx":
        return Realized("gpu", shown, answer=answer, needs="gpu", notes=(str(chosen),))
    return Realized("loops", shown, answer=answer, notes=(str(chosen),))


def implementation(kernel: Any, chosen: Any) -> tuple[str, str]:
    """The module with ``@main`` on buffers that the schedule ``chosen`` builds for ``kernel`` (named ``main``): as
    plain IR, and with the marks by which later passes know a schedule's work."""
    from kc.bindings import ir
    from kc.context import make_context
    from kc.pass_manager import run_pipeline
    from kc.rewrite import walk_ops

    context = make_context(dialects=_DIALECTS)
    with context, ir.Location.unknown(context):
        module = ir.Module.create()
        chosen.build(kernel, module.operation)
    run_pipeline(module, _SETTLE)
    table = ir.SymbolTable(module.operation)
    main = table[f"{kernel.name}__impl"].operation
    ir.SymbolTable.replace_all_symbol_uses(f"{kernel.name}__impl", "main", module.operation)
    ir.SymbolTable.set_symbol_name(main, "main")
    with context:
        ir.SymbolTable.set_visibility(main, "public")
    marked = str(module)
    for function in walk_ops(module.operation, "func.func"):
        for name in ("kc.impl", "no_inline"):
            if name in function.attributes:
                del function.attributes[name]
    return str(module), marked
