"""Names of a package that are loaded on first use (PEP 562).

A package keeps a table ``name -> "module:attribute"`` and has two functions that a type checker understands::

    def __getattr__(name: str) -> Any:
        return lazy.load(__name__, _EXPORTS, name)

    def __dir__() -> list[str]:
        return lazy.names(__name__, _EXPORTS)

No name may be that of a submodule, which takes its place once it is imported.
"""
from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping
from typing import Any


def load(package: str, exports: Mapping[str, str], name: str) -> Any:
    """The object that ``package`` exports as ``name``, kept there from now on; raises AttributeError."""
    if name not in exports:
        raise AttributeError(f"module '{package}' has no attribute '{name}'")
    module, _, attribute = exports[name].partition(":")
    value = getattr(importlib.import_module(module), attribute)
    setattr(sys.modules[package], name, value)
    return value


def names(package: str, exports: Iterable[str]) -> list[str]:
    """The names of ``package``, loaded or not."""
    return sorted({*vars(sys.modules[package]), *exports})
