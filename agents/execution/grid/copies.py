"""Asynchronous copies: their bytes arrive where they are waited for."""
from __future__ import annotations

from typing import Any

import numpy as np

from kc.agents.execution.grid.groups import WARP
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.registry import op
from kc.agents.execution.grid.warp import NeedWarps, Warp

Array = np.ndarray


@op("nvvm.cp.async.shared.global")
def _copy(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    target, source = warp.spread(values[0]), warp.spread(values[1])
    size = node.attributes["size"]
    bad = mask & ((target % size != 0) | (source % size != 0))
    if bad.any():
        warp.who.tell(warp.findings, "bounds", "alignment", "", 0, size, int(np.flatnonzero(bad)[0]),
                      f"copies {size} bytes between addresses that are not multiples of {size}")
    raw = np.zeros((warp.lanes, size), np.uint8)  # what is beyond the given size is filled with zeros
    taken = np.full(warp.lanes, size) if len(values) < 3 else warp.spread(values[2]).astype(np.int64)
    for length in np.unique(taken[mask]):
        here = mask & (taken == length)
        if length > 0:
            raw[here, :length] = warp.memory.load(warp.who, source, int(length), here)[here]
    warp.memory.start_copy(warp.who, target, raw, mask)
    warp.open_copies.append((target, raw, mask))
    return ()


def _together(warp: Warp, mask: Array) -> None:
    """Groups of copies are counted per thread: here for all lanes at once."""
    if not mask.all() and len(warp.threads) > WARP:
        raise NeedWarps


@op("nvvm.cp.async.commit.group")
def _commit(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    _together(warp, mask)
    warp.groups_of_copies.append(warp.open_copies)
    warp.open_copies = []
    return ()


@op("nvvm.cp.async.wait.group", "nvvm.cp.async.wait.all")
def _wait(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    _together(warp, mask)
    if node.name.endswith("all"):
        _commit(warp, node, values, mask)
    while len(warp.groups_of_copies) > node.attributes.get("n", 0):
        for target, raw, lanes in warp.groups_of_copies.pop(0):
            warp.memory.store_copy(warp.who, target, raw, lanes)
    return ()
