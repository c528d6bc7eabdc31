"""Judging again what a ledger says was accepted: a ledger's hashes find accidents, they do not say who wrote a line."""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
from collections.abc import Iterable, Iterator
from typing import Literal

from kc.agents.ledger import Attempt, Ledger, LedgerError, why_stale
from kc.agents.protocol import Proposal, ProtocolError, Verdict
from kc.agents.realize.compiled import Held, holding
from kc.errors import KcError

#: rejections that say nothing about a proposal, but that this machine cannot judge it
_NOT_HERE = ("resource.device", "resource.unsupported")


@dataclasses.dataclass(frozen=True)
class Checked:
    """An accepted attempt, judged again: ``same``, ``differs`` or ``unknown`` (it cannot be judged here), and why."""

    attempt: Attempt
    outcome: Literal["same", "differs", "unknown"]
    message: str = ""
    verdict: Verdict | None = None


def accepted(ledger: Ledger) -> list[Attempt]:
    """The attempts that builds take from a ledger: of each region and agent what settles it, if that was accepted."""
    keys = dict.fromkeys((a.identity, a.agent, a.agent_version) for a in ledger.entries())
    found = [ledger.recall(*key) for key in keys]
    return [a for a in found if a is not None and a.outcome == "accepted" and (a.proposal or {}).get("kind") != "keep"]


def verify(ledger: Ledger, attempts: Iterable[Attempt], seed: int | None = None) -> Iterator[Checked]:
    """Judge each of the attempts against the region that the ledger has for it. ``seed``: of the gates' inputs."""
    for attempt in attempts:
        region = ledger.region(attempt.identity)
        stale = why_stale(attempt)
        if region is None:
            yield Checked(attempt, "unknown", "the ledger does not have its region")
        elif stale is not None:
            yield Checked(attempt, "unknown", f"no build takes it: {stale}")
        else:
            yield check(ledger, attempt, region.ir, seed=seed)


def check(ledger: Ledger, attempt: Attempt, ir: str, *, timing: bool = False, seed: int | None = None) -> Checked:
    """Judge an accepted attempt again for the region ``ir``; ``timing``: it must be faster, too."""
    from kc.agents.session.converse import gates

    seed = secrets.randbits(63) if seed is None else seed
    try:
        proposal = attempt.message()
        assert proposal is not None
        with holding() as held:
            verdict = gates(ir, proposal, level=attempt.level, target=attempt.target, timing=timing, seed=seed)
            if not verdict.accepted:
                outcome: Literal["differs", "unknown"] = "unknown" if verdict.reason in _NOT_HERE else "differs"
                return Checked(attempt, outcome, f"{verdict.reason}: {verdict.message}", verdict)
            changed = _code(ledger, attempt, proposal, ir, held)
    except (KcError, ProtocolError) as error:
        return Checked(attempt, "unknown", str(error))
    return Checked(attempt, "same", verdict=verdict) if changed is None else changed


def _code(ledger: Ledger, attempt: Attempt, proposal: Proposal, ir: str, held: Held) -> Checked | None:
    """Whether the compiled code beside the ledger is what the compiler makes of the source; None: it is."""
    if not attempt.code:
        return None
    try:
        kept = ledger.code(attempt)
    except LedgerError as error:
        return Checked(attempt, "differs", error.message)
    assert kept is not None
    if held.code is None:
        from kc.agents.realize import realize

        with contextlib.suppress(KcError):
            realize(ir, proposal, attempt.level, attempt.target)
    file = attempt.code["file"]
    if held.code is None:
        return Checked(attempt, "unknown", f"'{file}' cannot be compared: nothing here compiles its source")
    if held.code.digest == kept.digest and held.code.facts == kept.facts:
        return None
    if held.code.compiler != kept.compiler:
        message = f"'{file}' cannot be compared: {kept.compiler} made it, here is {held.code.compiler}"
        return Checked(attempt, "unknown", message)
    return Checked(attempt, "differs", f"'{file}' is not what {kept.compiler} makes of the source")
