"""The agent ``patterns``: rewrites written by a person, applied to a region and sent through the gates like any other.

    kc compile model.mlir --agent 'stablehlo=patterns{rules=mine.py,more.mlir}' …

A rule that is wrong somewhere costs nothing: its verdict comes back with a counter-example, and the agent tries again
without it. Rules whose assumptions the contract does not grant are not applied at all.
"""
from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

from kc.agents.base import Agent
from kc.agents.protocol import Observation, Proposal, Verdict
from kc.errors import CompileError, InputError

#: rules that come with kc: those whose file is named after the region's level
OWN_RULES = Path(__file__).with_name("rules")


@dataclasses.dataclass
class PatternsAgent(Agent):
    """Proposes the region after a person's rules; after a rejection, without one of them or with one alone.

    ``rules``: ``.py`` files with ``kc.Pass`` classes and ``@kc.rewrite`` functions, ``.mlir`` files with PDL patterns;
    kc's own for the region's level when none are named. ``seconds``: CPU seconds of one application.
    """

    rules: tuple[str, ...] = ()
    seconds: float = 60.0

    name = "patterns"
    version = "1"
    levels = ("stablehlo", "linalg")

    def __post_init__(self) -> None:
        #: region -> sets of rules left out that were proposed already, and those still to try
        self._left: dict[str, list[frozenset[str]]] = {}
        missing = [path for path in self.rules if not os.path.isfile(path)]
        if missing:
            raise InputError(f"agent 'patterns': no such file of rules: {missing[0]}")

    def propose(self, observation: Observation) -> Proposal | None:
        """See the class; None when no rule fires."""
        paths = [str(p) for p in self.rules or _own(observation.level)]
        if not paths:
            return None
        first = observation.identity not in self._left
        todo = self._left.setdefault(observation.identity, [frozenset()])
        while todo:
            skip = todo.pop(0)
            answer = _apply(observation, paths, skip, self.seconds)
            fired = answer["fired"]
            if first:
                first = False
                todo += _variants(fired)
            if fired:
                return Proposal(
                    "replace_ir", ir=answer["ir"], level=observation.level, assumes=tuple(answer["assumes"]),
                    rationale=f"rules that fired: {', '.join(fired)}",
                )
        return None

    def learn(self, observation: Observation, proposal: Proposal, verdict: Verdict) -> None:
        """Nothing is left to try once a set of rules was accepted."""
        if verdict.accepted:
            self._left[observation.identity] = []


def _own(level: str) -> list[Path]:
    return [path for path in (OWN_RULES / f"{level}.py", OWN_RULES / f"{level}.mlir") if path.exists()]


def _variants(fired: list[str]) -> list[frozenset[str]]:
    """What to leave out next: each rule in turn, then all but one."""
    if len(fired) < 2:
        return []
    without = [frozenset([name]) for name in fired]
    alone = [frozenset(fired) - {name} for name in fired]
    return list(dict.fromkeys([*without, *alone]))


def _apply(observation: Observation, paths: list[str], skip: frozenset[str], seconds: float) -> dict[str, Any]:
    """``rewriting.task`` in a sandbox; raises CompileError that says what went wrong there."""
    from kc.agents.gates import sandbox

    request = {"ir": observation.ir, "rules": paths, "skip": sorted(skip), "contract": observation.contract}
    limits = sandbox.Limits(step=seconds, wall=10 * seconds)
    answers, end = sandbox.call("kc.agents.builtin.rewriting:task", request, limits=limits)
    if end.kind != "ok":
        raise CompileError(f"the rules of {', '.join(paths)} failed: {end.message or end.kind}")
    return answers[0]  # type: ignore[no-any-return]
