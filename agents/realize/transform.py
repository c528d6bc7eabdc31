"""``schedule`` by a script of the transform dialect: a kernel rewritten step by step, then taken down to buffers.

The script is a module with ``transform.named_sequence @__transform_main``, which gets the module of the region
(``@main``). Upstream's transform ops are there, and ``kc_transform.schedule`` (``kc.dialects.kc_transform``), which
chooses one of kc's schedules. What comes out may hold ops of the linalg and loops levels, on tensors; bufferization
follows here, so the answer stands at level loops. A region at level loops is rewritten in place.
"""

from __future__ import annotations

import importlib
from typing import Any

from kc.agents.protocol import Proposal, ProtocolError
from kc.agents.realize.realized import Realized, RealizeError
from kc.agents.realize.region import Source, is_kernel

ENTRY = "__transform_main"
#: passes that ``transform.apply_registered_pass`` may run: those that change IR and nothing else
PASSES = frozenset({
    "affine-loop-fusion", "affine-scalrep", "canonicalize", "cse", "convert-linalg-to-affine-loops",
    "convert-linalg-to-loops", "convert-linalg-to-parallel-loops", "convert-vector-to-scf", "fold-memref-alias-ops",
    "linalg-fold-unit-extent-dims", "linalg-fuse-elementwise-ops", "linalg-generalize-named-ops",
    "linalg-specialize-generic-ops", "loop-invariant-code-motion", "loop-invariant-subset-hoisting",
    "lower-vector-mask", "lower-vector-multi-reduction", "scf-for-loop-range-folding", "scf-forall-to-parallel",
    "scf-parallel-loop-fusion",
})  # fmt: skip
#: ops that reach outside of the payload
_REFUSED = ("transform.print", "transform.debug.", "transform.import", "transform.smt.")
#: what the analyses of bufferization do not know
_PREPARE = "builtin.module(func.func(lower-vector-multi-reduction,lower-vector-mask),kc-canonicalize,cse)"
#: after the road's own bufferization: what the levels below do not take
_SETTLE = (
    "builtin.module(func.func(scf-forall-to-parallel,convert-vector-to-scf{full-unroll=true},"
    "linalg-generalize-named-ops),kc-canonicalize,cse)"
)


def transform(region: Source, proposal: Proposal, level: str, target: str) -> Realized:
    """The kernel as a script leaves it. Raises RealizeError in the interpreter's words when a step fails."""
    assert proposal.script is not None
    if level not in ("linalg", "loops"):
        raise RealizeError("level", "level.kind", f"a script is for regions at level linalg or loops, not at '{level}'")
    if level == "linalg" and not is_kernel(region.function):
        raise RealizeError("level", "level.kind", "a script is for kernels: this region has no destinations")
    _apply(region, proposal.script)
    if level == "loops":
        return Realized(level, str(region.module))
    chosen = _choice(region)
    if chosen is not None:
        from kc.agents.realize.schedule import schedule

        return schedule(region, chosen, level, target)
    text = lowered(region, target)
    return Realized("loops", text, answer=text)


def _apply(region: Source, script: str) -> None:
    """Run the script on the region's module, in place."""
    from kc.answers import names_of
    from kc.bindings import ir, transform_interpreter
    from kc.context import load_dialect, parse_module
    from kc.diagnostics import DiagnosticSink, capture
    from kc.errors import InputError

    context = region.module.context
    load_dialect(context, "transform")
    try:
        parsed = parse_module(script, context, "the script")
    except InputError as error:
        raise RealizeError("parse", "parse.module", str(error)) from None
    entry = names_of(parsed.operation).get(ENTRY)
    if entry is None or entry.name != "transform.named_sequence":
        raise ProtocolError(f"the script has no transform.named_sequence @{ENTRY}", "script")
    _check(parsed)
    sink = DiagnosticSink({"the script": script})
    with capture(context, sink):
        try:
            transform_interpreter.apply_named_sequence(region.module.operation, entry, parsed.operation)
            sound = region.module.operation.verify()
        except (ir.MLIRError, RuntimeError, ValueError) as error:
            told = "; ".join(d.message for d in sink.diagnostics) or str(error)
            raise RealizeError("verify", "verify.script", f"the script fails: {told}"[:2000]) from None
    if not sound:
        raise RealizeError("verify", "verify.script", "the script leaves a module that does not verify")


def _check(script: Any) -> None:
    """Raises RealizeError for ops that do more than change the payload."""
    from kc.bindings import ir
    from kc.rewrite import walk_ops

    for op in walk_ops(script.operation):
        if op.name.startswith(_REFUSED):
            raise RealizeError(
                "level", "level.script", f"'{op.name}' has no place in a script: it reaches outside of the kernel"
            )
        if op.name == "transform.apply_registered_pass":
            name = ir.StringAttr(op.attributes["pass_name"]).value
            if name not in PASSES:
                raise RealizeError(
                    "level",
                    "level.script",
                    f"a script does not run pass '{name}'; there are {', '.join(sorted(PASSES))}",
                )


def _choice(region: Source) -> Proposal | None:
    """What ``kc_transform.schedule`` chose, as a proposal with knobs; None when it was not used."""
    from kc.agents.realize.knob_space import SCHEDULE
    from kc.bindings import ir

    if "kc.schedule" not in region.function.attributes:
        return None
    found = {entry.name: entry.attr for entry in ir.DictAttr(region.function.attributes["kc.schedule"])}
    knobs: dict[str, Any] = {SCHEDULE: ir.StringAttr(found["schedule"]).value}
    for entry in ir.DictAttr(found["knobs"]):
        knobs[entry.name] = (
            bool(entry.attr) if isinstance(entry.attr, ir.BoolAttr) else ir.IntegerAttr(entry.attr).value
        )
    del region.function.attributes["kc.schedule"]
    return Proposal("schedule", knobs=knobs)


def lowered(region: Source, target: str) -> str:
    """The module with ``@main`` on buffers that the target's own bufferization makes of a kernel.

    Raises RealizeError when it cannot, for instance when a result is not made in its destination.
    """
    from kc.agents.realize.building import give_entry
    from kc.answers import names_of
    from kc.bindings import ir
    from kc.errors import CompileError
    from kc.pass_manager import run_pipeline

    module, function = region
    phases = importlib.import_module(f"kc.pipelines.{target.partition(':')[0]}").PHASES
    (bufferize,) = [phase for phase in phases if phase.name.endswith("bufferize")]
    results = len(ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results)
    with module.context:
        give_entry(function)
    try:
        run_pipeline(module, _PREPARE)
        run_pipeline(module, bufferize.text())
        run_pipeline(module, _SETTLE)
    except CompileError as error:
        raise RealizeError(
            "level", "level.script", f"the kernel does not come down to buffers: {error.message}"
        ) from None
    names = names_of(module.operation)
    kernel = names["region"]
    kind = ir.FunctionType(ir.TypeAttr(kernel.attributes["function_type"]).value)
    if len(kind.results):
        raise RealizeError(
            "level", "level.script", f"{len(kind.results)} of {results} results are not made in their destination"
        )
    names["main"].erase()
    with module.context:
        ir.SymbolTable.set_symbol_name(kernel, "main")
        ir.SymbolTable.set_visibility(kernel, "public")
        for key in ("kc.kernel", "kc.kind", "arg_attrs"):
            if key in kernel.attributes:
                del kernel.attributes[key]
    return str(module)
