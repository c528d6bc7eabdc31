"""Pruning: a ledger without the lines that no build needs any more."""
from __future__ import annotations

import dataclasses
import os
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from kc.agents.ledger import code
from kc.agents.ledger.journal import Journal, Scan
from kc.agents.ledger.lines import Attempt, Build, Line, Region
from kc.agents.ledger.stale import why_stale

#: what may be dropped, and what is meant
REASONS = {
    "rejected": "attempts that were rejected",
    "superseded": "attempts and builds that a newer one of the same region and agent, or program, replaced",
    "stale": "attempts judged by other rules than this kc has (see docs/agents/ledger.md)",
    "unused": "regions without an attempt",
    "double": "lines that are there twice",
    "broken": "lines that cannot be read",
    "code": "files of compiled code that no line needs",
}


@dataclasses.dataclass(frozen=True)
class Pruned:
    """What was kept, and why the rest went: (line, reason) in the order of the file; files of compiled code."""

    kept: tuple[Line, ...]
    dropped: tuple[tuple[Line, str], ...]
    broken: int
    files: tuple[str, ...] = ()

    def summary(self) -> dict[str, int]:
        """Reason -> number of lines."""
        counts = Counter(reason for _, reason in self.dropped)
        counts["broken"] += self.broken
        counts["code"] += len(self.files)
        return {reason: counts[reason] for reason in REASONS if counts[reason]}


def prune(
    path: str | os.PathLike[str], reasons: Collection[str] = tuple(REASONS), *, dry_run: bool = False
) -> Pruned:
    """Drop the lines to which one of ``reasons`` applies; the file is replaced whole or not at all.

    Double and broken lines always go, and files of compiled code that no line needs; lines of a newer kc stay. With
    ``dry_run`` nothing is written. Raises LedgerError when the file cannot be read or written.
    """
    journal = Journal(path)
    if dry_run:
        return _with_files(journal.path, _split(held := journal.read(), reasons), held)
    result: list[Pruned] = []

    def keep(scan: Scan) -> Sequence[Line]:
        result.append(_with_files(journal.path, _split(scan, reasons), scan))
        return result[-1].kept

    journal.rewrite(keep, lambda: code.remove(journal.path, result[-1].files))
    return result[-1]


def _with_files(path: str, pruned: Pruned, scan: Scan) -> Pruned:
    """``pruned`` with the files that no kept line needs; none where a newer kc wrote lines, which may need any."""
    if any(problem.keep for problem in scan.problems):
        return pruned
    used = [line.code for line in pruned.kept if isinstance(line, Attempt) and line.code]
    return dataclasses.replace(pruned, files=tuple(code.unused(path, used)))


def _split(scan: Scan, reasons: Collection[str]) -> Pruned:
    why: dict[int, str] = {}
    seen: set[str] = set()
    settled: dict[tuple[str, str, str], int] = {}
    programs: dict[tuple[str, str], int] = {}
    for number, line in enumerate(scan.lines):
        if line.hash in seen or (isinstance(line, Region) and line.identity in seen):
            why[number] = "double"
            continue
        seen.update((line.hash, line.identity) if isinstance(line, Region) else (line.hash,))
        if isinstance(line, Attempt) and line.outcome == "rejected":
            why[number] = "rejected"
        elif isinstance(line, Attempt) and why_stale(line):
            why[number] = "stale"
        elif isinstance(line, Attempt):
            _newest(scan.lines, settled, (line.identity, line.agent, line.agent_version), number, why)
        elif isinstance(line, Build):
            _newest(scan.lines, programs, (line.program, line.target), number, why)
    why = {number: reason for number, reason in why.items() if reason == "double" or reason in reasons}
    if "unused" in reasons:
        asked = {a.identity for n, a in enumerate(scan.lines) if n not in why and isinstance(a, Attempt)}
        for number, line in enumerate(scan.lines):
            if isinstance(line, Region) and line.identity not in asked:
                why.setdefault(number, "unused")
    kept = tuple(line for number, line in enumerate(scan.lines) if number not in why)
    dropped = tuple((scan.lines[number], why[number]) for number in sorted(why))
    return Pruned(kept, dropped, sum(not problem.keep for problem in scan.problems))


def _newest(
    lines: Sequence[Line], newest: dict[Any, int], key: tuple[str, ...], number: int, why: dict[int, str]
) -> None:
    """Let line ``number`` and the one that is newest under ``key`` so far settle which is superseded."""
    other = newest.get(key)
    if other is None:
        newest[key] = number
        return
    old, new = sorted((other, number), key=lambda n: lines[n].order)  # type: ignore[union-attr]
    newest[key], why[old] = new, "superseded"
