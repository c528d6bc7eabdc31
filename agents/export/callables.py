"""Regions and proposals as functions of arrays: what exported references and solutions call."""
from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

from kc.agents.protocol import Proposal
from kc.errors import CompileError, InputError

#: takes arrays (NumPy, or anything that DLPack gives NumPy), gives an array, or a tuple of them
Function = Callable[..., Any]


@functools.lru_cache(maxsize=64)
def region(ir: str, level: str) -> Function:
    """The region, run by the executor of its level (``kc.agents.execution``): no schedules, no fast math."""
    from kc.agents.execution.signature import Signature
    from kc.context import make_context, parse_module

    signature = Signature.of(parse_module(ir, make_context(), "region"))

    def run(*arrays: Any) -> Any:
        import numpy

        from kc.agents.execution import Call, run

        given = iter(arrays)
        extents: dict[int, tuple[int, ...]] = {}
        arguments = []
        for number, (kind, role) in enumerate(zip(signature.arguments, signature.roles, strict=True)):
            if role == "out":  # its shape is that of the arguments before it where it is open
                arguments.append(numpy.zeros(_extents(kind.shape, extents), kind.dtype))
                continue
            array = _numpy(next(given)).astype(kind.dtype, copy=False)
            extents[number] = array.shape
            arguments.append(array)
        (outcome,) = run(ir, level, [Call(tuple(arguments))])
        if outcome.fault is not None:
            raise CompileError(f"the region ended with {outcome.fault.kind}: {outcome.fault.message}")
        return outcome.results[0] if len(outcome.results) == 1 else outcome.results

    return run


def _extents(shape: tuple[int | None, ...], known: dict[int, tuple[int, ...]]) -> list[int]:
    """The shape of a destination: open extents are those of the first argument of its rank."""
    same = next((other for other in known.values() if len(other) == len(shape)), None)
    found = []
    for position, extent in enumerate(shape):
        if extent is None and same is None:
            raise InputError("the shape of a destination is open, and no argument before it has its rank")
        found.append(extent if extent is not None or same is None else same[position])
    return [int(extent) for extent in found if extent is not None]


@functools.lru_cache(maxsize=64)
def proposal(ir: str, level: str, target: str, told: str) -> Function:
    """A proposal (JSON text) for the region ``ir``, compiled by kc with the proposal in the region's place."""
    from kc.agents.realize import realize

    made = Proposal.from_json(json.loads(told))
    realized = realize(ir, made, level, target)
    if realized.runs == "mlir" and realized.needs == "cpu":
        return region(realized.ir, realized.level)
    from kc.agents.realize import build
    from kc.runtime import Program

    program = Program.from_manifest(*build(ir, realized, target))

    def run(*arrays: Any) -> Any:
        results = program.run("main", *arrays)
        return results[0] if len(results) == 1 else results

    return run


def _numpy(array: Any) -> Any:
    import numpy

    if isinstance(array, numpy.ndarray) or not hasattr(array, "__dlpack__"):
        return numpy.asarray(array)
    return numpy.from_dlpack(array)
