"""Conversations: an agent is asked about a region, and told what became of its answer, until something settles it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kc.agents.ledger import Attempt, Ledger, why_stale
from kc.agents.ledger.ledger import substance
from kc.agents.protocol import Observation, Proposal, ProtocolError, Verdict
from kc.agents.realize.compiled import Held, holding
from kc.agents.session.asking import Lapse, NotYet, Spent, Stand
from kc.errors import InputError, KcError

if TYPE_CHECKING:
    from kc.agents.base import Budget
    from kc.agents.ledger.code import Code

Judge = Callable[..., Verdict]


@dataclasses.dataclass(frozen=True)
class Conversations:
    """What all conversations of a session have in common.

    ``again``: the ledger is made use of: an agent is shown what it tried before, and what was accepted by rules that kc
    has no more is judged again before it is asked. ``reopened``: (identity of a region, agent) for which the former
    holds in any case. ``timing``: whether an answer must
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
    reopened: set[tuple[str, str]] = dataclasses.field(default_factory=set)

    def hold(self, stand: Stand, observation: Observation, tried: list[Attempt]) -> Attempt | None:
        """Ask until something is accepted, the agent has no more or repeats itself, or its budget is used up.

        Returns the attempt that settles the region; what was rejected goes into ``tried``. None: the agent failed, or
        answers later; it may do better the next time, so nothing is settled.
        """
        budget: Budget = stand.agent.budget
        about = f"agent '{stand.agent.name}', region '@{observation.name}'"
        earlier = self._earlier(stand, observation)
        attempts = [{"proposal": a.proposal, "verdict": a.verdict} for a in earlier]
        known = [substance(a.proposal) for a in earlier if a.proposal]
        stale = self._stale(stand, observation)
        said: list[dict[str, Any]] = []
        left = max(budget.candidates - len(earlier), min(1, budget.candidates))
        while left > 0:
            asked = stale is None
            shown = dataclasses.replace(observation, attempts=tuple(attempts))
            try:
                proposal, stale = (stand.asking.propose(shown) if stale is None else stale), None
            except NotYet:
                return None
            except Lapse as lapse:
                self.remarks.append(f"{about}: {lapse}")
                if not isinstance(lapse, Spent):
                    return None
                return self.ledger.record(observation, stand.agent, None, None, ended={"seconds": budget.seconds})
            if proposal is None:
                return self.ledger.record(observation, stand.agent, None, None)
            text = substance(proposal.to_json())
            if asked and text in said:
                self.remarks.append(
                    f"{about}: it gave the same proposal again after that was rejected, and is not asked further"
                )
                return self.ledger.record(observation, stand.agent, None, None, ended={"repeated": True})
            if asked:
                said.append(text)
            left -= text not in known  # one that does not look at what it tried comes to the end of that first
            seed = secrets.randbits(63) if self.seed is None else self.seed
            try:
                with holding() as held:
                    verdict, source = self._verdict(observation, proposal, seed)
            except Exception as error:  # of the gates, which can judge nothing against this region
                what = error if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
                self.remarks.append(f"region '@{observation.name}' cannot be judged: {what}")
                return None
            code = self._code(observation, proposal, held, source) if verdict.accepted else None
            attempt = self.ledger.record(observation, stand.agent, proposal, verdict, seed=seed, compiled=code)
            try:
                stand.asking.learn(shown, proposal, verdict)
            except Lapse as lapse:
                self.remarks.append(f"agent '{stand.agent.name}': {lapse}")
            if verdict.accepted:
                return attempt
            tried.append(attempt)
            if text not in known:
                attempts.append({"proposal": proposal.to_json(), "verdict": verdict.to_json()})
        return self.ledger.record(observation, stand.agent, None, None, ended={"candidates": budget.candidates})

    def _earlier(self, stand: Stand, observation: Observation) -> list[Attempt]:
        """What the agent tried for the region in builds before, and in vain, oldest first and each once."""
        if not self.again and (observation.identity, stand.agent.name) not in self.reopened:
            return []
        found: list[Attempt] = []
        for attempt in self.ledger.attempts(observation.identity, *stand.key):
            if attempt.outcome != "rejected" or why_stale(attempt) or not attempt.proposal:
                continue
            same = substance(attempt.proposal)
            found = [a for a in found if a.proposal and substance(a.proposal) != same] + [attempt]
        return found

    def _stale(self, stand: Stand, observation: Observation) -> Proposal | None:
        """What was accepted by rules that kc has no more, to be judged again before anybody is asked."""
        found = self.ledger.recall(observation.identity, *stand.key) if self.again else None
        if found is None or found.outcome != "accepted":
            return None
        try:
            return found.message()
        except ProtocolError:  # of another version of the protocol
            return None

    def _verdict(self, observation: Observation, proposal: Proposal, seed: int) -> tuple[Verdict, Attempt | None]:
        """The verdict, and the attempt in the ledger that it is of, if it is known from there."""
        if proposal.kind == "keep":
            return Verdict(True), None
        known = self.ledger.same(observation.identity, proposal, timing=self.timing)
        told = None if known is None else known.judgement()
        if told is not None:
            return told, known
        judge = gates if self.judge is None else self.judge
        verdict = judge(
            observation.ir, proposal, level=observation.level, target=self.target, timing=self.timing, seed=seed
        )
        return verdict, None

    def _code(self, observation: Observation, proposal: Proposal, held: Held, known: Attempt | None) -> Code | None:
        """What a compiler of others makes of an accepted proposal: what was judged where that was made here."""
        if proposal.kind not in ("cuda", "triton") or self.ledger.path is None:
            return None
        if known is not None and known.code:
            return self.ledger.code(known)
        if held.code is None:
            from kc.agents.realize import realize

            with holding() as held, contextlib.suppress(KcError, ProtocolError):  # placing it will tell
                realize(observation.ir, proposal, observation.level, self.target)
        return held.code


def gates(original: str, proposal: Proposal, **how: Any) -> Verdict:
    """kc's gates, where they can judge ``proposal``: on another machine or here."""
    folder = os.environ.get("KC_PACKS")
    if folder:  # verdicts about what this machine cannot run come from another one
        from kc.agents.realize import DeviceJudge

        return DeviceJudge(folder)(original, proposal, **how)
    from kc.agents.gates.judge import judge

    return judge(original, proposal, **how)
