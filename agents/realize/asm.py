"""Regions at level ``asm``: the PTX of a device module, or assembly of a function, answered with edited text."""

from __future__ import annotations

from kc.agents.protocol import Proposal
from kc.agents.realize import ptx_text
from kc.agents.realize.device import assemble
from kc.agents.realize.ptx_text import Entry
from kc.agents.realize.realized import Realized, RealizeError


def asm(region: str, proposal: Proposal, target: str) -> Realized:
    """Edited PTX for the device module whose PTX is ``region``: its kernels are started as the old ones are.

    For a CPU see ``x86.answer``.

    The same kernels with the same parameters, for no smaller blocks, with no state in device memory that the module
    does not have. Raises RealizeError otherwise, and when ``ptxas`` refuses it.
    """
    from kc.targets import get_target

    if target.partition(":")[0] == "cpu":
        from kc.agents.realize.x86.answer import answer

        return answer(region, proposal, target)
    if proposal.kind == "keep":
        return Realized("asm", region)
    text = proposal.ir if proposal.kind == "replace_ir" else proposal.source
    if proposal.kind not in ("replace_ir", "ptx") or text is None:
        raise RealizeError("level", "level.kind", f"level 'asm' is answered with PTX, not by '{proposal.kind}'")
    chosen = get_target(target)
    if chosen.name != "nvptx":
        raise RealizeError("level", "level.target", f"the PTX of a region for '{target}' cannot be answered")
    outside = ptx_text.outside(region)
    old, new = ptx_text.read(region, outside), ptx_text.read(text, outside)
    if set(old.entries) != set(new.entries):
        raise RealizeError(
            "signature",
            "signature.symbols",
            f"the module has the kernels {', '.join(sorted(old.entries))}, the answer {', '.join(sorted(new.entries))}",
        )
    for name, entry in old.entries.items():
        _check(entry, new.entries[name])
    if ptx_text.outside(text) != outside:
        raise RealizeError("signature", "signature.global", "the answer lacks variables that the module has")
    notes: list[str] = []
    for name in new.entries:
        _, said = assemble(new, name, chosen)
        notes += said
    return Realized("asm", text, files={"device.ptx": text.encode()}, needs="gpu", runs="kc", notes=tuple(notes))


def _check(old: Entry, new: Entry) -> None:
    """Raises RealizeError unless ``new`` can be launched wherever ``old`` is."""
    if [(p.type[1:], p.size) for p in old.parameters] != [(p.type[1:], p.size) for p in new.parameters]:
        raise RealizeError("signature", "signature.arguments", f"kernel '{old.name}' has other parameters than it had")
    if new.exact != old.exact or new.cluster != old.cluster:
        raise RealizeError("resource", "resource.block", f"kernel '{old.name}' asks for another block than it did")
    if new.most_threads is not None and (old.most_threads is None or new.most_threads < old.most_threads):
        raise RealizeError("resource", "resource.block", f"kernel '{old.name}' takes smaller blocks than it did")
