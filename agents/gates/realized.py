"""A proposal of any kind as IR that can be judged: its own text, or what ``kc.agents.realize`` makes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kc.agents.gates.reasons import Rejection
from kc.agents.protocol import Proposal, ProtocolError
from kc.errors import KcError

#: kinds that only MLIR's own code looks at: they are realized in a sandbox. Others call compilers of their own
_CONFINED = ("replace_ir", "schedule")


#: what to do about a proposal for a device
_ELSEWHERE = (
    "it has to be judged on a machine that has the device: write a folder with kc.agents.realize.pack(original, "
    "proposal, FOLDER, level, target), run `python -m kc.agents.realize.there FOLDER VERDICT.json` there; compilations "
    "do the former, and read the verdicts, where KC_PACKS names a folder"
)
#: in the place of a level: the proposal runs here, but in kc's own artifacts only (see ``packed``)
ARTIFACT = "artifact"


def realize(original: str, proposal: Proposal, level: str, target: str) -> tuple[str, str] | Rejection:
    """The text to be judged and the level at which it stands (``ARTIFACT`` where no text says it), or why not."""
    from kc.agents.gates import sandbox
    from kc.levels import LEVELS

    ladder = list(LEVELS)
    own = proposal.level or level
    if own not in ladder:
        return Rejection("parse.message", f"level: no level is named '{own}'; the levels are {', '.join(ladder)}")
    if ladder.index(own) < ladder.index(level):
        return Rejection("level.higher", f"the proposal stands at level '{own}', above '{level}'")
    if proposal.kind == "replace_ir" and own == level:
        assert proposal.ir is not None
        return proposal.ir, level
    if proposal.kind not in _CONFINED:
        return next(realized(original, proposal.to_json(), level, target))
    messages, end = sandbox.call("kc.agents.gates.realized:realized", original, proposal.to_json(), level, target)
    if end.kind == "error":
        raise sandbox.SandboxError(f"realizing a proposal failed in kc itself: {end.error}")
    if end.kind != "ok" or not messages:
        return Rejection(f"parse.{end.kind}", f"realizing the proposal: {end.message}")
    return messages[0]


def realized(original: str, proposal: Mapping[str, Any], level: str, target: str) -> Iterator[Any]:
    """``(text, level)`` of what a proposal becomes, or a Rejection: a task of the sandbox."""
    from kc.agents.realize.dispatch import realize as make
    from kc.agents.realize.realized import MissingError, RealizeError

    try:
        made = make(original, Proposal.from_json(proposal), level, target)
    except ProtocolError as error:
        yield Rejection("parse.message", str(error))
    except RealizeError as error:
        yield Rejection(error.reason, str(error)[:2000])
    except MissingError as error:
        yield Rejection("resource.unsupported", str(error)[:2000])
    except KcError as error:
        yield Rejection("parse.realize", str(error)[:2000])
    else:
        if made.needs != "cpu":
            yield Rejection("resource.device", _ELSEWHERE)
        else:
            yield made.ir, made.level if made.runs == "mlir" else ARTIFACT
