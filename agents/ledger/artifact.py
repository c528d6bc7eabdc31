"""The ledger inside an artifact: the attempts that the build used, as lines of ``agents.jsonl``.

The lines are those of the ledger, so that a frozen build writes the same bytes as the build that it repeats.
"""
from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable

from kc.agents.ledger import lines
from kc.agents.ledger.errors import LedgerError

#: name of the file in the artifact; the manifest lists the hashes of its lines under ``agents``
FILE = "agents.jsonl"


def artifact_lines(used: Iterable[lines.Attempt]) -> bytes:
    """What ``FILE`` holds: one line for each attempt used, in the order of use, each once."""
    once = {attempt.hash: attempt for attempt in used}
    return "".join(f"{lines.text_of(attempt)}\n" for attempt in once.values()).encode("ascii")


def of_artifact(path: str | os.PathLike[str]) -> list[lines.Attempt]:
    """The attempts that an artifact's build used. Raises LedgerError when it cannot be read or a line is broken."""
    name = os.fspath(path)
    try:
        with zipfile.ZipFile(name) as archive:
            text = archive.read(FILE).decode("utf-8") if FILE in archive.namelist() else ""
        found = [lines.parse(line) for line in text.splitlines()]
    except (OSError, zipfile.BadZipFile, UnicodeDecodeError, lines.LineError) as error:
        raise LedgerError(f"cannot read the agents' part of the artifact '{name}': {error}") from error
    return [line for line in found if isinstance(line, lines.Attempt)]
