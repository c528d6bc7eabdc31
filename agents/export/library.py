"""A rewrite library: a folder of reviewed rewrites, as an agent. ``kc compile --agent linalg=DIR``.

Each ``.mlir`` file of the folder is a region as it was (and a FileCheck test); a comment in it, ``// kc-rewrite: {…}``,
is the proposal; what is too long for a line lies in ``Inputs/``. ``kc.agents.export.rewrites`` writes such a folder,
and a person may: what is proposed passes the same gates, wherever it comes from.
"""
from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kc.agents.base import Agent, Match
from kc.agents.export.matching import key
from kc.agents.protocol import Observation, Proposal, ProtocolError
from kc.errors import InputError

MARK = "// kc-rewrite: "
#: fields of a proposal that lie in a file of their own, which the comment names in their place
FILES = ("ir", "source", "script")


@dataclasses.dataclass(frozen=True)
class Rewrite:
    """One file: where it is, the level of the region, the module of the region, and what is proposed for it."""

    path: Path
    level: str
    before: str
    proposal: Proposal


class RewriteLibrary(Agent):
    """Proposes for a region what a folder has for one with the same module, whatever its contract.

    Raises InputError when the folder holds no rewrite, or one that cannot be read. The agent's version is a hash of the
    folder's files, so that ledgers notice when these change.
    """

    def __init__(self, folder: str | Path, levels: Sequence[str] | None = None):
        self.folder = Path(folder)
        self.rewrites = read(self.folder)
        if not self.rewrites:
            raise InputError(f"'{folder}' is no library of rewrites: no .mlir file in it has a line '{MARK.strip()}'")
        self.name = f"rewrites-{self.folder.resolve().name}"
        self.version = _version(self.rewrites)
        self.levels = tuple(levels or dict.fromkeys(rewrite.level for rewrite in self.rewrites))
        self.match = Match(most_ops=1 << 30)
        self._by_key: dict[tuple[str, str], list[Rewrite]] = {}
        for rewrite in self.rewrites:
            self._by_key.setdefault((rewrite.level, key(rewrite.before)), []).append(rewrite)

    def propose(self, observation: Observation) -> Proposal | None:
        """The next of the folder's proposals for this region that was not tried; None when there is none."""
        tried = [attempt["proposal"] for attempt in observation.attempts]
        for rewrite in self._by_key.get((observation.level, key(observation.ir)), []):
            if rewrite.proposal.to_json() not in tried:
                return rewrite.proposal
        return None


def read(folder: Path) -> list[Rewrite]:
    """The rewrites of a folder, in the order of their names. Raises InputError that names the file at fault."""
    if not folder.is_dir():
        raise InputError(f"no such folder: {folder}")
    found = []
    for path in sorted(folder.glob("*.mlir")):
        text = path.read_text(encoding="utf-8")
        line = next((line for line in text.splitlines() if line.startswith(MARK)), None)
        if line is not None:
            found.append(_rewrite(path, line[len(MARK) :], text))
    return found


def _rewrite(path: Path, told: str, text: str) -> Rewrite:
    try:
        data: Any = json.loads(told)
        level, fields = data["level"], dict(data["proposal"])
        for name in FILES:
            if isinstance(fields.get(name), str):
                fields[name] = _beside(path, fields[name]).read_text(encoding="utf-8")
        return Rewrite(path, str(level), text, Proposal.from_json(fields))
    except OSError as error:
        raise InputError(f"{path}: cannot read {error.filename}: {error.strerror}") from None
    except ProtocolError as error:
        raise InputError(f"{path}: the proposal is none: {error.message}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: after '{MARK.strip()}' stands no object with level and proposal: {error}") from None


def _beside(path: Path, name: str) -> Path:
    if Path(name).name != name:
        raise InputError(f"{path}: '{name}' is no name of a file in Inputs/")
    return path.parent / "Inputs" / name


def _version(rewrites: list[Rewrite]) -> str:
    told = [[r.path.name, r.level, key(r.before), r.proposal.to_json()] for r in rewrites]
    return hashlib.blake2b(json.dumps(told, sort_keys=True).encode(), digest_size=8).hexdigest()
