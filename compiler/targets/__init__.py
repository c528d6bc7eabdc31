"""Targets: what kc compiles for. ``get_target("cpu")``, ``get_target("nvptx:sm_90a")``; one file per target."""
from __future__ import annotations

from kc.targets.base import TARGETS, Target, get_target

__all__ = ["TARGETS", "Target", "get_target"]
