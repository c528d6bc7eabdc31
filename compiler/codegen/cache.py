"""The object cache: what code generation made of an LLVM IR text before, under ``~/.cache/kc``.

``KC_CACHE_DIR`` names another folder, ``KC_CACHE=0`` switches the cache off. No home, a folder that cannot be
written and a damaged entry all mean a miss, never an error. Entries are written to a temporary name and renamed;
each starts with the SHA-256 of the rest. When the folder exceeds its limit (``KC_CACHE_LIMIT`` MiB, 1024) the
entries used longest ago go.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from pathlib import Path

_PRUNE_EVERY = 64
_writes = 0


def directory() -> Path | None:
    """The folder of the object cache, or None when there is to be none."""
    if os.environ.get("KC_CACHE", "1") in ("0", "off", "false"):
        return None
    given = os.environ.get("KC_CACHE_DIR")
    if given:
        return Path(given) / "objects"
    base = os.environ.get("XDG_CACHE_HOME") or ""
    if not os.path.isabs(base):
        home = os.environ.get("HOME") or ""
        if not os.path.isabs(home):
            return None
        base = os.path.join(home, ".cache")
    return Path(base) / "kc" / "objects"


def key(*parts: str) -> str:
    """The hash that stands for ``parts``; no two different tuples share their encoding."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def load(name: str) -> bytes | None:
    """The entry ``name``, or None."""
    folder = directory()
    if folder is None:
        return None
    path = folder / name[:2] / name
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) < 32 or hashlib.sha256(data[32:]).digest() != data[:32]:
        with contextlib.suppress(OSError):
            path.unlink()
        return None
    with contextlib.suppress(OSError):
        os.utime(path)
    return data[32:]


def store(name: str, data: bytes) -> None:
    """Keep ``data`` under ``name``; does nothing where the folder cannot be written."""
    global _writes
    folder = directory()
    if folder is None:
        return
    path = folder / name[:2] / name
    temporary = path.with_name(f".{name[:16]}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(hashlib.sha256(data).digest() + data)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        return
    _writes += 1
    if _writes % _PRUNE_EVERY == 1:
        prune(folder)


def prune(folder: Path) -> None:
    """Delete the entries used longest ago until ``folder`` holds no more than three quarters of the limit."""
    try:
        limit = int(os.environ.get("KC_CACHE_LIMIT", "1024")) << 20
    except ValueError:
        limit = 1024 << 20
    entries: list[tuple[float, int, Path]] = []
    for path in folder.glob("??/*"):
        with contextlib.suppress(OSError):
            status = path.stat()
            entries.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in entries)
    if total <= limit:
        return
    for _, size, path in sorted(entries, key=lambda entry: entry[0]):
        if total <= limit * 3 // 4:
            break
        with contextlib.suppress(OSError):
            path.unlink()
            total -= size
