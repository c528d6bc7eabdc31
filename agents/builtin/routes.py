"""The ways in which a region can be made faster, what each promises, and who walks it."""
from __future__ import annotations

import dataclasses

from kc.agents.builtin.evidence import Evidence
from kc.agents.protocol import Observation

#: kind of region -> route -> speed-up that it brings where it fits, as a first guess; evidence replaces it
PRIORS: dict[str, dict[str, float]] = {
    "contraction": {"schedule": 1.3, "library": 1.4, "replace_ir": 1.1},
    "attention": {"schedule": 1.3, "library": 1.3, "triton": 1.4, "replace_ir": 1.1},
    "rows": {"schedule": 1.15, "triton": 1.2, "replace_ir": 1.1},
    "map": {"schedule": 1.1, "triton": 1.1, "replace_ir": 1.1},
    "window": {"schedule": 1.3, "library": 1.3, "replace_ir": 1.1},
    "function": {"replace_ir": 1.2, "stablehlo_out": 1.2},
}
#: of kinds that have no schedule
_OTHER = {"replace_ir": 1.2}
#: rejections of proposals of one kind for one region after which it is not tried again
_ENOUGH = 2
#: least expected speed-up that is worth a try
WORTH = 1.02


@dataclasses.dataclass(frozen=True)
class Route:
    """A way with its expected speed-up, and what speaks for that number."""

    name: str
    expected: float
    why: str


def routes(observation: Observation, evidence: Evidence, allowed: tuple[str, ...]) -> list[Route]:
    """The ways worth a try, the most promising first."""
    priors = PRIORS.get(observation.kind, PRIORS["function"] if observation.level == "stablehlo" else _OTHER)
    found = [_weigh(name, prior, evidence) for name, prior in priors.items() if not allowed or name in allowed]
    return sorted((r for r in found if r.expected >= WORTH), key=lambda r: -r.expected)


def _weigh(name: str, prior: float, evidence: Evidence) -> Route:
    """The expected speed-up of a route: what was measured for this very region, else the prior within the gap."""
    tried = [t for t in evidence.tried if t.kind == name]
    measured = [t.speedup for t in tried if t.accepted and t.speedup is not None]
    if measured:
        return Route(name, max(measured), f"the ledger has it at {max(measured):.2f}")
    if len(tried) >= _ENOUGH and not any(t.accepted for t in tried):
        return Route(name, 0.0, f"{len(tried)} such proposals were rejected before")
    if name == "schedule" and evidence.tuned is not None:
        return Route(name, evidence.tuned, f"the tuning database has {evidence.tuned:.2f}")
    if evidence.gap is not None:
        bounded = min(prior, evidence.gap)
        return Route(name, bounded, f"usually {prior:.2f}, and the gap leaves room for {evidence.gap:.1f}")
    return Route(name, prior, f"usually {prior:.2f}")
