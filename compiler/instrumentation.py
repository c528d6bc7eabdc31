"""Hooks around every pass, native or Python: IR printing, timing, statistics, reproducers."""
from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Iterator

if TYPE_CHECKING:
    from kc.bindings import ir
    from kc.pipeline_text import Leaf


class Instrumentation:
    """What the pass manager calls around each pass. ``path`` holds the anchors that lead to ``op`` from the root."""

    @contextlib.contextmanager
    def around(self, leaf: Leaf, op: ir.Operation, path: tuple[str, ...]) -> Iterator[None]:
        """Run one pass inside the block."""
        yield
