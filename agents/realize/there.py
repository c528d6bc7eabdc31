"""Judge a proposal where it runs: ``python -m kc.agents.realize.there FOLDER [VERDICT.json] [--no-timing]``.

``FOLDER`` is what ``kc.agents.realize.pack`` wrote. Needs NumPy, ml_dtypes and kc's runtime, neither MLIR nor a
compiler; with PyTorch, inputs lie on the GPU with margins around them that are watched. The calls are made in a process
of its own, twice, the second time in another order, over memory that held other bytes. Where ``compute-sanitizer`` is
found, some calls are made under its checks of memory, races and barriers too. The verdict is that of
``kc.agents.protocol``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kc.agents import children
from kc.temporary import Folder

#: wall seconds of all calls together, of those under a sanitizer (each tool), and calls made there
_SECONDS, _SANITIZED_SECONDS, _SANITIZED = 120.0, 120.0, 5
_TOOLS = {"memcheck": "aliasing.bounds", "racecheck": "race.conflict", "synccheck": "race.barrier"}
_FAILED = 86  # exit status that a sanitizer is told to give


def judge(folder: str | os.PathLike[str], timing: bool = True, sanitize: bool = True) -> dict[str, Any]:
    """The verdict (as JSON) of a pack."""
    path = Path(folder).resolve()
    started = time.perf_counter()
    verdict = _numeric(path)
    if verdict["accepted"] and sanitize:
        verdict = _sanitized(path, verdict)
    if verdict["accepted"] and timing:
        verdict = _timed(path, verdict)
    data = json.loads((path / "pack.json").read_text())
    return {**verdict, "key": data["key"], "wall_seconds": round(time.perf_counter() - started, 3)}


def _verdict(gate: str | None, reason: str, message: str, **more: Any) -> dict[str, Any]:
    return {"accepted": gate is None, "gate": gate, "reason": reason, "message": message, **more}


def _numeric(path: Path) -> dict[str, Any]:
    """The calls, in a child that may die."""
    with Folder("there") as folder:
        answer = Path(folder, "answer.json")
        command = [sys.executable, "-m", "kc.agents.realize.there_calls", str(path), str(answer)]
        done = _run(command, _SECONDS)
        if done is None:
            return _verdict("resource", "resource.time", f"the calls did not end within {_SECONDS:g} seconds")
        if answer.exists():
            found: dict[str, Any] = json.loads(answer.read_text())
            return found
        status, words = done
        return _verdict(
            "resource", "resource.crash", f"the process of the calls died (status {status}): {words[-1500:]}"
        )


def _sanitized(path: Path, verdict: dict[str, Any]) -> dict[str, Any]:
    """Some calls of the proposal under each of the sanitizer's tools."""
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    target = json.loads((path / "pack.json").read_text())["target"]
    if not os.access(tool, os.X_OK) or not target.startswith("nvptx"):
        return {**verdict, "sanitizer": None}
    told = {}
    for name, reason in _TOOLS.items():
        command = [
            tool, "--tool", name, "--error-exitcode", str(_FAILED), sys.executable, "-m",
            "kc.agents.realize.there_calls", str(path), os.devnull, "--only-proposal", str(_SANITIZED),
        ]  # fmt: skip
        done = _run(command, _SANITIZED_SECONDS)
        if done is None:
            told[name] = "took too long"
            continue
        status, words = done
        told[name] = "clean" if status == 0 else f"status {status}"
        if status == _FAILED:
            lines = [
                line.removeprefix("=========").strip() for line in words.splitlines() if line.startswith("=========")
            ]
            message = f"compute-sanitizer {name}: " + "; ".join(filter(None, lines))[:1000]
            return _verdict(reason.partition(".")[0], reason, message, runs=verdict.get("runs", 0), sanitizer=told)
    return {**verdict, "sanitizer": told}


def _timed(path: Path, verdict: dict[str, Any]) -> dict[str, Any]:
    """The timing gate. Where the region cannot be timed, the verdict stands without figures."""
    data = json.loads((path / "pack.json").read_text())
    if data["job"] is None:
        return verdict
    from kc.agents.gates import timing
    from kc.agents.measure.least_work import Work
    from kc.agents.measure.machine import machine
    from kc.agents.measure.rounds import Job, measure

    job = data["job"]
    for name in ("original", "proposal"):
        job = {**job, name: {**job[name], "path": str(path / job[name]["path"])}}
    made = Job.from_json(job)
    work = Work(**data["work"])
    found = timing.judge(measure(made), work, machine(made.device), device=made.device)
    if found.reason is None:
        return {**verdict, "timing": found.figures}
    return {**verdict, **_verdict("timing", found.reason, found.message), "timing": found.figures or None}


def _run(command: Sequence[str], seconds: float) -> tuple[int, str] | None:
    """Exit status and words of a child; None when it took longer."""
    with tempfile.TemporaryFile("w+") as words:
        child = children.start(command, stdout=words, stderr=subprocess.STDOUT)
        try:
            status = child.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, 9)
            child.wait()
            return None
        words.seek(0)
        return status, words.read()


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; the exit status is 0 whenever there is a verdict."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    plain = [word for word in given if not word.startswith("--")]
    if not 1 <= len(plain) <= 2:
        sys.stderr.write(__doc__ or "")
        return 2
    text = json.dumps(judge(plain[0], "--no-timing" not in given, "--no-sanitizer" not in given), indent=1) + "\n"
    if len(plain) == 2:
        Path(plain[1]).write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
