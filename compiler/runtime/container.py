"""The artifact file: a zip with stored (uncompressed) members, ``manifest.json`` and the files that it names.

Members start at multiples of 64 bytes, so that parameters are used where the file is mapped, without a copy.

The manifest (also what ``Program.from_manifest`` takes), with what may be left out in brackets::

    {"version": 1, "target": "cpu" | "nvptx",
     ["triple": of the host code, "features": LLVM's list of CPU features it needs, "chip": "sm_90a",
      "entry": name of the default entry ("main")],
     "entries": {name: {"args": [{"name", "dtype", "shape": [size | null | "symbol" …], ["kind": "input" | "param",
                                  "param": index into params (default: in order), "scalar": passed by value]}],
                        "results": [{"dtype", "shape", ["scalar"]}],
                        ["symbol": of the machine code ("kc_entry_" + name),
                         "dims": {symbol: {["min", "max", "multiple"]}},
                         "conditions": [{"text", "tree": [operator, tree, tree] | symbol | integer}]]}},
     "objects": [ELF object files],
     ["kernels": [{"name", "module": PTX or cubin file, …}], in the order of kc_gpu_launch's index,
      "params": [{"file", "dtype", "shape"}]]}

Names of element types are in ``kc.runtime.dtypes``. Other keys are for people and tools; the runtime skips them.
"""
from __future__ import annotations

import json
import mmap
import os
import zipfile
import zlib
from typing import Any

from kc.runtime.errors import LoadError
from kc.runtime.program import Program

MANIFEST = "manifest.json"
ALIGNMENT = 64
CHECKED = 64 << 20
"""Members up to this size have their checksum verified; larger parameters are read when they are used."""


def load(path: str | os.PathLike[str]) -> Program:
    """Loads an artifact that ``exe.save`` (``kc.artifact.save``) wrote.

    Raises ``FileNotFoundError`` (and other ``OSError``), or ``LoadError`` when the file is truncated or damaged, of
    another version, or for another machine.
    """
    manifest, files = read(path)
    return Program(manifest, files)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, memoryview]]:
    """An artifact's manifest and files; the files are views into the mapped file. Raises as ``load``."""
    name = os.fspath(path)
    with open(name, "rb") as file:
        try:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:
            raise LoadError(f"'{name}' is empty") from None
        try:
            archive = zipfile.ZipFile(file)
        except zipfile.BadZipFile:
            raise LoadError(f"'{name}' is no kc artifact, or was truncated") from None
        whole = memoryview(mapped)
        try:
            with archive:
                files = {info.filename: _member(whole, info, name) for info in archive.infolist()}
        except zipfile.BadZipFile as error:
            raise LoadError(f"'{name}' is damaged: {error}") from None
    try:
        manifest = json.loads(bytes(files.pop(MANIFEST)))
    except KeyError:
        raise LoadError(f"'{name}' is no kc artifact: it has no {MANIFEST}") from None
    except ValueError as error:
        raise LoadError(f"'{name}' is damaged: {MANIFEST} is no JSON ({error})") from None
    return manifest, files


def _member(whole: memoryview, info: zipfile.ZipInfo, name: str) -> memoryview:
    """The bytes of a stored member inside the mapped file (local header: 30 bytes, name, extra field)."""
    if info.compress_type != zipfile.ZIP_STORED:
        raise LoadError(f"'{name}' is no kc artifact: '{info.filename}' is compressed")
    header = whole[info.header_offset : info.header_offset + 30]
    if len(header) < 30 or bytes(header[:4]) != b"PK\x03\x04":
        raise LoadError(f"'{name}' is damaged: no file header for '{info.filename}'")
    start = info.header_offset + 30 + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    data = whole[start : start + info.file_size]
    if len(data) != info.file_size:
        raise LoadError(f"'{name}' was truncated inside '{info.filename}'")
    if info.file_size <= CHECKED and zlib.crc32(data) != info.CRC:
        raise LoadError(f"'{name}' is damaged: the checksum of '{info.filename}' does not match")
    return data
