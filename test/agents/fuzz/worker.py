"""A process that makes mutants and has them judged: lines ``{"entry": ID, "seed": N}`` in, verdicts out.

Besides the verdict, each answer says how many files this process has open and which processes descend from it.
"""
from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]


def descendants(pid: int) -> list[int]:
    """All processes below ``pid``."""
    found: list[int] = []
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
        children = [w for task in tasks for w in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
    except OSError:  # it has ended
        return found
    for child in map(int, children):
        found += [child, *descendants(child)]
    return found


def state() -> dict[str, Any]:
    """Open files and processes, those left out that end within three seconds of the verdict."""
    end = time.monotonic() + 3
    while (processes := len(descendants(os.getpid()))) > 1 and time.monotonic() < end:
        time.sleep(0.02)
    return {"files": len(os.listdir("/proc/self/fd")), "processes": processes}


def main() -> None:
    """Until stdin ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not come between
    import corpus
    from mutations import mutate

    from kc.agents import judge

    entries = {entry.id: entry for entry in corpus.load()}
    for line in sys.stdin:
        task = json.loads(line)
        mutant = mutate(entries[task["entry"]], task["seed"])
        target = "nvptx" if mutant.entry.level == "gpu" else "cpu"
        answer: dict[str, Any]
        try:
            verdict = judge(mutant.entry.original, mutant.proposal, mutant.entry.level, target, seed=task["seed"])
            answer = {"accepted": verdict.accepted, "reason": verdict.reason, "message": verdict.message}
            json.dumps(verdict.to_json()).encode()
        except BaseException as error:  # the judge raises nothing for a bad proposal: the fuzzer counts what it does
            answer = {"accepted": None, "reason": "raised", "message": f"{type(error).__name__}: {str(error)[:500]}"}
        out.write(json.dumps(answer | {"how": mutant.how, "state": state()}) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
