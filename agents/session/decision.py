"""What became of a region under an agent, and how that is told."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from kc.agents.ledger import Attempt


@dataclasses.dataclass(frozen=True)
class Decision:
    """What became of one region under one agent: ``attempt`` settled it (None: nothing did, see ``remarks``).

    ``from_ledger``: nobody was asked. ``tried``: what was rejected before, oldest first.
    """

    at: str
    level: str
    region: str
    identity: str
    agent: str
    attempt: Attempt | None
    from_ledger: bool = False
    tried: tuple[Attempt, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells a decision from others of its session: hook point, region and agent."""
        return self.at, self.identity, self.agent

    @property
    def accepted(self) -> bool:
        """Whether something else stands in the region's place now."""
        return self.attempt is not None and self.attempt.outcome == "accepted" and not _is_keep(self.attempt)

    def __str__(self) -> str:
        source = ", from the ledger" if self.from_ledger else ""
        if self.attempt is None or self.attempt.proposal is None:
            from kc.agents.ledger.report import ended

            why = "" if self.attempt is None else ended(self.attempt)
            if self.tried:
                what = _rejected(self.tried, self.agent) + (f"; {why}" if why else "")
            else:
                what = f"'{self.agent}' was asked no further: {why}" if why else f"'{self.agent}' leaves it"
            return f"@{self.region} ({self.level}): {what}{source if self.tried or why else ''}"
        verdict = self.attempt.judgement()
        what = str(self.attempt.proposal.get("kind"))
        gain = (verdict.timing or {}).get("speedup") if verdict else None
        faster = f", {gain:.2f} times as fast" if isinstance(gain, float) else ""
        return f"@{self.region} ({self.level}): {what} of '{self.agent}' {self.attempt.outcome}{faster}{source}"


def _rejected(tried: Sequence[Attempt], agent: str) -> str:
    """``8 proposals of 'wrong' rejected, last: numeric.value: result 0[0] is …``."""
    verdict = tried[-1].verdict or {}
    message = str(verdict.get("message") or "").partition("\n")[0]
    why = ": ".join(part for part in (str(verdict.get("reason", "")), message) if part)
    return f"{len(tried)} proposal{'s' if len(tried) > 1 else ''} of '{agent}' rejected, last: {why}"


def _is_keep(attempt: Attempt) -> bool:
    return attempt.proposal is not None and attempt.proposal.get("kind") == "keep"
