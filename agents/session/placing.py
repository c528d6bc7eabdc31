"""Placing what was accepted: IR of the region's own level in its place, anything else as its implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kc.agents.regions import Region, splice

if TYPE_CHECKING:
    from kc.agents.protocol import Observation, Proposal
    from kc.targets.base import Target


def place(region: Region, observation: Observation, proposal: Proposal, target: Target, author: str) -> None:
    """Make ``proposal`` part of the program, in the place of ``region``.

    Raises InputError or CompileError when it does not fit; the program then is as it was.
    """
    if region.level == "asm" or (region.level == "llvm" and proposal.level == "asm"):
        from kc.agents import realize

        if region.operation.name == "llvm.func":
            realize.splice_assembly(
                region.operation, realize.realize(observation.ir, proposal, region.level, target.spec)
            )
        else:
            realize.splice_ptx(region.operation, realize.realize(region.text, proposal, "asm", target.spec))
        return
    own = proposal.kind == "replace_ir" and proposal.level in (None, region.level) and proposal.guard is None
    if own and proposal.ir is not None:
        splice(region, proposal.ir, author)
        return
    from kc.agents import realize

    realized = realize.realize(observation.ir, proposal, region.level, target.spec)
    if realized.guarded is not None:
        splice(region, realized.guarded, author)
    elif realized.answer is None:
        splice(region, realized.ir, author)
    else:
        realize.splice(region.operation, realized)
