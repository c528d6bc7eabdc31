"""What is known of a region before anybody works on it: the gap to the roofline, what was tuned, what was tried."""
from __future__ import annotations

import dataclasses

from kc.agents.protocol import Observation


@dataclasses.dataclass(frozen=True)
class Tried:
    """An earlier proposal for the region, of any agent: its kind, whether it was accepted, its measured speed-up."""

    kind: str
    accepted: bool
    speedup: float | None = None


@dataclasses.dataclass(frozen=True)
class Evidence:
    """``default_us``: of a call as the compiler makes it (None: not measured); ``roofline_us``: no program is faster;
    ``tuned``: speed-up of the best known point of its schedule; ``tried``: what the ledger has."""

    default_us: float | None = None
    roofline_us: float | None = None
    tuned: float | None = None
    tried: tuple[Tried, ...] = ()

    @property
    def gap(self) -> float | None:
        """How many times slower than the roofline the default is."""
        if self.default_us is None or not self.roofline_us:
            return None
        return self.default_us / self.roofline_us

    def __str__(self) -> str:
        parts = []
        if self.default_us is not None:
            parts.append(f"the default takes {self.default_us:.1f} µs")
        if self.roofline_us:
            parts.append(f"the roofline is {self.roofline_us:.1f} µs")
        if self.gap is not None:
            parts.append(f"a gap of {self.gap:.1f}")
        if self.tuned is not None:
            parts.append(f"the tuning database has a schedule {self.tuned:.2f} times as fast")
        if self.tried:
            good = sum(t.accepted for t in self.tried)
            parts.append(f"the ledger has {len(self.tried)} earlier proposals, {good} accepted")
        return "; ".join(parts) or "nothing is known"


def tuned_ratio(observation: Observation, database: str) -> float | None:
    """The ratio of the best point that the tuning database has of the kernel; None where it has none."""
    from kc.agents.builtin.search.kernels import key_of
    from kc.agents.builtin.tuning_db import TuningDatabase

    if observation.level != "linalg":
        return None
    with TuningDatabase(database) as opened:
        best = opened.best(key_of(observation, {}))
    return None if best is None else best.ratio


def history(identity: str, ledger: str) -> tuple[Tried, ...]:
    """What the ledger tells of earlier proposals for the region."""
    if not ledger:
        return ()
    from kc.agents.ledger import Ledger

    found = []
    for attempt in Ledger(ledger).attempts(identity):
        proposal, verdict = attempt.proposal, attempt.judgement()
        if proposal is None or verdict is None or proposal.get("kind") == "keep":
            continue
        speedup = (verdict.timing or {}).get("speedup")
        found.append(Tried(str(proposal["kind"]), verdict.accepted, speedup if isinstance(speedup, float) else None))
    return tuple(found)
