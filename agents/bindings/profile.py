"""Times of a whole program and of its kernels, each in a process of its own, on inputs that are new for every call."""
from __future__ import annotations

import difflib
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kc import artifact
from kc.agents.measure import prepare
from kc.agents.measure.inputs import Argument
from kc.agents.measure.machine import last_level_bytes
from kc.agents.measure.prepare import Artifact
from kc.agents.measure.rounds import MOST_BYTES, MOST_CALLS, WINDOW
from kc.agents.measure.side import Side, SideError
from kc.agents.measure.statistics import interval_depth, median
from kc.errors import InputError, KcError
from kc.temporary import Folder

#: windows for one figure, and extent of dimensions that are open
LEAST, MOST, OPEN = 9, 101, 64


def profile(
    program: Artifact,
    kernels: Sequence[tuple[str, str, str]],
    entry: str,
    sizes: Mapping[str, int] | None,
    seconds: float,
    report: Callable[[int, int, str], None],
) -> dict[str, Any]:
    """``kernels``: name, kind and text of each as a region. One that cannot be timed alone says why (``error``).

    Raises InputError where ``sizes`` names a dimension that neither the entry nor a kernel has.
    """
    _check_names(sizes or {}, program[0]["entries"][entry]["args"], [text for _, _, text in kernels])
    report(0, len(kernels) + 1, "program")
    whole = measured(program, arguments_of(program[0], entry, sizes), seconds)
    rows = []
    for number, (name, kind, text) in enumerate(kernels):
        report(number + 1, len(kernels) + 1, name)
        row: dict[str, Any] = {"name": name, "kind": kind}
        try:
            arguments = prepare.arguments(text, sizes)
            row.update(measured(prepare.build(text, "linalg"), arguments, seconds))
            row["shapes"] = [list(a.shape) for a in arguments]
        except (KcError, ValueError) as error:
            row["error"] = str(error)[:500]
        rows.append(row)
    total = sum(row.get("us", 0.0) for row in rows)
    for row in rows:
        if "us" in row and total:
            row["share"] = row["us"] / total
    return {"program": whole, "kernels": sorted(rows, key=lambda row: -row.get("us", 0.0))}


def _check_names(sizes: Mapping[str, int], told: Sequence[Mapping[str, Any]], kernels: Sequence[str]) -> None:
    known = dict.fromkeys(d for argument in told for d in argument["shape"] if isinstance(d, str))
    if known.keys() >= sizes.keys():
        return
    for text in kernels:
        try:
            known |= dict.fromkeys(prepare.named_sizes(text, prepare.arguments(text)))
        except InputError:  # it is not timed alone, so no size is asked for it
            continue
    for name in sizes:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean '{near[0]}'?" if near else f"; open are {', '.join(known) or 'none'}"
            raise InputError(f"no dimension is named '{name[:60]}'{hint}")


def arguments_of(manifest: Mapping[str, Any], entry: str, sizes: Mapping[str, int] | None) -> tuple[Argument, ...]:
    """The inputs of an entry of an artifact; open dimensions are ``sizes`` by name, or ``OPEN``."""
    made = []
    for told in manifest["entries"][entry]["args"]:
        if told.get("kind", "input") != "input":
            continue
        shape = [d if isinstance(d, int) else (sizes or {}).get(str(d), OPEN) for d in told["shape"]]
        made.append(Argument(told["dtype"], tuple(shape)))
    return tuple(made)


def measured(program: Artifact, arguments: Sequence[Argument], seconds: float) -> dict[str, Any]:
    """Median time of a call in µs (``us``), its 95 % interval, and the number of windows. Raises InputError."""
    with Folder("profile") as folder:
        path = str(Path(folder) / "program.kca")
        artifact.save(path, *program)
        side = Side("program", Path(folder), len(os.sched_getaffinity(0)))
        try:
            times = _windows(side, path, arguments, seconds)
        except SideError as error:
            raise InputError(f"cannot be timed: {error}") from None
        finally:
            side.close()
    depth = max(interval_depth(len(times), 0.95), 1)
    ordered = sorted(times)
    return {"us": median(times), "interval": [ordered[depth - 1], ordered[-depth]], "windows": len(times)}


def _windows(side: Side, path: str, arguments: Sequence[Argument], seconds: float) -> list[float]:
    """Times of a call in µs, one of each window; the first ones do not count."""
    side.ask(
        "load", 60.0, path=path, loader="kc.runtime:load", arguments=[a.to_json() for a in arguments], device=None,
        flush=2 * last_level_bytes(), memory=None,
    )
    times: list[float] = []
    calls, spent = 1, 0.0
    while len(times) < LEAST or (spent < seconds and len(times) < MOST):
        side.ask("draw", 60.0, seeds=[secrets.randbits(63) for _ in range(calls)])
        wall = side.ask("run", 60.0, ahead=0)["wall"]
        spent += wall * 1e-9
        if calls == 1 and not times and spent:
            size = max(1, sum(a.nbytes for a in arguments))
            calls = max(1, min(MOST_CALLS, MOST_BYTES // size, WINDOW // max(wall, 1) + 1))
            if calls > 1:
                continue
        times.append(wall / 1e3 / calls)
    return times[1:]
