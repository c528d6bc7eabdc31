"""Mbarriers: objects in shared memory on whose phases threads and copies meet (PTX ISA, "mbarrier")."""
from __future__ import annotations

from typing import Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.groups import WARP, block_of
from kc.agents.execution.grid.machine import Stopped
from kc.agents.execution.grid.nodes import Node
from kc.agents.execution.grid.registry import control, op
from kc.agents.execution.grid.types import GLOBAL, SHARED
from kc.agents.execution.grid.warp import NeedWarps, Steps, Warp

Array = np.ndarray
_ALL = (SHARED, GLOBAL)
_MOST_COUNT, _MOST_BYTES = 2**20 - 1, 2**20 - 1


class MBarrier:
    """``count``: arrivals of a phase; ``agent``: the column of copies that complete on it.

    ``number`` of phases that are over; ``pending``: arrivals, and ``bytes``: of copies, that the phase waits for;
    ``arrived``, ``released``: clocks of those who arrived, in this phase and the one before.
    """

    def __init__(self, count: int, agent: int, thread: int, clock: int):
        self.count, self.agent = count, agent
        #: who initialised it, and whether that was made visible to the asynchronous proxy
        self.thread, self.clock, self.fenced = thread, clock, False
        self.number, self.pending, self.bytes = 0, count, 0
        self.arrived: dict[str, Array] = {}
        self.released: dict[str, Array] = {}

    def settle(self) -> None:
        """Go on to the next phase when nothing is missing."""
        if self.pending == 0 and self.bytes == 0:
            self.number += 1
            self.pending = self.count
            self.released, self.arrived = self.arrived, {}
            for space in _ALL:  # whoever waits for the phase waits for its copies
                if space in self.released:
                    row = self.released[space]
                    row[self.agent] = max(row[self.agent], self.number)


def find(warp: Warp, node: Node, address: int, lanes: Array, agent: bool = False) -> MBarrier | None:
    """The mbarrier at ``address`` as lanes (or the asynchronous proxy for them) see it: tells when they may not yet."""
    block = block_of(warp, node)
    found = block.barriers.get(address)
    if found is None:
        return None
    threads, clocks, first = warp.who.threads[lanes], block.clocks, int(lanes[0])
    early = (threads != found.thread) & (clocks.of[SHARED][threads, found.thread] < found.clock)
    if early.any():
        _tell(warp, int(lanes[np.argmax(early)]), address, "uses an mbarrier that is initialised "
              f"{clocks.describe(found.thread)}, with no barrier between them")
    elif agent and not found.fenced:
        _, visible = clocks.for_agent(threads, SHARED)
        if visible[found.thread] < found.clock:
            _tell(warp, first, address, "lets a copy complete on an mbarrier whose initialisation the asynchronous "
                  "proxy may not see: no nvvm.fence.mbarrier.init (or proxy fence) comes after it")
    region = warp.memory.region(address)
    if region is not None:
        table = warp.who.table(region)
        at = address - region.base
        if (table.writer[at : at + 8] != found.thread).any() or (table.clock[at : at + 8] != found.clock).any():
            _tell(warp, first, address, "uses an mbarrier whose bytes were overwritten")
    return found


def _tell(warp: Warp, lane: int, address: int, text: str) -> None:
    region = warp.memory.region(address)
    warp.who.tell(warp.findings, "races", "race", region.name if region else "shared memory",
                  address - region.base if region else 0, 8, lane, text)


def known(warp: Warp, node: Node, address: int, lane: int, agent: bool = False) -> MBarrier:
    """As ``find``; one that nobody has initialised ends the call."""
    found = find(warp, node, address, np.array([lane]), agent)
    if found is None:
        raise Stopped("barrier", f"{node.name} at {node.place} on an mbarrier that nobody has initialised (so far)")
    return found


def _count(node: Node, value: int, most: int, what: str) -> int:
    if not 0 < value <= most:
        raise Stopped("barrier", f"{node.name} at {node.place} with {what} {value}: 1 to {most}")
    return value


@op("nvvm.mbarrier.init")
def _init(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    block = block_of(warp, node)
    addresses, counts = warp.spread(values[0]), warp.spread(values[1])
    if (addresses[mask] % 8 != 0).any():
        warp.who.tell(warp.findings, "bounds", "alignment", "", 0, 8, int(np.flatnonzero(mask)[0]),
                      "initialises an mbarrier at an address that is not a multiple of 8")
    warp.memory.store(warp.who, addresses, np.zeros((warp.lanes, 8), np.uint8), mask)
    for lane in np.flatnonzero(mask):
        count, thread = _count(node, int(counts[lane]), _MOST_COUNT, "a count of"), int(warp.who.threads[lane])
        agent = block.clocks.agent(("mbarrier", int(addresses[lane])), "a copy that completes on an mbarrier")
        clock = int(block.clocks.of[SHARED][thread, thread])
        made = MBarrier(count, agent, thread, clock)
        before = block.barriers.get(int(addresses[lane]))
        made.number = before.number + before.number % 2 if before else 0  # phases of parity 0 first, clocks go on
        block.barriers[int(addresses[lane])] = made
    return ()


@op("nvvm.mbarrier.inval")
def _inval(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    addresses = warp.spread(values[0])
    for lane in np.flatnonzero(mask):
        known(warp, node, int(addresses[lane]), int(lane))
        raise ExecutionError("unsupported", f"{node.name} at {node.place} cannot be emulated: leave it out, the memory "
                             "is the block's until its end", node.name)
    return ()


@op("nvvm.fence.mbarrier.init")
def _fence_init(warp: Warp, node: Node, values: list[Any], mask: Array) -> tuple[()]:
    threads = set(warp.who.threads[mask].tolist())
    for barrier in block_of(warp, node).barriers.values():
        barrier.fenced |= barrier.thread in threads
    return ()


def _plain(node: Node, values: list[Any]) -> None:
    """Refuse forms that are not followed."""
    if any(name in node.attributes for name in ("predicate",)) or len(values) > 2:
        raise ExecutionError("unsupported", f"{node.name} under a predicate at {node.place}: use scf.if", node.name)


@op("nvvm.mbarrier.arrive", "nvvm.mbarrier.arrive.expect_tx", "nvvm.mbarrier.expect_tx")
def _arrive(warp: Warp, node: Node, values: list[Any], mask: Array) -> Any:
    _plain(node, values)
    addresses = warp.spread(values[0])
    clocks = block_of(warp, node).clocks
    states = np.zeros(warp.lanes, np.int64)
    second = warp.spread(values[1]) if len(values) > 1 else np.ones(warp.lanes, np.int64)
    for lane in np.flatnonzero(mask):
        barrier = known(warp, node, int(addresses[lane]), int(lane))
        states[lane] = barrier.number & 1
        if node.name.endswith("expect_tx"):
            barrier.bytes += _count(node, int(second[lane]), _MOST_BYTES, "bytes")
        if node.name != "nvvm.mbarrier.expect_tx":
            if not node.attributes.get("relaxed"):
                clocks.give(int(warp.who.threads[lane]), barrier.arrived)
            count = int(second[lane]) if node.name == "nvvm.mbarrier.arrive" else 1
            barrier.pending -= count
        if barrier.pending < 0:
            warp.who.tell(warp.findings, "divergence", "barrier", "mbarrier", 0, 8, int(lane),
                          f"is one arrival too many: a phase of the mbarrier has {barrier.count}")
            barrier.pending = 0
        barrier.settle()
    return states if node.results else ()


@control("nvvm.mbarrier.try_wait.parity", "nvvm.mbarrier.try_wait", "nvvm.mbarrier.test.wait")
def _wait(warp: Warp, node: Node, mask: Array) -> Steps:
    """A result says whether the phase is over; without one the op waits."""
    if len(warp.threads) > WARP:
        raise NeedWarps
    addresses, parity = (warp.spread(warp.env[number]) for number in node.operands[:2])
    clocks = block_of(warp, node).clocks
    seen = np.zeros(warp.lanes, np.bool_)
    first = True
    while True:
        rest = mask & ~seen
        for address in np.unique(addresses[rest]):
            lanes = np.flatnonzero(rest & (addresses == address))
            barrier = find(warp, node, int(address), lanes)
            if barrier is None:
                continue
            over = lanes[(parity[lanes] & 1) != barrier.number & 1]
            seen[over] = True
            if len(over) and not node.attributes.get("relaxed"):
                clocks.take(warp.who.threads[over], barrier.released)
        if node.results or (seen | ~mask).all():
            break
        yield ("pause", first, node)
        first = False
        warp.machine.tick(node)
        warp.who.at(node.name, node.place)
    if node.results:
        yield ("pause", bool(seen.any()))
        warp.who.at(node.name, node.place)
    return seen if node.results else []
