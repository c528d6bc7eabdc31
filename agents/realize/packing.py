"""A folder that judges a proposal on another machine: one with a GPU, where neither MLIR nor a compiler is installed.

    folder = pack(region_ir, proposal, "out", target="nvptx:sm_90a")       # here
    python -m kc.agents.realize.there out verdict.json                       # there: kc.runtime, NumPy and ml_dtypes

It holds the region compiled as it is and with the proposal (two artifacts), inputs drawn as for the differential gate,
what the region gives for them on the CPU in higher precision (also on inputs moved by a rounding), and a job for the
timing gate. The static part of a judgement is over when the folder is written: ``pack`` raises what ``realize`` does.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kc.agents.protocol import Proposal
from kc.agents.realize.building import build, build_asm
from kc.agents.realize.dispatch import realize
from kc.agents.realize.realized import RealizeError
from kc.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from kc.agents.gates.inputs import Planned
    from kc.agents.measure.inputs import Argument
    from kc.api import Executable

#: of the arguments of all calls of a pack
_MOST_BYTES = 5 << 20
#: runs per call on inputs that are moved by a rounding
_MOVED = 6
#: bytes written before each timed window on a GPU: twice the second-level cache of an H200
_GPU_CACHE = 100 << 20
#: of a timed call on a GPU, where nobody names sizes: bytes of all arguments, and products of sizes
_GPU_BYTES, _GPU_WORK = 48 << 20, 1 << 34
VERSION = 1


def pack(
    region_ir: str,
    proposal: Proposal,
    folder: str | os.PathLike[str],
    level: str = "linalg",
    target: str = "nvptx:sm_90a",
    *,
    device: str | None = None,
    sizes: Mapping[str, int] | None = None,
    seed: int | None = None,
    calls: int = 80,
) -> Path:
    """Write the folder and return its path. ``sizes``: of named dimensions, for timing.

    At level ``asm``, ``region_ir`` is a whole program in StableHLO, which says what has to come out, and ``device``
    names the device module of its compiled form whose PTX the proposal edits (not needed where there is one only).

    Raises ProtocolError, RealizeError or InputError as ``realize`` does, CompileError when the answer does not compile.
    """
    from kc import artifact

    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    seed = secrets.randbits(63) if seed is None else seed
    original = build(region_ir, None, target)
    told = region_ir
    notes: tuple[str, ...] = ()
    if level == "asm":
        made, told = build_asm(region_ir, proposal, target, device)
        region_ir = under_contract(region_ir, target)
    else:
        realized = realize(region_ir, proposal, level, target)
        made, notes = build(region_ir, realized, target), realized.notes
    for name, exe in (("original", original), ("proposal", made)):
        artifact.save(path / f"{name}.kca", exe.manifest, exe.files)
    described = _calls(region_ir, "stablehlo" if level == "asm" else level, path, seed, calls, proposal.guard)
    described |= {
        "version": VERSION,
        "key": key(told, proposal, level, target),
        "target": target,
        "seed": seed,
        "notes": list(notes),
        **_job(region_ir, original, sizes),
    }
    (path / "pack.json").write_text(json.dumps(described, indent=1) + "\n")
    return path


def key(region_ir: str, proposal: Proposal, level: str, target: str) -> str:
    """What a verdict of a pack is about: 64 hex digits of region, proposal, level and target."""
    from kc.targets import get_target

    told = json.dumps([region_ir, proposal.to_json(), level, get_target(target).spec], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()


def under_contract(program: str, target: str) -> str:
    """A program in StableHLO as a region: with the contract under which kc compiles it."""
    from kc.agents.realize.region import parse_source
    from kc.agents.regions import find
    from kc.agents.regions.extract import extract
    from kc.agents.regions.known import contract_of

    source = parse_source(program)
    (region,) = [region for region in find(source.module.operation, "stablehlo") if region.name == "main"]
    return extract(region, contract_of(region, target))


def _calls(region_ir: str, level: str, path: Path, seed: int, most: int, guard: str | None) -> dict[str, Any]:
    """Write ``calls.bin``: arguments and references of each call; what describes it."""
    from kc.agents.gates.assumptions import guard_parts
    from kc.agents.gates.differential import Form, Tester
    from kc.agents.gates.inputs import Drawer
    from kc.agents.gates.plan import Planner
    from kc.agents.gates.policy import Policy
    from kc.agents.gates.references import sum_length
    from kc.agents.gates.tasks import read_original

    ((kind, reading),) = read_original(region_ir)
    if kind == "bad":
        raise InputError(f"the region cannot be judged against: {reading}")
    policy = Policy.of(reading)
    parts = guard_parts(guard) if guard else []
    drawer = Drawer(reading, policy, reading.integers, reading.floats, seed, parts)
    tester = Tester(Form(region_ir, level, reading), Form(region_ir, level, reading), policy, "cpu", seed)
    plans = Planner(drawer, reading, reading.integers).plan(most)
    if guard is not None and not plans:
        message = f"'{guard}' holds at no sizes of the contract that can be tested"
        raise RealizeError("assumptions", "assumptions.guard", message)
    planned = _affordable(plans)
    outcomes = list(tester.original_outcomes([p.call for p in planned]))
    kept = [(p, o) for p, o in zip(planned, outcomes, strict=True) if o is not None]
    references = tester.references.of([(p.call, o) for p, o in kept], _MOVED)
    blob = bytearray()
    rows = []
    for (plan_, outcome), runs in zip(kept, references, strict=True):
        if len(blob) > 2 * _MOST_BYTES:
            break
        rows.append(
            {
                "why": plan_.why,
                "sizes": dict(plan_.sizes),
                "huge": plan_.huge,
                "length": sum_length(plan_.call.arguments, outcome.results),
                "arguments": [_put(blob, array) for array in plan_.call.arguments],
                "references": [[_put(blob, array) for array in run] for run in runs],
            }
        )
    (path / "calls.bin").write_bytes(blob)
    return {"policy": {"allow": sorted(policy.allow), "unit": policy.unit}, "calls": rows}


def _affordable(planned: Sequence[Planned]) -> list[Planned]:
    """The calls whose arguments fit into a pack, in order. Those in which arguments share a buffer are left out."""
    kept, total = [], 0
    for item in planned:
        size = sum(array.nbytes for array in item.call.arguments)
        if item.call.aliases or total + size > _MOST_BYTES:
            continue
        kept.append(item)
        total += size
    if not kept:
        raise InputError("the region's arrays are too large for a pack: give its sizes ranges that begin lower")
    return kept


def _put(blob: bytearray, array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Append an array; where it is and what it is."""
    import numpy as np

    data = np.ascontiguousarray(array)
    place = {"at": len(blob), "dtype": data.dtype.name, "shape": list(array.shape)}
    blob += data.tobytes()
    return place


def _job(region_ir: str, original: Executable, sizes: Mapping[str, int] | None) -> dict[str, Any]:
    """``job`` of the timing gate (None where inputs cannot be drawn), and the ``work`` that its floor is made of."""
    from kc.agents.measure.least_work import least_work
    from kc.agents.measure.machine import machine
    from kc.agents.measure.prepare import arguments
    from kc.agents.measure.rounds import Job, Program

    on_gpu = original.manifest["target"] == "nvptx"
    try:
        drawn: Sequence[Argument] = arguments(region_ir, _named(region_ir, sizes))
        if on_gpu and sizes is None:
            drawn = _larger(region_ir, drawn)
    except InputError:
        return {"job": None, "work": None}
    first, second = (Program(f"{name}.kca", tuple(drawn)) for name in ("original", "proposal"))
    flush = _GPU_CACHE if on_gpu else 2 * machine().cache_bytes
    job = Job(first, second, device=0 if on_gpu else None, flush=flush)
    return {"job": dataclasses.asdict(job), "work": dataclasses.asdict(least_work(region_ir, drawn))}


def _larger(region_ir: str, drawn: Sequence[Argument]) -> Sequence[Argument]:
    """Arguments at sizes that keep a GPU busy: named dimensions are doubled while memory and work stay moderate."""
    from kc.agents.contract import Contract
    from kc.agents.measure.prepare import arguments
    from kc.agents.realize.region import parse_source

    source = parse_source(region_ir)
    contract = Contract.of(source.function)
    named = {name: contract.size_range(name) for argument in contract.arguments for name in argument.dims}
    open_ = {name: span for name, span in named.items() if not name.isdigit() and span[0] < span[1]}
    size = 64
    while open_:
        size *= 2
        sizes = {name: min(high, max(low, size)) for name, (low, high) in open_.items()}
        larger = arguments(region_ir, sizes)
        work = math.prod(sizes.values()) * max((n for a in larger for n in a.shape), default=1)
        if sum(a.nbytes for a in larger) > _GPU_BYTES or work > _GPU_WORK or larger == drawn:
            break
        drawn = larger
    return drawn


def _named(region_ir: str, sizes: Mapping[str, int] | None) -> dict[str, int] | None:
    """Of ``sizes`` those that are dimensions of the region."""
    from kc.agents.contract import Contract
    from kc.agents.realize.region import parse_source

    source = parse_source(region_ir)
    names = {name for argument in Contract.of(source.function).arguments for name in argument.dims}
    return None if sizes is None else {name: size for name, size in sizes.items() if name in names}
