"""Why a module cannot be run at all."""
from __future__ import annotations

from kc.errors import CompileError


class ExecutionError(CompileError):
    """``kind``: ``unsupported`` (no executor for an op or a type; ``op`` names it) or ``compile`` (lowering failed)."""

    def __init__(self, kind: str, message: str, op: str = ""):
        super().__init__(message)
        self.kind, self.op = kind, op
