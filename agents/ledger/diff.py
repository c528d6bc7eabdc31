"""What changed between two ledgers or artifacts: which regions are settled otherwise."""
from __future__ import annotations

import dataclasses
import difflib
import os
import zipfile
from collections.abc import Iterable
from typing import Literal

from kc.agents.ledger.artifact import of_artifact
from kc.agents.ledger.errors import LedgerError
from kc.agents.ledger.ledger import Ledger
from kc.agents.ledger.lines import Attempt


@dataclasses.dataclass(frozen=True)
class Change:
    """One region and agent: ``old`` and ``new`` are what settles it on either side, None where nothing does.

    ``what``: ``added``, ``removed``; ``region`` (the same name and level, another identity), ``answer`` (another
    proposal), ``verdict`` (the same proposal accepted anew, with other figures).
    """

    what: Literal["added", "removed", "region", "answer", "verdict"]
    old: Attempt | None
    new: Attempt | None

    @property
    def name(self) -> str:
        """The region's name."""
        return (self.new or self.old).name  # type: ignore[union-attr]


def settled(path: str | os.PathLike[str]) -> list[Attempt]:
    """What agents put in regions' places: of an artifact what it used, of a ledger the newest answers, if accepted.

    Raises LedgerError when there is no such file or it cannot be read.
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        raise LedgerError(f"no such ledger or artifact: {name}")
    if os.path.isfile(name) and zipfile.is_zipfile(name):
        return of_artifact(name)
    return [attempt for attempt in newest(Ledger(name).entries()) if attempt.outcome == "accepted"]


def newest(attempts: Iterable[Attempt]) -> list[Attempt]:
    """Of attempts, oldest first, those that settle a region for an agent (whatever its version)."""
    found: dict[tuple[str, str], Attempt] = {}
    for attempt in attempts:
        if attempt.outcome != "rejected":
            found.pop((attempt.identity, attempt.agent), None)
            found[attempt.identity, attempt.agent] = attempt
    return list(found.values())


def diff(old: Iterable[Attempt], new: Iterable[Attempt]) -> list[Change]:
    """The changes from ``old`` to ``new`` (see ``settled``), in the order of ``new``, what was removed at the end."""
    before = {(a.identity, a.agent): a for a in old}
    after = {(a.identity, a.agent): a for a in new}
    gone = {(a.level, a.at, a.name, a.agent): a for key, a in before.items() if key not in after}
    changes = []
    for key, attempt in after.items():
        other = before.get(key)
        if other is None:
            other = gone.pop((attempt.level, attempt.at, attempt.name, attempt.agent), None)
            changes.append(Change("added" if other is None else "region", other, attempt))
        elif other.proposal != attempt.proposal:
            changes.append(Change("answer", other, attempt))
        elif other.hash != attempt.hash:
            changes.append(Change("verdict", other, attempt))
    return changes + [Change("removed", attempt, None) for attempt in gone.values()]


def text_diff(change: Change) -> list[str]:
    """The IR, source or script of both proposals as a unified diff; empty when neither has any."""
    old, new = _text(change.old).splitlines(), _text(change.new).splitlines()
    return list(difflib.unified_diff(old, new, "old", "new", lineterm=""))


def _text(attempt: Attempt | None) -> str:
    proposal = (attempt.proposal if attempt is not None else None) or {}
    return next((str(proposal[key]) for key in ("ir", "source", "script") if proposal.get(key)), "")
