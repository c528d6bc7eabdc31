"""Why a ledger settles nothing for a region, as near as it can tell."""
from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kc.agents.ledger.ledger import Ledger


def why_missing(ledger: Ledger, identity: str, agent: str, version: str, name: str, level: str) -> str:
    """In words: other version of the agent, other agent, all rejected, the region changed, or never seen."""
    here = ledger.attempts(identity)
    mine = [a for a in here if a.agent == agent]
    if any(a.agent_version == version for a in mine):
        count = sum(a.agent_version == version for a in mine)
        return f"all {count} proposals were rejected and it was not settled what stands instead"
    if mine:
        versions = ", ".join(sorted({a.agent_version for a in mine}))
        return f"it was settled for version {versions} of the agent"
    if here:
        return f"it was asked of {', '.join(sorted({repr(a.agent) for a in here}))} only"
    alike = [a for a in ledger.entries() if a.name == name and a.level == level and a.agent == agent]
    if alike:
        known = alike[-1].identity[:12]
        what = "its IR, contract, target or options changed"
        return f"{what} (identity {identity[:12]}, the ledger knows {known} of that name)"
    return f"it was never seen (identity {identity[:12]})"
