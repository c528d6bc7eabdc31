"""Kernels: the unit of scheduling, caching, tuning and of an agent's work.

``analyze`` says what a kernel function computes (see ``kc.kernels.expr``), ``identity`` names it by content.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kc.kernels.analysis import analyze
    from kc.kernels.fingerprint import identity

__all__ = ["analyze", "identity"]

_MODULES = {"analyze": "kc.kernels.analysis", "identity": "kc.kernels.fingerprint"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:  # loaded late: kc.kernels.expr alone needs no MLIR
        import importlib

        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'kc.kernels' has no attribute {name!r}")
