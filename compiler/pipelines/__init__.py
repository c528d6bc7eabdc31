"""Phases: the named steps of every road, as pipeline text.

A road is a tuple of ``Phase``; ``kc phases TARGET`` prints it, and what it prints can be pasted into
``kc-opt --pass-pipeline``. Nothing here imports MLIR.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping


@dataclasses.dataclass(frozen=True)
class Phase:
    """One step down the ladder: a pass pipeline with a name, from level ``start`` to level ``end``.

    ``pipeline`` is text that ``kc-opt --pass-pipeline`` takes once ``<parameters>`` are filled in; a parameter is
    written
    ``<name>`` and its default stands in ``defaults``.
    """

    name: str
    description: str
    start: str
    end: str
    pipeline: str
    defaults: tuple[tuple[str, str], ...] = ()
    #: whether agents that name the level ``end`` are asked right after this phase
    asks: bool = False

    def text(self, parameters: Mapping[str, str] | None = None) -> str:
        """The pipeline text with its parameters filled in; unknown parameters are ignored (roads share them)."""
        result = self.pipeline
        for name, default in self.defaults:
            result = result.replace(f"<{name}>", str((parameters or {}).get(name, default)))
        return result
