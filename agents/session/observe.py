"""Building observations: what an agent is shown of a region."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kc.agents.protocol import Observation
from kc.agents.regions import Region, extract, identity
from kc.agents.regions.known import contract_of
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.agents.contract import Contract
    from kc.bindings import ir
    from kc.targets.base import Target

#: most ops that are told one by one
_MOST_OPS = 10_000


def observe(
    region: Region,
    at: str,
    target: Target,
    options: Mapping[str, Any] | None = None,
    kernels: Mapping[str, Contract] | None = None,
) -> Observation:
    """The observation of ``region`` at the moment ``at``. ``kernels``: contracts of the program's kernels on tensors.

    Raises ``kc.agents.regions.buffers.Withheld``.
    """
    from kc.agents.regions import work

    if region.level == "asm" and region.operation.name == "llvm.func":
        return _of_machine_code(region, at, target, options, kernels)
    if region.level == "asm":
        return Observation(
            level=region.level,
            at=at,
            name=region.name,
            kind=region.kind,
            identity=identity(region.level, region.text, target.spec, options),
            ir=region.text,
            target=target.spec,
            limits=dict(target.limits()),
        )
    contract = contract_of(region, target.spec, options, kernels)
    text = extract(region, contract)
    effort = work.effort(region, contract)
    default, remarks = default_of(region, text, target)
    return Observation(
        level=region.level,
        at=at,
        name=region.name,
        kind=region.kind,
        identity=identity(region.level, text, target.spec, options),
        ir=text,
        ops=ops_of(region.operation),
        target=target.spec,
        limits=dict(target.limits()),
        contract=contract.to_json(),
        flops=effort.flops,
        bytes=effort.bytes,
        roofline_us=work.roofline_us(effort, target),
        default=default,
        remarks=remarks,
    )


def _of_machine_code(
    region: Region,
    at: str,
    target: Target,
    options: Mapping[str, Any] | None,
    kernels: Mapping[str, Contract] | None,
) -> Observation:
    """The observation of a function's machine code: what is known of it is known of the function at level llvm."""
    from kc.agents.regions import assembly
    from kc.targets.cpu import CpuTarget

    assert isinstance(target, CpuTarget)
    above = observe(dataclasses.replace(region, level="llvm"), at, target, options, kernels)
    text = assembly.text_of(above.ir, target)
    known = identity(region.level, text, target.spec, options)
    return dataclasses.replace(above, level=region.level, identity=known, ir=text, ops=())


def ops_of(function: ir.Operation) -> tuple[dict[str, Any], ...]:
    """The ops of ``function`` in order of its text: ``id``, ``name``, ``operands``, result ``types``, ``location``.

    An operand is ``arg0`` (of the function), ``op3`` or ``op3:1`` (a result), ``op3.arg0`` (of a block in op 3).
    """
    names: dict[ir.Value, str] = {a: f"arg{n}" for n, a in enumerate(function.regions[0].blocks[0].arguments)}
    told: list[dict[str, Any]] = []
    for number, op in enumerate(walk_ops(function)[:_MOST_OPS]):
        own = f"op{number}"
        for position, result in enumerate(op.results):
            names[result] = own if len(op.results) == 1 else f"{own}:{position}"
        inner = [argument for region in op.regions for block in region.blocks for argument in block.arguments]
        names.update((argument, f"{own}.arg{position}") for position, argument in enumerate(inner))
        told.append(
            {
                "id": own,
                "name": op.name,
                "operands": [names.get(value, "?") for value in op.operands],
                "types": [str(result.type) for result in op.results],
                "location": _place(op.location),
            }
        )
    return tuple(told)


def default_of(region: Region, text: str, target: Target) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What the compiler would do with a kernel: its schedule and knobs; else why it has none."""
    if region.level != "linalg":
        return {}, ()
    try:
        from kc.agents.realize import knobs
    except ImportError:
        return {}, ()
    space = knobs(text, target.spec)
    if space is not None:
        return {"schedule": space.schedule, "knobs": dict(space.default)}, ()
    why = _why_none(region)
    return {"schedule": None, "reason": why}, (f"kernel '@{region.name}' has no schedule: {why}",)


def _why_none(region: Region) -> str:
    from kc.kernels import analyze
    from kc.kernels.expr import General

    found = analyze(region.operation)
    return found.reason if isinstance(found, General) else "no schedule of its family fits it on this target"


def _place(location: ir.Location) -> str:
    from kc.diagnostics import location_of

    place = location_of(location)
    return "" if place is None else str(place)
