"""From a level down to the LLVM dialect, with nothing clever on the way: sequential loops, no schedules, no fast math.

Original and proposal go down the same road, so that a difference between them is theirs. Mathematical functions are
expanded by kc's own pass, whose scalar and vector forms give the same bits; LLVM contracts nothing into FMAs that the
IR does not (its default, ``-fp-contract=on``, concerns ``llvm.fmuladd`` only).
"""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from kc.agents.execution.calls import Order
from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.signature import argument_attributes, main_of
from kc.agents.execution.undefined import mark
from kc.errors import KcError

if TYPE_CHECKING:
    from kc.bindings import ir

_BUFFERIZE = (
    "convert-tensor-to-linalg,func.func(linalg-generalize-named-ops),empty-tensor-to-alloc-tensor,"
    "one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map "
    "unknown-type-conversion=identity-layout-map allow-return-allocs-from-loops=1},kc-canonicalize,cse,"
    "ownership-based-buffer-deallocation,kc-canonicalize,buffer-deallocation-simplification,"
    "bufferization-lower-deallocations,cse,kc-canonicalize,convert-bufferization-to-memref"
)
#: a masked operation becomes one with a mask among its operands, which is what the steps after it know
_MASKS = "func.func(lower-vector-mask)"
_LOOPS = (
    "func.func(linalg-generalize-named-ops),func.func(convert-linalg-to-loops),func.func(scf-forall-to-parallel),"
    "lower-affine"
)
#: where races matter: the parallel dimensions of linalg ops are parallel loops, of which each writes its own elements
_PARALLEL = _LOOPS.replace("convert-linalg-to-loops", "convert-linalg-to-parallel-loops")
_INSTRUMENT = "kc-instrument-accesses"
_INSTRUMENT_FIRST = "kc-instrument-accesses{partial=true}"
_INSTRUMENT_POINTERS = "kc-instrument-pointers"
_TRACE = "kc-trace-values"
_SCALARS = (
    "func.func(convert-vector-to-scf),kc-legalize-half-casts,func.func(math-expand-ops{ops=ctlz}),"
    "kc-expand-math{target=cpu},"
    "convert-complex-to-standard"
)
_EMULATE = (
    "arith-emulate-unsupported-floats{source-types=bf16,f16,f8E5M2,f8E4M3,f8E3M4,f8E4M3FN,f8E5M2FNUZ,f8E4M3FNUZ,"
    "f8E4M3B11FNUZ,f8E8M0FNU,f6E2M3FN,f6E3M2FN,f4E2M1FN target-type=f32}"
)
_EXPAND = "kc-canonicalize,kc-expand-small-floats,arith-expand{include-bf16=1}"
_LLVM = (
    "kc-lower-asserts,kc-lower-size-checks,memref-expand,expand-strided-metadata,lower-affine,kc-canonicalize,cse,"
    "convert-scf-to-cf,convert-vector-to-llvm,convert-math-to-llvm,convert-math-to-libm,arith-expand,"
    "finalize-memref-to-llvm{use-generic-functions=1},convert-to-llvm,reconcile-unrealized-casts"
)


def lower(
    module: ir.Module,
    level: str,
    *,
    instrument: bool = False,
    order: Order = "forward",
    trace: bool = False,
    undefined: bool = False,
) -> list[dict[str, Any]]:
    """Take ``module`` (changed in place) from ``level`` to the LLVM dialect; ``@main`` gets its C interface.

    With ``instrument``: the places that instrumented code names, in order (see ``kc-instrument-accesses``); with
    ``trace`` it tells of values, too (``kc-trace-values``). ``undefined``: see ``kc.agents.execution.undefined``.
    Raises ExecutionError when a pass fails.
    """
    from kc.bindings import ir
    from kc.pass_manager import run_pipeline

    _prepare(module)
    loops = _PARALLEL if (instrument and not trace) or order != "forward" else _LOOPS
    steps = {"linalg": [_BUFFERIZE, "kc-bind-impls", loops], "loops": ["kc-bind-impls", loops], "llvm": []}[level]
    if trace:  # lowering drops what nobody uses: no use without need
        steps = steps if level != "loops" or _whole(module) else steps[:1]
        steps += [_TRACE, _INSTRUMENT_POINTERS if level == "llvm" else _INSTRUMENT]
    elif instrument and level == "llvm":
        steps = [_INSTRUMENT_POINTERS]
    elif instrument:
        steps[-1:] = [_INSTRUMENT_FIRST, loops, _INSTRUMENT]
    if order != "forward" and level != "llvm":
        steps.append(f"kc-permute-iterations{{order={order}}}")
    if level != "llvm":
        steps = [_MASKS, *steps] if _masked(module) else steps  # it drops loads that nobody uses: no use without need
        steps += [_SCALARS, _EMULATE, _EXPAND, _LLVM]
    for step in steps:
        if step == _SCALARS:
            _mark_flags(module)
            if undefined:
                mark(module)
        try:
            run_pipeline(module, f"builtin.module({step})")
        except KcError as error:
            watching = (_INSTRUMENT, _INSTRUMENT_FIRST, _INSTRUMENT_POINTERS, _TRACE)
            kind = "unsupported" if step in watching else "compile"
            done = "watched" if kind == "unsupported" else "lowered"
            raise ExecutionError(kind, f"the module cannot be {done}: {error}") from error
        if step == _EMULATE:
            _round_each(module)
    attributes = module.operation.attributes
    if "kc.sites" not in attributes:
        return []
    sites = json.loads(ir.StringAttr(attributes["kc.sites"]).value)
    del attributes["kc.sites"]
    return sites


_ROUNDINGS = ("arith.extf", "arith.truncf")
_FLAGGED = "kc.flagged"


def _whole(module: ir.Module) -> bool:
    """Whether ops stand in a module that are loops, or parts of addresses, of their own."""
    from kc.rewrite import walk_ops

    return any(op.name.startswith(("linalg.", "affine.", "scf.forall", "tensor.")) for op in walk_ops(module))


def _masked(module: ir.Module) -> bool:
    """Whether a vector operation stands under a mask."""
    from kc.rewrite import walk_ops

    return any(True for _ in walk_ops(module, ("vector.mask",)))


def _mark_flags(module: ir.Module) -> None:
    """Mark the conversions of floats that the code under test has itself."""
    from kc.bindings import ir
    from kc.rewrite import walk_ops

    for op in walk_ops(module, _ROUNDINGS):
        if "fastmath" in op.attributes:
            op.attributes[_FLAGGED] = ir.UnitAttr.get(module.context)


def _round_each(module: ir.Module) -> None:
    """Let every operation on narrow floats round: the emulation allows a conversion there and back to be left out."""
    from kc.rewrite import walk_ops

    for op in walk_ops(module, _ROUNDINGS):
        if _FLAGGED in op.attributes:
            del op.attributes[_FLAGGED]
        elif "fastmath" in op.attributes:
            del op.attributes["fastmath"]


def _prepare(module: ir.Module) -> None:
    """Give ``@main`` a C interface, its tensors to be left unwritten, and nothing of the contract."""
    from kc.bindings import ir

    main = main_of(module)
    with module.context, ir.Location.unknown():
        for name in [n for n in main.attributes if n.startswith("kc.")]:
            del main.attributes[name]
        if main.name == "llvm.func":
            if "arg_attrs" in main.attributes:
                _forget_contract(main)
            return
        inputs = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value).inputs
        entries = argument_attributes(main, len(inputs))
        for attributes, text in zip(entries, map(str, inputs), strict=True):
            for name in [n for n in attributes if n.startswith("kc.")]:
                del attributes[name]
            if text.startswith("tensor"):
                attributes.setdefault("bufferization.writable", ir.BoolAttr.get(False))
        if inputs:
            main.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(a) for a in entries])
        main.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()


def _forget_contract(main: ir.Operation) -> None:
    from kc.bindings import ir

    kept = [
        ir.DictAttr.get({e.name: e.attr for e in ir.DictAttr(a) if not e.name.startswith("kc.")})
        for a in ir.ArrayAttr(main.attributes["arg_attrs"])
    ]
    main.attributes["arg_attrs"] = ir.ArrayAttr.get(kept)
