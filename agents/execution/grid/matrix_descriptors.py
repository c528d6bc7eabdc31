"""Where the operands of a warpgroup's product lie in shared memory (PTX ISA, "Matrix descriptor").

A descriptor holds, in units of 16 bytes, the start (bits 0-13), the leading (16-29) and the stride byte offset (32-45),
and the swizzle (62-63). Distances below are in bytes, of 16-bit elements.
"""
from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.groups import block_of
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.warp import Warp

Array = np.ndarray
#: by the two bits of the swizzle: bytes of a row of the pattern, and the address bits that are mixed in
_SWIZZLES = {0: (16, 0), 1: (128, 7), 2: (64, 3), 3: (32, 1)}
_DEPTH = 16


@dataclasses.dataclass(frozen=True)
class Operand:
    """``start``: the address in the emulated machine whose low 18 bits are the real one's; ``across``: whether M (or
    N) is contiguous instead of K."""

    start: int
    lead: int
    stride: int
    swizzle: int
    across: bool

    def chunks(self, row: int, rows: int) -> tuple[Array, Array]:
        """Addresses of pieces of 16 bytes that hold rows ``row ..``, and for each (row, k) its number among the
        elements of all pieces."""
        at, place = _pattern(self.lead, self.stride, self.swizzle, self.across, row, rows)
        addresses = self.start + at
        return addresses ^ ((addresses >> 7 & _SWIZZLES[self.swizzle][1]) << 4), place


@functools.lru_cache(maxsize=256)
def _pattern(lead: int, stride: int, swizzle: int, across: bool, row: int, rows: int) -> tuple[Array, Array]:
    """Distances of the pieces from the start, before the swizzle; and as ``Operand.chunks``."""
    width = _SWIZZLES[swizzle][0]
    each = width // 2  # elements in a row of the pattern
    if across:
        r, k = row + 8 * np.arange(rows // 8)[:, None], np.arange(_DEPTH)[None, :]
        if swizzle == 0:
            at = r // 8 * stride + k // 8 * lead + k % 8 * 16
        else:
            at = r // each * lead + k // 8 * stride + k % 8 * width + r % each * 2
        number = np.arange(at.size).reshape(at.shape)
        place = number[np.arange(rows)[:, None] // 8, np.arange(_DEPTH)] * 8 + np.arange(rows)[:, None] % 8
    else:
        r, k = row + np.arange(rows)[:, None], 8 * np.arange(_DEPTH // 8)[None, :]
        if swizzle == 0:
            at = r // 8 * stride + k // 8 * lead + r % 8 * 16
        else:
            at = r // 8 * stride + r % 8 * width + k * 2
        number = np.arange(at.size).reshape(at.shape)
        place = number[:, np.arange(_DEPTH) // 8] * 8 + np.arange(_DEPTH) % 8
    return at.reshape(-1), place


def operand(warp: Warp, node: Node, descriptor: Any, across: bool) -> Operand:
    """What a descriptor says, which must be the same in all lanes."""
    words = np.asarray(descriptor).view(np.uint64)
    if (words != words[0]).any():
        raise ExecutionError("unsupported", f"{node.name} at {node.place}: a matrix descriptor that is not the same in "
                             "all lanes", node.name)
    word = int(words[0])
    if word >> 49 & 7:
        raise ExecutionError("unsupported", f"{node.name} at {node.place}: a matrix descriptor with a base offset: "
                             "let its pattern begin at a multiple of 1024 bytes", node.name)
    at = (word & 0x3FFF) << 4
    region = block_of(warp, node).at(at)
    if region is None:
        warp.who.tell(warp.findings, "bounds", "bounds", "shared memory", at, 0, 0,
                      f"takes a matrix at the shared address {at}, where the block has nothing")
    start = (region.base & ~0x3FFFF) + at if region is not None else at
    return Operand(start, (word >> 16 & 0x3FFF) << 4, (word >> 32 & 0x3FFF) << 4, word >> 62, across)
