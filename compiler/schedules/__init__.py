"""Schedules: how a kernel of some family is computed on some target.

A schedule is a frozen dataclass (tile sizes, unrolling …, the autotuner's search point) that says whether it fits a
kernel and builds the implementation. Families stand in ``cpu/`` and ``gpu/``.
"""
from __future__ import annotations

from typing import Any, Protocol, TypeVar

from kc.kernels.expr import Kernel

Features = TypeVar("Features", contravariant=True)


class Schedule(Protocol[Features]):
    """What ``kc-schedule-cpu`` and ``kc-schedule-nvptx`` ask of a schedule."""

    @classmethod
    def pick(cls, kernel: Kernel, features: Features) -> Schedule[Features] | None:
        """The schedule with parameters for ``kernel``, or None when the family does not fit."""

    def build(self, kernel: Kernel, module: Any) -> None:
        """Insert ``func.func private @<kernel>__impl {kc.impl}`` into ``module`` (an ``ir.Operation``).

        Its arguments are the kernel's: memrefs of identity layout for tensors, scalars as they are.
        """
