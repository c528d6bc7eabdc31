"""The ways in which a region can be made faster, what each needs and promises."""
from __future__ import annotations

import dataclasses
import difflib
import importlib.util
from collections.abc import Sequence

from kc.agents.builtin.evidence import Evidence
from kc.agents.protocol import Observation
from kc.errors import InputError

#: kind of region -> route -> speed-up that it brings where it fits, as a first guess; evidence replaces it
PRIORS: dict[str, dict[str, float]] = {
    "contraction": {"schedule": 1.3, "library": 1.4, "replace_ir": 1.1},
    "attention": {"schedule": 1.3, "library": 1.3, "triton": 1.4, "replace_ir": 1.1},
    "rows": {"schedule": 1.15, "triton": 1.2, "replace_ir": 1.1},
    "map": {"schedule": 1.1, "triton": 1.1, "replace_ir": 1.1},
    "window": {"schedule": 1.3, "library": 1.3, "replace_ir": 1.1},
    "function": {"replace_ir": 1.2, "stablehlo_out": 1.2},
}
#: way -> packages that it needs here, each with the extra of kc that brings it
NEEDS: dict[str, tuple[tuple[str, str], ...]] = {
    "schedule": (("optuna", "search"), ("sklearn", "search")),
    "library": (("scipy", "linalg"),),
    "replace_ir": (("egglog", "algebra"),),
    "triton": (("triton", "triton"),),
    "stablehlo_out": (("jax", "jax"),),
}
#: ways on which kc's own agents need that, and others do not
_OWN = frozenset({"schedule", "library", "replace_ir"})
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


def missing(way: str) -> str | None:
    """What is not installed of what a way needs, and how it is; None when all is there."""
    absent = [pair for pair in NEEDS[way] if importlib.util.find_spec(pair[0]) is None]
    if not absent:
        return None
    names = " and ".join(f"'{package}'" for package, _ in absent)
    extras = ",".join(dict.fromkeys(extra for _, extra in absent))
    return f"{names} {'are' if len(absent) > 1 else 'is'} not installed (pip install 'kc[{extras}]')"


def ways(use: Sequence[str], delegates: Sequence[str], seconds: float) -> tuple[tuple[str, ...], list[str]]:
    """The ways that somebody can walk, of ``use`` or of all; and what to say of the others, and of who is missing.

    ``seconds``: of a search of schedules; without any, nothing but the tuning database is asked. Raises InputError for
    a way in ``use`` that there is not, or that nobody can walk.
    """
    found, notes = [], []
    for way in use or NEEDS:
        if way not in NEEDS:
            near = difflib.get_close_matches(way, NEEDS, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(NEEDS)}"
            raise InputError(f"agent 'router' knows no way '{way}'; {hint}")
        why = None if way == "schedule" and seconds <= 0 else missing(way)
        if way == "triton" and not delegates:
            why = "none of kc's agents writes Triton: name one that does in 'delegates'" + (f"; {why}" if why else "")
        if why is None or (way in _OWN and (delegates or way == "replace_ir")):
            found.append(way)
        elif use:
            raise InputError(f"agent 'router' is to use '{way}', and cannot: {why}")
        if why is not None:
            who = "'patterns' and the delegates" if way == "replace_ir" else "the delegates"
            notes.append(f"way '{way}' is " + (f"left to {who}" if way in found else "off") + f": {why}")
    return tuple(found), notes


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
