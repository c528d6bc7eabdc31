"""From a proposal of any kind to code."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from kc.agents.protocol import Proposal
from kc.agents.realize.realized import Realized
from kc.agents.realize.region import Source, parse_source

#: kind of a proposal -> function (region, proposal, level, target) -> Realized
KINDS = {
    "replace_ir": "kc.agents.realize.lower:replace_ir",
    "schedule": "kc.agents.realize.schedule:schedule",
    "ptx": "kc.agents.realize.device:ptx",
    "cuda": "kc.agents.realize.cuda:cuda",
    "triton": "kc.agents.realize.triton:triton",
    "library": "kc.agents.realize.library:library",
    "stablehlo_out": "kc.agents.realize.stablehlo_out:stablehlo_out",
}


def realize(region_ir: str, proposal: Proposal, level: str = "linalg", target: str = "cpu") -> Realized:
    """The code of ``proposal`` for the region ``@main`` of ``region_ir``, at ``level``, compiled for ``target``.

    At level ``asm`` a region is PTX text. Native code runs here (parsers, and NVRTC or Triton in children of their
    own): call it in the gates' sandbox. Raises ProtocolError that names a field, RealizeError that names a gate and a
    reason, InputError for a bad region or an extra that is not installed.
    """
    if level == "asm":
        from kc.agents.realize.asm import asm

        return asm(region_ir, proposal, target)
    if level == "llvm" and proposal.level == "asm":
        from kc.agents.realize.x86.answer import answer_to_llvm

        return answer_to_llvm(region_ir, proposal, target)
    region = parse_source(region_ir)
    if proposal.kind == "keep":
        return Realized(level, region_ir)
    module, _, name = KINDS[proposal.kind].partition(":")
    make: Callable[[Source, Proposal, str, str], Realized] = getattr(importlib.import_module(module), name)
    realized = make(region, proposal, level, target)
    if proposal.guard is not None:
        from kc.agents.realize.guard import guarded

        realized = guarded(region, realized, proposal.guard, level)
    return realized
