"""What is asked of the sandbox, and the answer in words."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING, Any

from kc.agents.execution.calls import Call, Outcome
from kc.agents.gates import sandbox
from kc.agents.gates.inputs import Drawer, Planned
from kc.agents.gates.reasons import Rejection
from kc.agents.gates.sizes import ordinary

if TYPE_CHECKING:
    from kc.agents.gates.differential import Failure, Tester

#: elements that the arguments of an ordinary call should have; that the call that was found first may have, and any
_FEW, _SMALL, _MOST = 16, 1 << 9, 1 << 13
#: characters of an op's line that are shown
_SHOWN = 160
#: ordinary calls beside the counter-example
_ORDINARY = 2
#: CPU seconds of the whole search
_SECONDS = 4.0
#: rejections that say themselves where, or of which no value tells
_WITHOUT = ("resource.", "race.conflict", "race.barrier", "numeric.shape", "numeric.nondeterministic")
#: rejections for something done beside the results, which a run under watch finds
_WATCHED = ("aliasing.bounds", "aliasing.read-only", "aliasing.heap")


@dataclasses.dataclass(frozen=True)
class Divergence:
    """An op of the proposal's text; ``line`` and ``column`` are 0 where they are not known."""

    op: str
    line: int
    column: int
    text: str
    happened: str = ""

    def __str__(self) -> str:
        where = f" at line {self.line}:{self.column}" if self.line else ""
        return f"the first op to diverge is '{self.op}'{where}" + (f", which {self.happened}" if self.happened else "")

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        found: dict[str, Any] = {"op": self.op}
        if self.line:
            found.update(line=self.line, column=self.column)
        return {**found, "text": self.text}


def find(failure: Failure, first: Failure, tester: Tester, drawer: Drawer) -> Divergence | None:
    """The op at which the proposal diverges in ``failure``, which was made of ``first`` by shrinking; None if unknown.

    Whatever goes wrong on the way is no word about the proposal.
    """
    if tester.sides.proposal.level == "asm":  # machine code tells of nothing on its way
        return None
    with contextlib.suppress(Exception):
        if failure.finding is not None:
            return _of_finding(failure.finding, tester.sides.proposal.text)
        if failure.reason in _WATCHED:
            return _watched(failure.planned, tester)
        if failure.difference is not None and not failure.reason.startswith(_WITHOUT):
            return _searched(failure, first, tester, drawer)
    return None


def shortened(line: str) -> str:
    """A line of a text without indentation, cut when it is long."""
    line = " ".join(line.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 2]} …"


def unplaced(found: Rejection) -> Rejection:
    """A rejection without lines of a text that nobody but kc has seen: of a schedule, of a library's call …"""
    where = (found.witness or {}).get("diverging")
    if where is None or "line" not in where:
        return found
    message = found.message.replace(f"'{where['op']}' at line {where['line']}:{where['column']}", f"'{where['op']}'", 1)
    kept = {name: value for name, value in where.items() if name not in ("line", "column")}
    return dataclasses.replace(found, message=message, witness={**(found.witness or {}), "diverging": kept})


def _of_finding(finding: dict[str, Any], text: str) -> Divergence | None:
    """The op that a run under watch names."""
    if not finding.get("op"):
        return None
    line, _, column = str(finding.get("place", "")).rpartition(" ")[2].partition(":")
    at = int(line) if line.isdigit() and column.isdigit() else 0
    lines = text.splitlines()
    shown = shortened(lines[at - 1]) if 0 < at <= len(lines) else finding["op"]
    return Divergence(finding["op"], at, int(column) if at else 0, shown)


def _watched(planned: Planned, tester: Tester) -> Divergence | None:
    """The op that does what no right one does, in one run in which every access is seen."""
    wants = list(tester.original_outcomes([planned.call]))
    answers = tester.sides.proposal_outcomes(tester.sides.lowered([planned], wants), watched=True)
    try:
        got = next(answers)
    finally:
        answers.close()
    seen = (*got.fatal, *got.beyond) if isinstance(got, Outcome) else ()
    return _of_finding(seen[0].to_json(), tester.sides.proposal.text) if seen else None


def _searched(failure: Failure, first: Failure, tester: Tester, drawer: Drawer) -> Divergence | None:
    from kc.agents.gates.diverging.task import Side

    difference = failure.difference
    assert difference is not None
    planned = _calls(failure.planned, first.planned, drawer)
    if planned is None:
        return None
    calls = [_plain(p.call) for p in planned]
    mine = calls
    if tester.sides.form is not None:
        outcomes = list(tester.original_outcomes(calls))
        mine = tester.sides.lowered(
            [dataclasses.replace(p, call=c) for p, c in zip(planned, calls, strict=True)], outcomes
        )
    theirs_checks, my_checks = tester.sides.traced()
    original, proposal = tester.sides.original, tester.sides.proposal
    messages, end = sandbox.call(
        "kc.agents.gates.diverging.task:find",
        Side(original.text, original.level, tuple(calls), theirs_checks),
        Side(proposal.text, proposal.level, tuple(mine), my_checks),
        difference.result,
        difference.index,
        not tester.policy.exact,
        tester.policy.zero_sign,
        limits=sandbox.Limits(step=_SECONDS, first=_SECONDS, wall=10 * _SECONDS),
    )
    if end.kind != "ok" or not messages or messages[0] is None:
        return None
    return Divergence(*messages[0])


def _calls(planned: Planned, first: Planned, drawer: Drawer) -> list[Planned] | None:
    """Ordinary calls, the counter-example as it was found, and as it is at the end; None if it is too large."""
    if _elements(planned) > _MOST:
        return None
    sizes = ordinary(drawer.shapes, [], drawer.random)
    fit = [s for s in sizes if _FEW <= drawer.shapes.elements(s) <= _MOST and min(s.values(), default=2) > 1]
    chosen = sorted(fit or sizes[:1], key=drawer.shapes.elements)[:_ORDINARY] or [planned.sizes]
    chosen = [chosen[k % len(chosen)] for k in range(_ORDINARY)]
    made = [Planned(Call(drawer.arguments(s, "normal", integers="uniform")), s, "ordinary") for s in chosen]
    kept = [first] if first is not planned and _elements(first) <= _SMALL else []
    return [*made, *kept, planned]


def _elements(planned: Planned) -> int:
    return sum(array.size for array in planned.call.arguments)


def _plain(call: Call) -> Call:
    return dataclasses.replace(call, guard="none", strided=False)
