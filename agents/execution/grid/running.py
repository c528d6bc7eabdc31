"""Blocks under way: their warps run in turn, and meet at barriers."""
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.grid import warpgroups
from kc.agents.execution.grid.blocks import BlockState, Cluster, Launch
from kc.agents.execution.grid.collective import coordinate
from kc.agents.execution.grid.groups import WARP
from kc.agents.execution.grid.machine import Stopped
from kc.agents.execution.grid.nodes import Block, Node
from kc.agents.execution.grid.storage import new_view
from kc.agents.execution.grid.warp import NeedWarps, Warp

if TYPE_CHECKING:
    from collections.abc import Generator

Array = np.ndarray


class Running:
    """The blocks of a cluster; most are of one block."""

    def __init__(
        self, grid: Launch, kernel: Node, given: list[Any], blocks: list[Block], numbers: list[int], host: Warp
    ):
        self.grid, self.kernel = grid, kernel
        self.cluster = Cluster(grid.machine, grid, numbers)
        self.warps: list[tuple[Warp, Generator[Any, None, Any]]] = []
        self._blocks: list[BlockState] = []  # of each warp
        for state in self.cluster.blocks:
            attributions = self._attributions(state, blocks[0], len(given))
            together = grid.threads_per_block if grid.machine.together else WARP
            for first in range(0, grid.threads_per_block, together):
                threads = np.arange(first, min(first + together, grid.threads_per_block))
                self._start(state, threads, attributions, given, blocks, host)
        order = list(range(len(self.warps)))
        if grid.machine.checks.order == "reversed":
            order.reverse()
        elif grid.machine.checks.order == "interleaved":
            order = order[::2] + order[1::2]
        self._order = order
        self._waiting: dict[int, tuple[Any, ...]] = {}  # warp -> event, its barrier's key with the block
        self._arrived: dict[Any, tuple[int, dict[str, Array]]] = {}  # at a barrier without waiting: how many, clocks
        self._ended: set[int] = set()
        #: warps that only others (and copies) can let go: the op at which each stands
        self._held: dict[int, Node] = {}
        self.done = False

    def _start(
        self, state: BlockState, threads: Array, attributions: list[Any], given: list[Any], blocks: list[Block],
        host: Warp,
    ) -> None:
        machine, kernel = self.grid.machine, self.kernel
        if machine.checks.order == "reversed":
            threads = threads[::-1].copy()
        warp = Warp(machine, state, threads, len(threads))
        if kernel.name == "gpu.launch":
            warp.env = dict(host.env)
        warp.who.at(kernel.name, kernel.place)
        values = [*given, *(a(warp) for a in attributions)]
        if kernel.name == "gpu.launch":
            names = ("block_id", "thread_id", "grid_dim", "block_dim")
            values = [*(coordinate(warp, name, axis) for name in names for axis in range(3)), *values]
        self.warps.append((warp, warp.body(blocks, values, warp.live.copy())))
        self._blocks.append(state)

    def _attributions(self, state: BlockState, entry: Block, given: int) -> list[Any]:
        """What makes the memory that the kernel's signature asks for, per warp."""
        kernel = self.kernel
        start = 12 if kernel.name == "gpu.launch" else given
        shared = kernel.attributes.get("workgroup_attributions", 0) if kernel.name != "llvm.func" else 0
        alignments = kernel.attributes.get("workgroup_attrib_attrs") or []
        made: list[Any] = []
        for position, kind in enumerate(entry.types[start:]):
            size = kind.bytes * int(np.prod([int(e or 0) for e in kind.shape], dtype=np.int64))
            if position < shared:
                told = re.search(r"llvm\.align = (\d+)", str(alignments[position : position + 1]))
                alignment = int(told[1]) if told else 16
                view = new_view_of(kind, state.scratch(size, position, alignment).base)
                made.append(lambda warp, view=view: view)
            else:
                made.append(lambda warp, kind=kind, size=size: new_view(warp, kind, [], warp.local(size, "private")))
        return made

    def step(self) -> bool:
        """Let every warp that does not wait run until it does; whether anything has happened."""
        moved = False
        self._held = {}
        for number in self._order:
            if number in self._ended or number in self._waiting:
                continue
            moved |= self._advance(number)
        if len(self._ended) == len(self.warps):
            self.done = True
        elif len(self._ended) + len(self._waiting) == len(self.warps):
            self._stuck()
            moved = True
        elif not moved:
            moved = self.cluster.flights.deliver()
            if not moved and len(self._ended) + len(self._waiting) + len(self._held) == len(self.warps):
                number, node = next(iter(self._held.items()))
                block, thread = self.cluster.clocks.name(int(self._threads(number)[0]))
                raise Stopped("barrier", f"{node.name} at {node.place} in block {block}, thread {thread} waits "
                              "forever, and so do all others")
        return moved

    def _advance(self, number: int) -> bool:
        warp, steps = self.warps[number]
        block = self._blocks[number]
        try:
            event = next(steps)
        except StopIteration:
            self._ended.add(number)
            self.cluster.barrier.leave(warp.who.threads)
            if all(n in self._ended for n, other in enumerate(self._blocks) if other is block):
                block.leave()
            return True
        if event[0] == "pause":
            if self.grid.machine.together and len(self.warps[0][0].threads) > WARP:
                raise NeedWarps
            if len(event) > 2:
                self._held[number] = event[2]
            return bool(event[1])
        kind, key, *rest = event
        event = (kind, (block.rank, key), *rest)
        if kind == "arrive":
            count, rows = self._arrived.get(event[1], (0, {}))
            for thread in warp.who.threads[event[5]]:
                block.clocks.give(int(thread), rows, event[3])
            self._arrived[event[1]] = count + event[4], rows
        else:
            self._waiting[number] = event
        self._release(event)
        return True

    def _threads(self, number: int) -> Array:
        warp = self.warps[number][0]
        return warp.who.threads[warp.live]

    def _release(self, event: tuple[Any, ...]) -> None:
        """Let go of those at the barrier of ``event`` when all are there."""
        key = event[1]
        here = [n for n, other in self._waiting.items() if other[1] == key]
        wanted = event[2] or self.grid.threads_per_block
        count, rows = self._arrived.get(key, (0, {}))
        if count + sum(self._waiting[n][4] for n in here) < wanted:
            return
        self._arrived.pop(key, None)
        if not here:
            return
        threads = np.concatenate([self._threads(n) for n in here])
        self.cluster.clocks.join(threads, self._waiting[here[0]][3])
        self.cluster.clocks.take(threads, rows)
        for n in here:
            del self._waiting[n]

    def _stuck(self) -> None:
        """Nobody can go on: some threads wait where others do not come. Told once, then they are let go."""
        number, event = next(iter(self._waiting.items()))
        warp = self.warps[number][0]
        there = sorted(t for n, e in self._waiting.items() if e[1] == event[1] for t in self._threads(n))
        others = "have ended" if self._ended else "wait at another one"
        lane = int(np.flatnonzero(warp.live)[0]) if warp.live.any() else 0
        wanted = event[2] or self.grid.threads_per_block
        warp.who.tell(warp.findings, "divergence", "barrier", f"barrier {event[1][1]}", 0, 0, lane,
                      f"waits with {len(there)} threads of {wanted}; the others {others}")
        if len({e[1] for e in self._waiting.values()}) > 1 or event[2]:
            raise Stopped("barrier", "threads wait at barriers that the others do not reach")
        self.cluster.clocks.join(np.array(there), event[3])
        self._waiting.clear()

    def end(self) -> None:
        """All have ended: tell of what is still under way, and give back memory."""
        self.cluster.flights.end(self.cluster)
        for state in self.cluster.blocks:
            warpgroups.end(state, [w for (w, _), b in zip(self.warps, self._blocks, strict=True) if b is state])
            state.end()


def new_view_of(kind: Any, base: int) -> Any:
    """A memref of static shape at ``base``."""
    return new_view(None, kind, [], np.array([base]))  # type: ignore[arg-type]
