"""Edited assembly for a function: through the rules, the assembler, and a look at the object."""

from __future__ import annotations

from kc.agents.protocol import Proposal
from kc.agents.realize.realized import Realized, RealizeError
from kc.agents.realize.x86 import assembled, frame, lines, rules


def text_of(reference: str, target: str) -> str:
    """The text at level asm of a region of the llvm level. Raises RealizeError when it has none."""
    from kc.agents.regions import assembly
    from kc.agents.regions.buffers import Withheld
    from kc.targets import get_target
    from kc.targets.cpu import CpuTarget

    chosen = get_target(target)
    if not isinstance(chosen, CpuTarget) or chosen.architecture != "x86_64":
        raise RealizeError("level", "level.target", f"the assembly of a region for '{target}' cannot be answered")
    try:
        return assembly.text_of(reference, chosen)
    except Withheld as why:
        raise RealizeError("level", "level.kind", f"the region cannot be answered with assembly: {why}") from None


def answer_to_llvm(region: str, proposal: Proposal, target: str) -> Realized:
    """Assembly for a region of the llvm level, see ``answer``."""
    return answer(text_of(region, target), proposal, target)


def answer(region: str, proposal: Proposal, target: str) -> Realized:
    """The code of ``proposal`` for the region whose text (``kc.agents.regions.assembly``) is ``region``.

    ``Realized.ir`` is the assembly, which defines ``main``, ``files["main.o"]`` its object. Raises RealizeError for
    what is not the code of such a function, InputError for a bad region.
    """
    from kc.agents.regions import assembly
    from kc.targets import get_target
    from kc.targets.cpu import CpuTarget

    chosen = get_target(target)
    old = assembly.parts(region)
    if proposal.kind == "keep":
        return Realized("asm", old.code)
    if proposal.kind != "replace_ir" or proposal.ir is None:
        raise RealizeError("level", "level.kind", f"level 'asm' is answered with assembly, not by '{proposal.kind}'")
    if proposal.guard is not None:
        message = "a guard cannot be put before assembly: let the code itself ask for the sizes"
        raise RealizeError("verify", "verify.guard", message)
    if not isinstance(chosen, CpuTarget) or chosen.architecture != "x86_64":
        raise RealizeError("level", "level.target", f"the assembly of a region for '{target}' cannot be answered")
    code = assembly.code_of(proposal.ir)
    ours = assembled.functions(assembled.assemble(old.code, chosen))
    permits = rules.Permits(chosen.enabled, rules.instructions(lines.read(old.code)), ours)
    statements = lines.read(code)
    frame.check(statements, rules.check(statements, permits))
    made = assembled.assemble(code, chosen)
    assembled.check(made, ours)
    return Realized("asm", code, files={"main.o": made}, runs="kc")

