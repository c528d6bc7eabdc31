"""Barriers of blocks and warps, mbarriers, fences."""
from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.groups import WARP, block_of, divergent, members
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.registry import control, op
from kc.agents.execution.grid.types import GLOBAL, SHARED
from kc.agents.execution.grid.warp import NeedWarps, Steps, Warp

Array = np.ndarray
_ALL = (SHARED, GLOBAL)


@control("gpu.barrier", "nvvm.barrier", "nvvm.barrier0", "rocdl.barrier")
def _barrier(warp: Warp, node: Node, mask: Array) -> Steps:
    block_of(warp, node)
    a = node.attributes
    if "subgroup" in str(a.get("scope", "")):
        divergent(warp, node, mask, "barrier")
        _join_warp(warp, mask, _spaces(node))
        return []
    key, wanted = 0, None
    if node.name == "nvvm.barrier":
        which, count = node.groups()
        key = int(warp.env[which[0]].max()) if which else 0
        wanted = int(warp.env[count[0]].max()) if count else None
    partial = wanted is not None and wanted < block_of(warp).grid.threads_per_block
    if partial and warp.whole and len(warp.threads) > WARP:
        raise NeedWarps
    if divergent(warp, node, mask, "barrier"):
        return []  # it would wait forever; the finding says so
    yield ("barrier", key, wanted if partial else None, _spaces(node), int(mask.sum()))
    return []


def _spaces(node: Node) -> tuple[str, ...]:
    """Address spaces whose accesses the barrier orders."""
    named = node.attributes.get("address_spaces")
    if named is None:
        return _ALL
    text = " ".join(map(str, named))
    return tuple(space for space in _ALL if space in text)


@control("nvvm.barrier.arrive")
def _arrive(warp: Warp, node: Node, mask: Array) -> Steps:
    raise ExecutionError("unsupported", f"nvvm.barrier.arrive at {node.place} cannot be emulated", node.name)
    yield ()


def _join_warp(warp: Warp, mask: Array, spaces: tuple[str, ...] = _ALL) -> None:
    for group in warp.by_warp(mask):
        block_of(warp).clocks.join(warp.threads[group], spaces)


@op("nvvm.bar.warp.sync")
def _sync_warp(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    members(warp, node, values[0], mask)
    _join_warp(warp, mask)
    return ()


@op("nvvm.memory.barrier", "nvvm.fence.sc.cluster", "llvm.fence")
def _fence(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    scope = " ".join(str(v) for v in node.attributes.values())
    if any(name in scope for name in ("cta", "block", "workgroup", "cluster", "singlethread", "warp")):
        return ()  # between blocks it orders nothing
    for lane in np.flatnonzero(mask):
        block_of(warp, node).clocks.fence(int(warp.threads[lane]))
    return ()



# -------------------------------------------------------------------------------------------------- mbarriers


@dataclasses.dataclass
class MBarrier:
    """``pending``: arrivals that the phase still waits for, of ``count``; ``clocks``: of those who arrived."""

    count: int
    pending: int
    phase: int = 0
    bytes: int = 0
    arrived: dict[str, Array] = dataclasses.field(default_factory=dict)
    released: dict[str, Array] = dataclasses.field(default_factory=dict)

    def settle(self) -> None:
        """Go on to the next phase when nothing is missing."""
        if self.pending <= 0 and self.bytes <= 0:
            self.phase ^= 1
            self.pending = self.count
            self.released, self.arrived = self.arrived, {}


def _mbarrier(warp: Warp, node: Node, address: int) -> MBarrier:
    found = block_of(warp, node).barriers.get(address)
    if found is None:
        message = f"{node.name} at {node.place} on an mbarrier that was not initialised"
        raise ExecutionError("unsupported", message, node.name)
    return found


@op("nvvm.mbarrier.init")
def _init(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    addresses, counts = warp.spread(values[0]), warp.spread(values[1])
    for lane in np.flatnonzero(mask):
        count = int(counts[lane])
        block_of(warp, node).barriers[int(addresses[lane])] = MBarrier(count, count)
    return ()


@op("nvvm.mbarrier.arrive", "nvvm.mbarrier.arrive.expect_tx")
def _mbarrier_arrive(warp: Warp, node: Node, values: list[Any], mask: Array) -> Any:
    addresses = warp.spread(values[0])
    clocks = block_of(warp, node).clocks
    for lane in np.flatnonzero(mask):
        barrier = _mbarrier(warp, node, int(addresses[lane]))
        thread = int(warp.threads[lane])
        for space in _ALL:
            row = clocks.of[space][thread]
            seen = barrier.arrived.get(space, row)
            barrier.arrived[space] = np.maximum(seen, row)
            clocks.of[space][thread, thread] += 1
        if node.name.endswith("expect_tx"):
            barrier.bytes += int(warp.spread(values[1])[lane])
        barrier.pending -= 1
        barrier.settle()
    return np.zeros(1, np.int64) if node.results else ()


@control("nvvm.mbarrier.try_wait.parity", "nvvm.mbarrier.test.wait")
def _try_wait(warp: Warp, node: Node, mask: Array) -> Steps:
    if len(warp.threads) > WARP:
        raise NeedWarps
    addresses, parity = (warp.spread(warp.env[number]) for number in node.operands[:2])
    block = block_of(warp, node)
    seen = np.zeros(warp.lanes, np.bool_)
    first = True
    while True:
        for lane in np.flatnonzero(mask & ~seen):
            barrier = _mbarrier(warp, node, int(addresses[lane]))
            if barrier.phase != int(parity[lane]) & 1:
                seen[lane] = True
                for space, row in barrier.released.items():
                    block.clocks.of[space][warp.threads[lane]] = np.maximum(
                        block.clocks.of[space][warp.threads[lane]], row
                    )
        if node.results or (seen | ~mask).all():  # a result says whether it is over; without one the op waits
            break
        yield ("pause", first)
        first = False
    yield ("pause", bool(seen.any()))
    return seen if node.results else []


@op("nvvm.fence.mbarrier.init", "nvvm.setmaxregister", "nvvm.fence.proxy", "nvvm.prefetch", "memref.prefetch",
    "llvm.intr.assume", "nvvm.breakpoint", "gpu.wait")
def _nothing(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    if node.results:
        raise ExecutionError("unsupported", f"{node.name} with a result at {node.place}", node.name)
    return ()
