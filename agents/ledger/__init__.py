"""The ledger: what agents proposed for which region and what became of it, kept beside the program.

A file of JSON lines that is only ever appended to: ``lines`` says what a line holds, ``journal`` how the file is
written and read, ``ledger`` answers questions about it. See docs/agents/ledger.md.
"""
from kc.agents.ledger.artifact import artifact_lines, of_artifact
from kc.agents.ledger.errors import LedgerError
from kc.agents.ledger.ledger import Ledger, load
from kc.agents.ledger.lines import Attempt, Build, Region, Visit
from kc.agents.ledger.stale import why_stale

__all__ = [
    "Attempt", "Build", "Ledger", "LedgerError", "Region", "Visit", "artifact_lines", "load", "of_artifact",
    "why_stale",
]  # fmt: skip
