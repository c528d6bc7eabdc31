"""Proposals that only kc's own runtime runs (a library, another compiler): judged as artifacts, on this machine.

There is no text of MLIR to run in the executor. So the region is compiled as it is and with the proposal, and a child
process makes the calls of a *pack* (``kc.agents.realize.packing``) with both: twice, the second time in another order,
compared with what the region gives on the CPU in higher precision.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from kc.agents.gates import assumptions
from kc.agents.gates.reasons import Rejection
from kc.errors import KcError
from kc.temporary import Folder

if TYPE_CHECKING:
    from kc.agents.gates.reading import Reading
    from kc.agents.protocol import Proposal


@dataclasses.dataclass(frozen=True)
class Found:
    """What came of it: ``rejection`` None when the proposal passed; the rest as in a ``Verdict``."""

    rejection: Rejection | None
    runs: int = 0
    errors: dict[str, float] | None = None
    timing: dict[str, Any] | None = None


def test(
    original: str, reading: Reading, proposal: Proposal, level: str, target: str, seed: int, timing: bool
) -> Found:
    """Judge a proposal that has been realized and that this machine can run."""
    from kc.agents.realize.packing import pack
    from kc.agents.realize.realized import RealizeError
    from kc.agents.realize.there import judge

    refused = assumptions.said(reading.contract, proposal.assumes, proposal.guard)
    if refused is not None:
        return Found(refused)
    with Folder("here") as folder:
        try:
            place = pack(original, proposal, folder, level, target, seed=seed & ((1 << 63) - 1))
        except RealizeError as error:
            return Found(Rejection(error.reason, str(error)))
        except KcError as error:
            return Found(Rejection("resource.unsupported", f"it cannot be judged: {error}"[:2000]))
        data = judge(place, timing=timing)
    rejection = None
    if not data["accepted"]:
        rejection = Rejection(data["reason"], data["message"], data.get("witness"))
    return Found(rejection, data.get("runs", 0), data.get("errors"), data.get("timing"))
