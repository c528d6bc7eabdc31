"""A proposal of any kind as IR that can be judged: its own text, or what ``kc.agents.realize`` makes of it."""

from __future__ import annotations

from kc.agents.gates.reasons import Rejection
from kc.agents.protocol import Proposal, ProtocolError
from kc.errors import KcError
from kc.levels import LEVELS


def realize(original: str, proposal: Proposal, level: str, target: str) -> tuple[str, str] | Rejection:
    """The text to be judged and the level at which it stands, or why there is none."""
    ladder = list(LEVELS)
    own = proposal.level or level
    if own not in ladder:
        return Rejection("parse.message", f"level: no level is named '{own}'; the levels are {', '.join(ladder)}")
    if ladder.index(own) < ladder.index(level):
        return Rejection("level.higher", f"the proposal stands at level '{own}', above '{level}'")
    if proposal.kind == "replace_ir" and own == level:
        assert proposal.ir is not None
        return proposal.ir, level
    from kc.agents import realize as realizing

    try:
        made = realizing.realize(original, proposal, level, target)
    except ProtocolError as error:
        return Rejection("parse.message", str(error))
    except KcError as error:
        return Rejection("parse.realize", str(error)[:2000])
    if made.needs != "cpu" or made.runs != "mlir":
        return Rejection(
            "resource.unsupported",
            "the proposal needs the device, or runs in kc's own artifacts only: it can be shown to be right only there",
        )
    return made.ir, made.level
