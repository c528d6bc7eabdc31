"""Where NVIDIA's libraries are: a variable's word, NVIDIA's wheels, PyTorch's folder, the toolkit's, the system's."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
from pathlib import Path
from typing import Any

from kc.runtime.cusolver.find import folders, package
from kc.runtime.errors import LoadError


@functools.cache
def library(name: str, variable: str, wheel: str) -> Any:
    """The library ``lib<name>.so.N`` by ctypes. Raises ``LoadError`` that says where it was looked for."""
    given = os.environ.get(variable)
    problems = []
    for place in [given] if given else _places(name):
        try:
            return ctypes.CDLL(place, mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            problems.append(str(error))
    told = f": {problems[0]}" if problems else ""
    raise LoadError(f"lib{name} was not found{told}; install {wheel}, or set {variable} to its path")


def _places(name: str) -> list[str]:
    own = [w / part / "lib" for w in package("nvidia") for part in ("cublas", "cudnn")]
    found: list[Path] = []
    for folder in (*folders(), *own):
        versions = [f for f in folder.glob(f"lib{name}.so.[0-9]*") if f.name.rpartition(".so.")[2].isdigit()]
        found += sorted(versions, key=lambda f: -int(f.name.rpartition(".so.")[2]))
    system = ctypes.util.find_library(name)
    return [*map(str, found), *([system] if system else [])]
