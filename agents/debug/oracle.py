"""Oracles: what a module computes, found without the rest of kc's road.

Which one fits is told by what stands in the module, not by where it comes from:

- StableHLO alone: the reference interpreter of StableHLO (its specification);
- StableHLO among linalg (in the midst of a conversion): what is left is converted by MLIR's own
  ``stablehlo-legalize-to-linalg``, then as linalg;
- linalg, loops: the executor of that level (``kc.agents.execution``): upstream passes, sequential loops, no schedules
  of kc's own but those that stand in the module already;
- device code with its host code: the emulator of grids (``kc.agents.execution.grid``);
- LLVM: see ``entry``.

A module that none of these can run (collectives, device code, calls into kc's runtime) has no oracle: ``unknown``.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kc.agents.debug import params as parameters
from kc.errors import KcError

if TYPE_CHECKING:
    import numpy

    from kc.bindings import ir

_GRAPH = frozenset({"stablehlo", "chlo", "vhlo"})
_ALSO_IN_GRAPHS = _GRAPH | {"func", "builtin"}
INTERPRETER = "interpreter"
#: MLIR's own way from StableHLO down to linalg
_COMPLETE = (
    "builtin.module(func.func(chlo-legalize-to-stablehlo),func.func(stablehlo-legalize-composite-to-call),"
    "func.func(stablehlo-aggressive-simplification),stablehlo-legalize-to-linalg,kc-canonicalize,"
    "func.func(convert-elementwise-to-linalg),kc-canonicalize,cse)"
)

#: what the emulator does not take: linalg on buffers, in host code
_DEVICE_LOOPS = "func.func(linalg-generalize-named-ops,convert-linalg-to-loops)"
_BUFFERIZE = (
    "empty-tensor-to-alloc-tensor,one-shot-bufferize{bufferize-function-boundaries=1 "
    "function-boundary-type-conversion=identity-layout-map allow-return-allocs-from-loops=1},kc-canonicalize,"
    "drop-equivalent-buffer-results,cse,kc-canonicalize,convert-bufferization-to-memref"
)


def task(
    module: bytes | str, given: parameters.Params, calls: Sequence[Sequence[numpy.ndarray[Any, Any]]],
    seconds: float = 20.0, like: bytes | str | None = None,
) -> Iterator[tuple[str, Any]]:
    """For a sandbox: ``("results", arrays)`` of each call of ``@main``; or ``("unknown", why)``, ``("fault", what)``.

    ``(INTERPRETER, None)`` comes first where an interpreter runs it, whose end or length is no fault of the module's.
    ``calls`` hold the arguments without the parameters, which are ``given``. ``like``: the module before the llvm
    level, from which the signature of an entry point is read.
    """
    from kc.agents.execution.errors import ExecutionError
    from kc.context import make_context, parse_module

    context = make_context()
    try:
        parsed = parse_module(module, context, "module")
        parameters.restore(context, given)
        origin = parsed if like is None else parse_module(like, make_context(), "module")
        for outcome in _outcomes(parsed, origin, given, calls, seconds):
            if outcome == INTERPRETER:
                yield INTERPRETER, None
            elif outcome.fault is not None:
                yield "fault", f"{outcome.fault.kind}: {outcome.fault.message}"
            else:
                yield "results", list(outcome.results)
    except ExecutionError as error:
        yield "unknown", error.message if error.kind == "unsupported" else f"no oracle runs it: {error}"
    except (KcError, ValueError, TypeError) as error:
        yield "unknown", f"no oracle runs it: {error}"


def _outcomes(
    module: ir.Module, origin: ir.Module, given: parameters.Params, calls: Sequence[Sequence[Any]], seconds: float
) -> Iterator[Any]:
    from kc.agents.execution import Call, Checks, graph, resources
    from kc.agents.execution.native import Program
    from kc.agents.execution.signature import Signature
    from kc.pass_manager import run_pipeline

    level_below = entry_of(module) is not None
    numbers = parameter_numbers(origin if level_below else module)
    values = parameters.arrays(given)
    full = [Call(tuple(complete(call, numbers, values))) for call in calls]
    checks = Checks(seconds=seconds, protect=False, allocation=1 << 34)
    if level_below:
        from kc.agents.debug import entry

        run_pipeline(module, "builtin.module(reconcile-unrealized-casts)")
        yield from entry.run(module, Signature.of(origin), full, checks)
        return
    dialects = dialects_of(module)
    if dialects & _GRAPH:
        resources.spell_out(module, strict=False)
        text = str(module.operation.get_asm())
        if dialects <= _ALSO_IN_GRAPHS and graph.interpretable(text):
            yield INTERPRETER
            yield from graph.run(text, full, dataclasses.replace(checks, engine="interpreter"))
            return
        signature = Signature.of(module)
        run_pipeline(module, _COMPLETE)
        yield from map(Program(module, "linalg", checks, signature).call, full)
        return
    if "gpu" in dialects:
        from kc.agents.execution.grid.run import run as emulate

        if has_tensors(module):
            bufferize(module)
            run_pipeline(module, "builtin.module(kc-bind-impls)")
        run_pipeline(module, f"builtin.module({_DEVICE_LOOPS})")
        yield INTERPRETER
        yield from emulate(module, full, checks)
        return
    signature, level = Signature.of(module), "loops"
    if has_tensors(module):
        level = "linalg"
        if any("kc.impl" in op.attributes for op in functions_of(module)):
            bufferize(module)
            level = "loops"
    yield from map(Program(module, level, checks, signature).call, full)


def functions_of(module: ir.Module) -> list[ir.Operation]:
    """The functions of ``module``."""
    return [op.operation for op in module.body.operations if op.operation.name == "func.func"]


def bufferize(module: ir.Module) -> None:
    """Tensors to buffers where kernels have implementations on buffers beside them: destinations are not returned."""
    from kc.bindings import ir
    from kc.pass_manager import run_pipeline

    for function in functions_of(module):
        inputs = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs
        visible = "sym_visibility" not in function.attributes
        if visible and any(isinstance(t, ir.RankedTensorType) for t in inputs):
            given = ir.ArrayAttr(function.attributes["arg_attrs"]) if "arg_attrs" in function.attributes else None
            with module.context:
                entries = [{e.name: e.attr for e in ir.DictAttr(a)} for a in given] if given else [{} for _ in inputs]
                for entry, kind in zip(entries, inputs, strict=True):
                    if isinstance(kind, ir.RankedTensorType):
                        entry["bufferization.writable"] = ir.BoolAttr.get(False)
                function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(e) for e in entries])
    run_pipeline(module, f"builtin.module({_BUFFERIZE})")


def entry_of(module: ir.Module) -> ir.Operation | None:
    """The entry point of ``@main`` as ``kc-emit-entry-points`` makes it, where it has."""
    from kc.agents.debug.entry import NAME
    from kc.bindings import ir

    for op in module.body.operations:
        operation = op.operation
        if operation.name == "llvm.func" and ir.StringAttr(operation.attributes["sym_name"]).value == NAME:
            return operation
    return None


def parameter_numbers(module: ir.Module) -> list[int | None]:
    """For each argument of ``@main`` the number of the parameter that it is, None for an input."""
    from kc.agents.execution.signature import argument_attributes, main_of
    from kc.bindings import ir
    from kc.params import ATTRIBUTE

    main = main_of(module)
    count = len(main.regions[0].blocks[0].arguments)
    found: list[int | None] = []
    for entries in argument_attributes(main, count):
        value = entries.get(ATTRIBUTE)
        found.append(None if value is None else int(ir.IntegerAttr(value).value))
    return found


def complete(call: Sequence[Any], numbers: Sequence[int | None], values: dict[int, Any]) -> Iterator[Any]:
    """The arguments of a call with the parameters at their places."""
    inputs = iter(call)
    for number in numbers:
        yield next(inputs) if number is None else values[number]


def dialects_of(module: ir.Module) -> frozenset[str]:
    """The dialects whose ops stand in ``module``."""
    from kc.rewrite import walk_ops

    return frozenset(op.name.partition(".")[0] for op in walk_ops(module.operation))


def has_tensors(module: ir.Module) -> bool:
    """Whether a value of tensor type stands in ``module``."""
    from kc.bindings import ir
    from kc.rewrite import walk_ops

    for op in walk_ops(module.operation):
        if any(isinstance(result.type, ir.RankedTensorType) for result in op.results):
            return True
        for region in op.regions:
            for block in region.blocks:
                if any(isinstance(argument.type, ir.RankedTensorType) for argument in block.arguments):
                    return True
    return False
