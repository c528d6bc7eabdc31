"""Agents: who may look at a region and propose something better, and the gates that a proposal has to pass.

Importing this package imports nothing heavy: every name below is loaded on first use (PEP 562).
"""
from __future__ import annotations

import importlib
from typing import Any

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
    if name in _EXPORTS:
        module, _, attribute = _EXPORTS[name].partition(":")
        value = getattr(importlib.import_module(module), attribute)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'kc.agents' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})
