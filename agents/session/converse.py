"""Conversations: an agent is asked about a region, and told what became of its answer, until something settles it."""

from __future__ import annotations

import dataclasses
import os
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kc.agents.ledger import Attempt, Ledger
from kc.agents.ledger.ledger import substance
from kc.agents.protocol import Observation, Proposal, ProtocolError, Verdict
from kc.agents.session.asking import Lapse, Spent, Stand
from kc.errors import InputError

if TYPE_CHECKING:
    from kc.agents.base import Budget

Judge = Callable[..., Verdict]


@dataclasses.dataclass(frozen=True)
class Conversations:
    """What all conversations of a session have in common.

    ``again``: what the ledger holds of an agent is judged again before it is asked. ``timing``: whether an answer must
    also be faster. ``seed``: of the gates' inputs, None for a fresh one each time. ``judge``: None for kc's own gates.
    ``remarks`` takes what went wrong.
    """

    ledger: Ledger
    target: str
    again: bool
    timing: bool
    seed: int | None
    judge: Judge | None
    remarks: list[str]

    def hold(self, stand: Stand, observation: Observation, tried: list[Attempt]) -> Attempt | None:
        """Ask until something is accepted, the agent has no more or repeats itself, or its budget is used up.

        Returns the attempt that settles the region; what was rejected goes into ``tried``. None: the agent failed; it
        may do better the next time, so nothing is settled.
        """
        budget: Budget = stand.agent.budget
        about = f"agent '{stand.agent.name}', region '@{observation.name}'"
        attempts: list[dict[str, Any]] = []
        stale = self._stale(stand, observation)
        said: list[dict[str, Any]] = []
        for _ in range(budget.candidates):
            asked = stale is None
            shown = dataclasses.replace(observation, attempts=tuple(attempts))
            try:
                proposal, stale = (stand.asking.propose(shown) if stale is None else stale), None
            except Lapse as lapse:
                self.remarks.append(f"{about}: {lapse}")
                if not isinstance(lapse, Spent):
                    return None
                return self.ledger.record(observation, stand.agent, None, None, ended={"seconds": budget.seconds})
            if proposal is None:
                return self.ledger.record(observation, stand.agent, None, None)
            if asked and substance(proposal.to_json()) in said:
                self.remarks.append(
                    f"{about}: it gave the same proposal again after that was rejected, and is not asked further"
                )
                return self.ledger.record(observation, stand.agent, None, None, ended={"repeated": True})
            if asked:
                said.append(substance(proposal.to_json()))
            seed = secrets.randbits(63) if self.seed is None else self.seed
            try:
                verdict = self._verdict(observation, proposal, seed)
            except Exception as error:  # of the gates, which can judge nothing against this region
                what = error if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
                self.remarks.append(f"region '@{observation.name}' cannot be judged: {what}")
                return None
            attempt = self.ledger.record(observation, stand.agent, proposal, verdict, seed=seed)
            try:
                stand.asking.learn(shown, proposal, verdict)
            except Lapse as lapse:
                self.remarks.append(f"agent '{stand.agent.name}': {lapse}")
            if verdict.accepted:
                return attempt
            tried.append(attempt)
            attempts.append({"proposal": proposal.to_json(), "verdict": verdict.to_json()})
        return self.ledger.record(observation, stand.agent, None, None, ended={"candidates": budget.candidates})

    def _stale(self, stand: Stand, observation: Observation) -> Proposal | None:
        """What was accepted by rules that kc has no more, to be judged again before anybody is asked."""
        found = self.ledger.recall(observation.identity, *stand.key) if self.again else None
        if found is None or found.outcome != "accepted":
            return None
        try:
            return found.message()
        except ProtocolError:  # of another version of the protocol
            return None

    def _verdict(self, observation: Observation, proposal: Proposal, seed: int) -> Verdict:
        if proposal.kind == "keep":
            return Verdict(True)
        known = self.ledger.same(observation.identity, proposal, timing=self.timing)
        told = None if known is None else known.judgement()
        if told is not None:
            return told
        judge = gates if self.judge is None else self.judge
        return judge(
            observation.ir, proposal, level=observation.level, target=self.target, timing=self.timing, seed=seed
        )


def gates(original: str, proposal: Proposal, **how: Any) -> Verdict:
    """kc's gates, where they can judge ``proposal``: on another machine or here."""
    folder = os.environ.get("KC_PACKS")
    if folder:  # verdicts about what this machine cannot run come from another one
        from kc.agents.realize import DeviceJudge

        return DeviceJudge(folder)(original, proposal, **how)
    from kc.agents.gates.judge import judge

    return judge(original, proposal, **how)
