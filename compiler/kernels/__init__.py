"""Kernels: the unit of scheduling, caching, tuning and of an agent's work.

``analyze`` says what a kernel function computes (see ``kc.kernels.expr``), ``identity`` names it by content.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kc import lazy

if TYPE_CHECKING:
    from kc.kernels.analysis import analyze
    from kc.kernels.fingerprint import identity

__all__ = ["analyze", "identity"]

#: loaded late: kc.kernels.expr alone needs no MLIR
_EXPORTS = {"analyze": "kc.kernels.analysis:analyze", "identity": "kc.kernels.fingerprint:identity"}


def __getattr__(name: str) -> Any:
    return lazy.load(__name__, _EXPORTS, name)


def __dir__() -> list[str]:
    return lazy.names(__name__, _EXPORTS)
