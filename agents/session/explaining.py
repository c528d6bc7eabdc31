"""What stands where in a program, and why: its regions, the contract of each, what kc does with it, what agents did."""
from __future__ import annotations

import fnmatch
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kc.agents.base import Agent, Match
from kc.agents.contract import Contract
from kc.agents.gates import policy
from kc.agents.ledger import Ledger, LedgerError, Region, report
from kc.agents.protocol import Observation
from kc.agents.session import hooks
from kc.errors import InputError

if TYPE_CHECKING:
    from kc.frontends import Loaded
    from kc.targets.base import Target


class Watcher(Agent):
    """An agent that looks at every region and is never asked. ``shown``: what it saw, in order."""

    name = "explain"

    def __init__(self, levels: Sequence[str]):
        self.levels = tuple(levels)
        self.shown: list[Observation] = []
        self.match = Match(most_ops=1 << 30, when=self._look)

    def _look(self, observation: Observation) -> bool:
        self.shown.append(observation)
        return False


def explain(
    loaded: Loaded,
    target: Target,
    *,
    levels: Sequence[str] = ("linalg",),
    names: str = "*",
    entry: str = "main",
    ledger: Ledger | None = None,
    ir: bool = False,
) -> Iterator[str]:
    """Lines about the regions of a program whose names fit the glob pattern ``names``.

    ``ledger``: what agents did there is told, and done again on the way down, where the ledger has a build of the
    program. ``ir``: the text of what agents put in a region's place is shown. Raises InputError for a level that the
    road does not pass, or when no region fits.
    """
    from kc.agents.session.opening import open_session
    from kc.pipelines.roads import road
    from kc.pipelines.run import run_phases

    phases = road(target, loaded.level)
    passed = hooks.moments(phases)
    for level in levels:
        if level not in passed:
            raise InputError(f"this road has no regions at level '{level}': it passes {', '.join(passed)}")
    watcher = Watcher(levels)
    given: dict[str, Any] = {"target": target, "options": {}, "entry": entry}
    watching, session = open_session([watcher], phases, loaded.module, **given)
    again = None if ledger is None else _again(loaded, phases, ledger, given)
    yield f"road: {' -> '.join(phase.name for phase in phases)}"
    if ledger is not None and again is None:
        yield "the ledger has no build of this program: what it knows of equal regions is told"
    run_phases(loaded.module, phases, {}, hooks=[*watching, *(again or ())])
    for remark in session.remarks:
        yield f"remark: {remark}"
    chosen = [o for o in watcher.shown if fnmatch.fnmatchcase(o.name, names)]
    if not chosen:
        known = ", ".join(f"@{o.name}" for o in watcher.shown)
        raise InputError(f"no region fits '{names}'; there are {known or 'none'}")
    for observation in chosen:
        yield ""
        yield from _region(observation, ledger, ir)


def _again(loaded: Loaded, phases: Any, ledger: Ledger, given: dict[str, Any]) -> Any:
    """The hooks that do what the last build did; None where the ledger has none."""
    from kc.agents.session.opening import open_session

    try:
        return open_session([], phases, loaded.module, ledger=ledger, mode="frozen", **given)[0]
    except LedgerError:
        return None


def _region(observation: Observation, ledger: Ledger | None, ir: bool) -> Iterator[str]:
    history = [] if ledger is None else ledger.attempts(observation.identity)
    if history:
        yield from report.explain(history, Region.of(observation), ir=ir)
    else:
        facts = ", ".join(fact for fact in (observation.level, observation.kind, observation.target) if fact)
        yield f"@{observation.name} ({facts})  {observation.identity[:12]}"
        yield from report.facts(Region.of(observation))
    if observation.contract:
        yield "  contract:"
        for line in policy.explain(Contract.from_json(observation.contract)).splitlines():
            yield from textwrap.wrap(line, 116, initial_indent="    ", subsequent_indent="      ")
