"""Agents: who may look at a region and propose something better, and the gates that a proposal has to pass.

Importing this package imports nothing heavy: every name below is loaded on first use (PEP 562).
"""
from __future__ import annotations

from typing import Any

from kc import lazy

_EXPORTS = {
    "Agent": "kc.agents.base:Agent",
    "ArgumentContract": "kc.agents.contract:ArgumentContract",
    "Budget": "kc.agents.base:Budget",
    "Contract": "kc.agents.contract:Contract",
    "Ledger": "kc.agents.ledger:Ledger",
    "LedgerError": "kc.agents.ledger:LedgerError",
    "Match": "kc.agents.base:Match",
    "Observation": "kc.agents.protocol:Observation",
    "Proposal": "kc.agents.protocol:Proposal",
    "ProtocolError": "kc.agents.protocol:ProtocolError",
    "Verdict": "kc.agents.protocol:Verdict",
    "agent": "kc.agents.base:agent",
    "judge": "kc.agents.gates.judge:judge",
    "register": "kc.agents.base:register",
}


def __getattr__(name: str) -> Any:
    return lazy.load(__name__, _EXPORTS, name)


def __dir__() -> list[str]:
    return lazy.names(__name__, _EXPORTS)
