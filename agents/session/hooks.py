"""Hook points: at which moments of a compilation agents are asked, and how a moment is named.

A moment is ``before:PHASE`` or ``after:PHASE``. An agent may also name a level; then it is asked at that level's own
moment: where torch and StableHLO programs enter, before anything is rewritten or inlined; at linalg when kernels have
been formed; further down after the phases of the target's road that say so (``Phase.asks``).
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kc.errors import InputError

if TYPE_CHECKING:
    from kc.pipelines import Phase

#: the level of a moment that no phase is part of: texts of code (PTX, machine code), see ``kc.agents.regions.assembly``
ASM = "asm"


def moments(phases: Sequence[Phase]) -> dict[str, str]:
    """Level -> its own moment, for the levels that the road ``phases`` passes."""
    found: dict[str, str] = {}
    for phase in phases:
        if phase.start in ("torch", "stablehlo"):
            found.setdefault(phase.start, f"before:{phase.name}")
        if phase.asks:
            found[phase.end] = f"after:{phase.name}"
    for number, phase in enumerate(phases):  # a road that marks nothing: the last moment at the level
        following = phases[number + 1].start if number + 1 < len(phases) else None
        if phase.end not in found and (following is None or phases[number + 1].end != phase.end):
            found[phase.end] = f"after:{phase.name}"
    return {**found, ASM: ASM}


def resolve(where: str, phases: Sequence[Phase]) -> str:
    """The moment that ``where`` (a level or a moment) names on the road ``phases``.

    Raises InputError when the road has none of that name, with the nearest.
    """
    own = moments(phases)
    if where in own:
        return own[where]
    names = [f"{when}:{phase.name}" for phase in phases for when in ("before", "after")]
    if where in names:
        return where
    from kc.levels import LEVELS

    if where in LEVELS:
        raise InputError(f"this road does not pass level '{where}': it passes {', '.join(own)}")
    near = difflib.get_close_matches(where, [*own, *names], 1)
    hint = f"; did you mean '{near[0]}'?" if near else f"; there are the levels {', '.join(own)} and {', '.join(names)}"
    raise InputError(f"an agent is asked at a level or before:PHASE or after:PHASE, not at '{where}'{hint}")


def passes_level(where: str, phases: Sequence[Phase]) -> bool:
    """Whether the road has the level or moment ``where``; False for a level that only other roads pass."""
    from kc.levels import LEVELS

    return where not in LEVELS or where in moments(phases)
