"""Which lanes are here: what collective ops check first."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.warp import NeedWarps, Warp

if TYPE_CHECKING:
    from kc.agents.execution.grid.blocks import BlockState

Array = np.ndarray
WARP = 32


def block_of(warp: Warp, node: Node | None = None) -> BlockState:
    if warp.block is None:
        where = f"'{node.name}' at {node.place}" if node else "this op"
        raise ExecutionError("unsupported", f"{where} stands outside of a kernel", node.name if node else "")
    return warp.block


def divergent(warp: Warp, node: Node, mask: Array, what: str) -> bool:
    """Tell when not all lanes of a warp are here; that they have ended is no excuse."""
    if mask.all():
        return False
    here = np.unique(warp.group[mask])
    if warp.whole and len(warp.threads) > WARP and (mask == np.isin(warp.group, here)).all():
        raise NeedWarps  # whole warps are elsewhere, which they may
    mask = mask & (warp.group == next(g for g in here if not mask[warp.group == g].all()))
    elsewhere = (warp.group == warp.group[mask][0]) & ~mask
    missing = np.flatnonzero(elsewhere)
    how = "have ended" if not warp.live[missing[0]] else "are in another branch"
    lane = int(np.flatnonzero(mask)[0])
    warp.who.tell(warp.findings, "divergence", "barrier" if "barrier" in what else "shuffle", what, 0, 0, lane,
                  f"is reached by {int(mask.sum())} lanes of the warp; thread {int(warp.threads[missing[0]])} and "
                  f"others {how}")
    return True


def members(warp: Warp, node: Node, bits: Array, mask: Array) -> None:
    """Tell when the lanes that are here are not those that the member mask names."""
    for group in warp.by_warp(mask):
        lane = int(np.flatnonzero(group)[0])
        named = int(warp.spread(bits)[lane]) & 0xFFFFFFFF
        wanted = (warp.group == warp.group[lane]) & (named >> warp.lane & 1 == 1)
        if (wanted != group).any():
            warp.who.tell(warp.findings, "divergence", "shuffle", "warp", 0, 0, lane,
                          f"names the lanes {named:#010x}, but it is reached by {int(group.sum())} lanes")
