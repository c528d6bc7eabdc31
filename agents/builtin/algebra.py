"""The agent ``algebra``: the cheapest of all forms of a StableHLO region that its rules prove equal (``egglog``).

    kc compile model.mlir --agent stablehlo=algebra …

Rules that hold bit for bit always take part; the others only as far as the region's contract grants what they assume
(``kc.allow = ["reassoc", …]``). See ``egraph/rules.egg`` for the rules and ``egraph/extract.py`` for the costs.
"""
from __future__ import annotations

import dataclasses
from typing import Any

from kc.agents.base import Agent
from kc.agents.protocol import Observation, Proposal, Verdict
from kc.errors import CompileError, InputError


@dataclasses.dataclass
class AlgebraAgent(Agent):
    """Proposes the cheapest form that is proved equal under all that the contract allows; then under exact rules only.

    ``rules``: files of more rules (``.egg``), in kc's rulesets or their own, named after the allowances they need.
    ``rounds``, ``terms``, ``seconds``: budget of one saturation; what is proved when it is used up counts.
    """

    rules: tuple[str, ...] = ()
    rounds: int = 12
    terms: int = 20_000
    seconds: float = 10.0

    needs = (("egglog", "algebra"),)
    name = "algebra"
    version = "1"
    levels = ("stablehlo",)

    def __post_init__(self) -> None:
        #: region -> what was proposed for it
        self._proposed: dict[str, list[str]] = {}

    def propose(self, observation: Observation) -> Proposal | None:
        """See the class; None when nothing cheaper was found. Raises InputError when egglog is not installed."""
        seen = self._proposed.setdefault(observation.identity, [])
        for exact in (False, True)[len(seen):]:
            found = self._rewrite(observation, exact)
            text = found["ir"] if found else ""
            known = text in seen
            seen.append(text)
            if found and not known:
                saved = 100 * (1 - found["after"] / found["before"])
                return Proposal(
                    "replace_ir", ir=text, level="stablehlo", assumes=tuple(found["assumes"]),
                    rationale=f"estimated cost {saved:.0f} % lower ({found['stopped']}); rules that fired: "
                    + ", ".join(found["fired"]),
                )
        return None

    def learn(self, observation: Observation, proposal: Proposal, verdict: Verdict) -> None:
        """Nothing is left to try once a form was accepted."""
        if verdict.accepted:
            self._proposed[observation.identity] += [""] * 2

    def _rewrite(self, observation: Observation, exact: bool) -> dict[str, Any] | None:
        import importlib.util

        from kc.agents.gates import sandbox

        if importlib.util.find_spec("egglog") is None:
            raise InputError("the agent 'algebra' needs egglog: pip install 'kc[algebra]'")
        limits = {"rounds": self.rounds, "terms": self.terms, "seconds": self.seconds}
        request = {"ir": observation.ir, "contract": observation.contract, "exact": exact, "rules": self.rules,
                   "limits": limits}
        # a saturation for each allowance, beside the whole one
        end_by = sandbox.Limits(step=12 * self.seconds, wall=120 * self.seconds)
        answers, end = sandbox.call("kc.agents.builtin.egraph.rewrite:task", request, limits=end_by)
        if end.kind in ("time", "memory"):
            return None
        if end.kind != "ok":
            raise CompileError(f"equality saturation failed: {end.message or end.kind}")
        return answers[0] if answers else None
