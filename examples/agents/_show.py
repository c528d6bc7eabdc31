"""What every example here shows: proposals and verdicts, speed before and after, the ledger, a frozen rebuild."""

from __future__ import annotations

import dataclasses
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import kc
from kc.agents import Agent

#: rounds of the comparison that is printed; the gate's own (``--timing``) takes longer and says how sure it is
ROUNDS = 30


@dataclasses.dataclass(frozen=True)
class Shown:
    """What came of an example: ``before`` and ``after`` in µs, the shortest of ``ROUNDS`` interleaved runs."""

    plain: kc.Executable
    executable: kc.Executable
    before: float
    after: float
    frozen_is_identical: bool


def show(compile: Callable[..., kc.Executable], agent: Agent, arguments: Sequence[Any], timing: bool = False) -> Shown:
    """Run ``compile`` without and with ``agent``, print what happened and compare the two programs on ``arguments``."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "kc-agents.jsonl"
        plain = compile()
        made = compile(agents=[agent], ledger=ledger, timing=timing)
        for attempt in made.session.ledger.entries():
            if attempt.proposal is not None and attempt.verdict is not None:
                kind = attempt.proposal["kind"]
                print(f"@{attempt.name} ({attempt.level}): {kind} of '{attempt.agent}' {attempt.outcome}")
                _print_verdict(attempt.verdict)
                print(f"  ledger: attempt {attempt.hash} for region {attempt.identity[:16]}…")
        for remark in made.session.remarks:
            print(f"  remark: {remark}")
        frozen = compile(ledger=ledger, ledger_mode="frozen")  # nobody is asked
        paths = [Path(folder) / "first.kca", Path(folder) / "frozen.kca"]
        made.save(paths[0])
        frozen.save(paths[1])
        same = paths[0].read_bytes() == paths[1].read_bytes()
    print(f"  frozen rebuild: {'byte for byte the same' if same else 'DIFFERENT'}")
    _compare(plain(*arguments), made(*arguments))
    before, after = _interleaved(plain, made, arguments)
    print(f"  {before:.0f} µs before, {after:.0f} µs after: {before / after:.2f} times as fast")
    return Shown(plain, made, before, after, same)


def main(run: Callable[[bool], Shown]) -> None:
    """The command line of an example: ``--timing`` lets the gate measure, too."""
    run("--timing" in sys.argv[1:])


def _print_verdict(verdict: dict[str, Any]) -> None:
    if not verdict["accepted"]:
        print(f"  {verdict['reason']}: {verdict['message']}")
        return
    took = verdict["seconds"].items()
    passed = ", ".join(f"{gate} {seconds:.1f} s" if seconds >= 0.05 else gate for gate, seconds in took)
    print(f"  passed: {passed}; {verdict['runs']} differential runs")
    timing = verdict.get("timing")
    if timing:
        low, high = timing["interval"]
        print(f"  timing gate: {timing['speedup']:.2f} times as fast ({low:.2f} to {high:.2f} with 95 % confidence)")


def _compare(plain: Sequence[Any], made: Sequence[Any]) -> None:
    for one, other in zip(plain, made, strict=True):
        np.testing.assert_allclose(np.asarray(other), np.asarray(one), rtol=1e-4, atol=1e-4)


def _interleaved(one: kc.Executable, other: kc.Executable, arguments: Sequence[Any]) -> tuple[float, float]:
    """The shortest of ``ROUNDS`` times in µs of both programs, run in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for program, own in zip((one, other), times, strict=True):
            started = time.perf_counter()
            program(*arguments)
            own.append(time.perf_counter() - started)
    return 1e6 * min(times[0]), 1e6 * min(times[1])
