"""Where cuSOLVER is: ``KC_CUSOLVER_LIBRARY`` (a path, or ``none``), NVIDIA's wheels (``nvidia-cusolver``,
``-cu12``), PyTorch's, the CUDA toolkit's, or the system's."""
from __future__ import annotations

import ctypes.util
import functools
import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

VARIABLE = "KC_CUSOLVER_LIBRARY"
_PATTERN = "libcusolver.so.[0-9]*"


def named() -> str | None:
    """What the user says: a path, or ``none``; None when nothing."""
    return os.environ.get(VARIABLE) or None


def path() -> str | None:
    """The library that would be loaded; None when there is none, or the user wants none. Loads nothing."""
    given = named()
    return _found() if given is None else None if given == "none" else given


@functools.cache
def _found() -> str | None:
    found = next((str(file) for folder in folders() for file in _newest_first(folder)), None)
    return found or ctypes.util.find_library("cusolver")


def _newest_first(folder: Path) -> list[Path]:
    """Libraries of a folder; the shortest name of a version is the one that others were linked with."""
    files = [f for f in folder.glob(_PATTERN) if f.name.removeprefix("libcusolver.so.").isdigit()]
    return sorted(files, key=lambda f: -int(f.name.removeprefix("libcusolver.so.")))


def folders() -> Iterator[Path]:
    wheels = package("nvidia")
    # nvidia/cu13/lib, nvidia/cusolver/lib: the newest CUDA first
    yield from sorted((f for w in wheels for f in w.glob("cu[0-9]*/lib")), reverse=True)
    yield from (w / "cusolver" / "lib" for w in wheels)
    yield from (w / "lib" for w in package("torch"))
    homes = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    for home in (*filter(None, homes), "/usr/local/cuda"):
        yield Path(home) / "lib64"


def package(name: str) -> list[Path]:
    """Folders of a package, which is not imported."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return []
    return [Path(p) for p in (spec.submodule_search_locations or ())] if spec is not None else []
