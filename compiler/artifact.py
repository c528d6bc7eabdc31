"""Writes artifacts: one file that ``kc.runtime.load`` runs where the compiler is not installed.

The format is described in ``kc.runtime.container``.
"""
from __future__ import annotations

import json
import os
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Mapping
from typing import IO, Any

from kc.errors import InputError
from kc.runtime.container import ALIGNMENT, MANIFEST
from kc.runtime.program import as_bytes

_TIME = (1980, 1, 1, 0, 0, 0)  # the same program gives the same bytes
_PADDING_ID = 0xD935  # extra field that archivers skip (Android's zipalign uses it for the same purpose)


def save(path: str | os.PathLike[str], manifest: Mapping[str, Any], files: Mapping[str, object]) -> None:
    """Writes an artifact to ``path``, whole or not at all (a temporary file beside it is renamed; a device or pipe is
    written to).

    ``files``: name → bytes, buffer or NumPy array, at least those that the manifest names.
    Raises ``InputError`` naming the path when it cannot be written (nothing is left there), ``ValueError`` when a file
    of the manifest is missing or a name is not a plain relative one.
    """
    name = os.path.abspath(os.fspath(path))
    _check_names(manifest, files)
    folder = os.path.dirname(name)
    if os.path.isdir(name):
        raise InputError(f"cannot write the artifact '{name}': it is a directory")
    if os.path.exists(name) and not os.path.isfile(name):  # /dev/null, a pipe: not to be replaced by a file
        try:
            with tempfile.TemporaryFile() as whole, open(name, "wb") as special:
                _write(whole, manifest, files)
                whole.seek(0)
                shutil.copyfileobj(whole, special)
        except OSError as error:
            raise InputError(f"cannot write the artifact '{name}': {error.strerror}") from error
        return
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=".kc-", suffix=".tmp", dir=folder)
    except OSError as error:
        raise InputError(f"cannot write the artifact '{name}': {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "w+b") as file:
            _write(file, manifest, files)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, name)
    except OSError as error:
        _remove(temporary)
        raise InputError(f"cannot write the artifact '{name}': {error.strerror}") from error
    except BaseException:
        _remove(temporary)
        raise


def _write(file: IO[bytes], manifest: Mapping[str, Any], files: Mapping[str, object]) -> None:
    text = json.dumps(manifest, indent=1, ensure_ascii=False).encode()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for member, data in ((MANIFEST, memoryview(text)), *((key, as_bytes(value)) for key, value in files.items())):
            info = zipfile.ZipInfo(member, _TIME)
            info.external_attr = 0o644 << 16
            large = data.nbytes >= 0xFFFFFFFF
            # The local header: 30 bytes, name, extra field (4 bytes of its own; 20 more for sizes beyond 4 GiB).
            start = file.tell() + 30 + len(member.encode()) + 4 + (20 if large else 0)
            padding = -start % ALIGNMENT
            info.extra = struct.pack("<HH", _PADDING_ID, padding) + bytes(padding)
            info.file_size = data.nbytes
            with archive.open(info, "w", force_zip64=large) as target:
                for at in range(0, data.nbytes, 1 << 26):
                    target.write(data[at : at + (1 << 26)])


def _check_names(manifest: Mapping[str, Any], files: Mapping[str, object]) -> None:
    needed = [*manifest.get("objects", ()), *(kernel["module"] for kernel in manifest.get("kernels", ()))]
    needed += [param["file"] for param in manifest.get("params", ())]
    missing = sorted({name for name in needed if name not in files})
    if missing:
        raise ValueError(f"the manifest names files that are not there: {', '.join(missing)}")
    for name in files:
        if name == MANIFEST or not name or name.startswith("/") or ".." in name.split("/") or "\\" in name:
            raise ValueError(f"{name!r} is no name for a file in an artifact")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)
