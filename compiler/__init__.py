"""kc: an MLIR-based multi-dialect compiler that people can see into and step into.

Importing this package imports nothing heavy: every name below is loaded on first use (PEP 562).
"""
from __future__ import annotations

import importlib
from typing import Any

from kc import lazy

__version__ = "0.1.0"

_EXPORTS = {
    "compile": "kc.api:compile",
    "lower": "kc.api:lower",
    "Executable": "kc.api:Executable",
    "jit": "kc.frontends.jax:jit",
    "Pass": "kc.pass_base:Pass",
    "PassContext": "kc.pass_base:PassContext",
    "PassManager": "kc.pass_manager:PassManager",
    "agent": "kc.agents.base:agent",
    "KcError": "kc.errors:KcError",
}
_MODULES = ("agents", "bindings", "errors", "levels", "passes", "pipelines", "rewrite", "runtime", "targets", "torch")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"kc.{name}")
    return lazy.load(__name__, _EXPORTS, name)


def __dir__() -> list[str]:
    return lazy.names(__name__, (*_EXPORTS, *_MODULES))
