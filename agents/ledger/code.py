"""Compiled device code beside a ledger: PTX in files that are named after their content.

``agents.jsonl`` has them in ``agents.code/``. An attempt whose proposal a compiler of others made PTX of (CUDA C++,
Triton) says in its field ``code`` which file that is. So a frozen build needs no such compiler, and gives the same
bytes whatever version of it there is.
"""
from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any

from kc.agents.ledger.errors import LedgerError

#: where an attempt may say that its file is, from the ledger's folder
_PLACE = re.compile(r"[^/]+\.code/([0-9a-f]{32})\.ptx")


@dataclasses.dataclass(frozen=True)
class Code:
    """PTX, the hash of what the compiler was asked, the compiler with its version, and what else it answered."""

    ptx: str
    request: str
    compiler: str
    facts: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def digest(self) -> str:
        """32 hex digits of the PTX's SHA-256."""
        return hashlib.sha256(self.ptx.encode()).hexdigest()[:32]


def folder_of(ledger: str) -> str:
    """The folder of the ledger at a path."""
    return ledger.removesuffix(".jsonl") + ".code"


def write(ledger: str, code: Code, target: str) -> dict[str, Any]:
    """Keep ``code``, compiled for ``target``; returns the field ``code`` of an attempt. Raises OSError."""
    folder = folder_of(ledger)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{code.digest}.ptx")
    if not os.path.exists(path):
        handle, temporary = tempfile.mkstemp(prefix=".kc-", suffix=".tmp", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(code.ptx.encode())
                file.flush()
                os.fchmod(file.fileno(), 0o644)
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    place = f"{os.path.basename(folder)}/{os.path.basename(path)}"
    return {"file": place, "compiler": code.compiler, "target": target, "request": code.request, "facts": code.facts}


def read(ledger: str, told: Mapping[str, Any]) -> Code:
    """What an attempt's field ``code`` tells of. Raises LedgerError when it is not there, or not what it was."""
    place = told.get("file")
    name = _PLACE.fullmatch(place) if isinstance(place, str) else None
    if name is None or not isinstance(told.get("facts"), dict):
        raise LedgerError(f"the ledger '{ledger}' names no file of compiled code, but {place!r}")
    path = os.path.join(os.path.dirname(ledger), name[0])
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise LedgerError(f"cannot read '{path}', which holds what {told.get('compiler')} compiled: {error.strerror}"
                          ) from error  # fmt: skip
    if hashlib.sha256(data).hexdigest()[:32] != name[1]:
        raise LedgerError(f"'{path}' was changed: it is not what {told.get('compiler')} compiled")
    return Code(data.decode(), str(told.get("request")), str(told.get("compiler")), told["facts"])


def unused(ledger: str, used: Iterable[Mapping[str, Any]]) -> list[str]:
    """Paths of files in the ledger's folder of which none of the fields ``used`` tells."""
    folder = folder_of(ledger)
    names = {os.path.basename(str(told.get("file"))) for told in used}
    try:
        there = sorted(os.listdir(folder))
    except FileNotFoundError:
        return []
    ours = [name for name in there if re.fullmatch(r"[0-9a-f]{32}\.ptx|\.kc-.*\.tmp", name)]
    return [os.path.join(folder, name) for name in ours if name not in names]


def remove(ledger: str, paths: Iterable[str]) -> None:
    """Remove files that ``unused`` gave, and the folder when nothing is left in it."""
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    with contextlib.suppress(OSError):  # it is not there, or not empty
        os.rmdir(folder_of(ledger))
