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
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kc.agents.protocol import Proposal
from kc.agents.realize.building import build, build_asm
from kc.agents.realize.dispatch import realize
from kc.errors import InputError

if TYPE_CHECKING:
    import numpy as np

    from kc.agents.gates.inputs import Planned
    from kc.api import Executable

#: of all arrays of a pack
_MOST_BYTES = 24 << 20
#: runs per call on inputs that are moved by a rounding
_MOVED = 6
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

    At level ``asm``, ``region_ir`` is still the region at level linalg (or stablehlo), which says what is to come out;
    ``device`` names the device module of its compiled form whose PTX the proposal edits.

    Raises ProtocolError, RealizeError or InputError as ``realize`` does, CompileError when the answer does not compile.
    """
    from kc import artifact

    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    seed = secrets.randbits(63) if seed is None else seed
    original = build(region_ir, None, target)
    if level == "asm":
        made = build_asm(region_ir, proposal, target, device)
        level = "linalg"
        notes: tuple[str, ...] = ()
    else:
        realized = realize(region_ir, proposal, level, target)
        made, notes = build(region_ir, realized, target), realized.notes
    for name, exe in (("original", original), ("proposal", made)):
        artifact.save(path / f"{name}.kca", exe.manifest, exe.files)
    described = _calls(region_ir, level, path, seed, calls)
    described |= {
        "version": VERSION,
        "key": key(region_ir, proposal, level, target),
        "target": target,
        "seed": seed,
        "notes": list(notes),
        "job": _job(region_ir, original, sizes),
    }
    (path / "pack.json").write_text(json.dumps(described, indent=1) + "\n")
    return path


def key(region_ir: str, proposal: Proposal, level: str, target: str) -> str:
    """What a verdict of a pack is about: 64 hex digits of region, proposal, level and target."""
    told = json.dumps([region_ir, proposal.to_json(), level, target], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()


def _calls(region_ir: str, level: str, path: Path, seed: int, most: int) -> dict[str, Any]:
    """Write ``calls.bin``: arguments and references of each call; what describes it."""
    from kc.agents.gates.differential import Form, Tester, sum_length
    from kc.agents.gates.inputs import Drawer, plan
    from kc.agents.gates.policy import Policy
    from kc.agents.gates.tasks import read_original

    ((kind, reading),) = read_original(region_ir)
    if kind == "bad":
        raise InputError(f"the region cannot be judged against: {reading}")
    policy = Policy.of(reading)
    drawer = Drawer(reading, policy, reading.integers, reading.floats, seed)
    tester = Tester(Form(region_ir, level, reading), Form(region_ir, level, reading), policy, "cpu", seed)
    planned = _affordable(plan(drawer, reading, policy, reading.integers, most))
    outcomes = list(tester.original_outcomes([p.call for p in planned]))
    kept = [(p, o) for p, o in zip(planned, outcomes, strict=True) if o is not None]
    references = tester.references([(p, o, o.results) for p, o in kept], _MOVED)
    blob = bytearray()
    rows = []
    for (plan_, outcome), runs in zip(kept, references, strict=True):
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
    """The calls that fit into a pack together, in order. Calls in which arguments share a buffer are left out."""
    kept, total = [], 0
    for item in planned:
        size = (_MOVED + 3) * sum(array.nbytes for array in item.call.arguments)  # with references in f64
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


def _job(region_ir: str, original: Executable, sizes: Mapping[str, int] | None) -> dict[str, Any] | None:
    """The timing job, for ``kc.agents.measure.run_there``; None where inputs cannot be drawn."""
    from kc.agents.measure.prepare import arguments
    from kc.agents.measure.rounds import Job, Program

    try:
        drawn = arguments(region_ir, sizes)
    except InputError:
        return None
    programs = [Program(f"{name}.kca", drawn) for name in ("original", "proposal")]
    job = Job(programs[0], programs[1], device=0 if original.manifest["target"] == "nvptx" else None)
    return dataclasses.asdict(job)
