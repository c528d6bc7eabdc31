"""Blocks and clusters of a launch: their numbers, clocks and shared memory."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.clocks import Clocks
from kc.agents.execution.grid.machine import Machine, Stopped, make_global
from kc.agents.execution.grid.types import SHARED, type_of

if TYPE_CHECKING:
    from kc.agents.execution.grid.bulk import Flights
    from kc.agents.execution.grid.clusters import ClusterBarrier
    from kc.agents.execution.grid.mbarriers import MBarrier
    from kc.agents.execution.grid.memory import Region
    from kc.agents.execution.grid.order import Who

Array = np.ndarray
#: bytes of shared memory that a block may have (227 KiB, as an H200's)
MOST_SHARED = 232448


class Launch:
    """Sizes of a launch; ``cluster``: blocks of a cluster along each axis."""

    def __init__(
        self, machine: Machine, blocks: tuple[int, ...], threads: tuple[int, ...], dynamic: int,
        cluster: tuple[int, ...] = (1, 1, 1),
    ):
        self.machine, self.blocks, self.threads, self.dynamic, self.cluster = machine, blocks, threads, dynamic, cluster
        self.count = int(np.prod(blocks, dtype=np.int64))
        self.threads_per_block = int(np.prod(threads, dtype=np.int64))

    def index(self, number: int) -> tuple[int, int, int]:
        """Where block ``number`` is in the grid."""
        x, y, _ = self.blocks
        return number % x, number // x % y, number // (x * y)

    def rank(self, number: int) -> int:
        """The block's number in its cluster."""
        x, y, z = (i % c for i, c in zip(self.index(number), self.cluster, strict=True))
        return x + self.cluster[0] * (y + self.cluster[1] * z)

    def clusters(self) -> list[list[int]]:
        """The blocks' numbers, by cluster and rank."""
        found: dict[tuple[int, ...], list[int]] = {}
        for number in range(self.count):
            at = tuple(i // c for i, c in zip(self.index(number), self.cluster, strict=True))
            found.setdefault(at, []).append(number)
        return [sorted(numbers, key=self.rank) for numbers in found.values()]


class Cluster:
    """Blocks that run together: what they share."""

    def __init__(self, machine: Machine, grid: Launch, numbers: list[int]):
        from kc.agents.execution.grid.bulk import Flights
        from kc.agents.execution.grid.clusters import ClusterBarrier

        self.grid = grid
        self.clocks = Clocks(numbers, grid.threads_per_block * len(numbers))
        self.barriers: dict[int, MBarrier] = {}
        self.flights: Flights = Flights(machine)
        self.barrier: ClusterBarrier = ClusterBarrier(self.clocks.count)
        self.blocks = [BlockState(machine, self, number, rank) for rank, number in enumerate(numbers)]


class BlockState:
    """One block: its number, clocks and shared memory. ``first``: the number of its first thread in ``clocks``."""

    def __init__(self, machine: Machine, cluster: Cluster, number: int, rank: int):
        self.machine, self.cluster, self.grid, self.number, self.rank = machine, cluster, cluster.grid, number, rank
        self.index = self.grid.index(number)
        self.clocks, self.first = cluster.clocks, rank * self.grid.threads_per_block
        self.barriers = cluster.barriers
        self.regions: list[Region] = []
        self.ended = False
        #: of each warpgroup: its products under way (see ``warpgroups``); of each thread: its bulk copies out
        self.products: dict[int, Any] = {}
        self.outgoing: dict[int, Any] = {}
        #: registers of a thread of each warpgroup that asked for some; who asked last for more than there are
        self.registers: dict[int, int] = {}
        self.short: tuple[Who, str, int] | None = None
        self._shared: dict[str, Region] = {}
        self._window = 0
        #: accesses of other blocks of the cluster; what the threads knew when they ended
        self._visits: list[tuple[Who, int, Region, int, int]] = []
        self._last: Array | None = None

    def shared(self, symbol: str) -> Region:
        """The block's region for a shared global; the one of unknown size is the dynamic shared memory."""
        node = self.machine.program.globals.get(symbol)
        if node is None:
            raise ExecutionError("unsupported", f"there is no global @{symbol}")
        kind = type_of(node.attributes["type" if node.name == "memref.global" else "global_type"])
        alignment = int(node.attributes.get("alignment") or 16)
        if not kind.parts and kind.form == "struct":
            return self.dynamic(alignment)
        if symbol not in self._shared:
            name = f"shared @{symbol} of block {self.number}"
            self._shared[symbol] = region = make_global(self.machine.memory, node, SHARED, name)
            self._place(region, alignment)
            region.read_only = False
        return self._shared[symbol]

    def dynamic(self, alignment: int = 16) -> Region:
        """The dynamic shared memory."""
        if "" not in self._shared:
            name = f"dynamic shared memory of block {self.number}"
            self._shared[""] = self._place(self.machine.memory.allocate(self.grid.dynamic, name, SHARED), alignment)
        return self._shared[""]

    def scratch(self, size: int, position: int, alignment: int = 16) -> Region:
        """Shared memory that the kernel's signature asks for."""
        name = f"shared %{position} of block {self.number}"
        self._shared[f"%{position}"] = region = self.machine.memory.allocate(size, name, SHARED)
        return self._place(region, alignment)

    def _place(self, region: Region, alignment: int) -> Region:
        """Give it an address that is aligned as was asked for, and (below 1024) no better, within the 18 bits that
        matrix descriptors hold."""
        self.regions.append(region)
        region.owner = self if max(self.grid.cluster) > 1 else None
        total = sum(r.size for r in self.regions if r.space == SHARED)
        if total > MOST_SHARED:
            raise Stopped("launch", f"a block wants {total} bytes of shared memory; there are {MOST_SHARED}")
        start = -(-self._window // alignment) * alignment
        if alignment < 1024 and start % (2 * alignment) == 0:
            start += alignment
        self.machine.memory.move(region, start)
        self._window = start + region.size
        return region

    def at(self, address: int) -> Region | None:
        """The block's region that holds the shared address whose low 18 bits are ``address``."""
        for region in self.regions:
            if region.space == SHARED and 0 <= address - (region.base & 0x3FFFF) < max(region.size, 1):
                return region
        return None

    def twin(self, other: BlockState, region: Region) -> Region | None:
        """The region of block ``other`` of the cluster that is what ``region`` is to this one."""
        for name, own in self._shared.items():
            if own is region:
                if name in other._shared:
                    return other._shared[name]
                return other.dynamic() if name == "" else other.shared(name)
        return None

    def visited(self, who: Who, region: Region, lanes: Array) -> None:
        """Threads touch ``region``, which is this block's: those of other blocks must know that it has begun."""
        each = self.grid.threads_per_block
        threads = who.threads[lanes]
        strangers = np.flatnonzero((threads // each != self.rank) & (threads < self.clocks.count))
        for at in strangers:
            clocks = self.clocks.of[SHARED][threads[at]]
            if not clocks[self.first : self.first + each].any() and not self.cluster.barrier.waits[threads[at]]:
                who.tell(who.findings, "races", "race", region.name, 0, 0, int(lanes[at]),
                         "touches the shared memory of a block that may not have begun: no cluster barrier before it")
            if self.ended:
                who.tell(who.findings, "races", "race", region.name, 0, 0, int(lanes[at]),
                         "touches the shared memory of a block that has ended")
            self._visits.append((who, int(lanes[at]), region, int(threads[at]), int(clocks[threads[at]])))

    def leave(self) -> None:
        """All threads of the block have ended."""
        self.ended = True
        self._last = self.clocks.of[SHARED][self.first : self.first + self.grid.threads_per_block].max(axis=0)

    def end(self) -> None:
        """Tell of visits that the block may have ended before, and give back what was its."""
        if self.short is not None:
            who, place, total = self.short
            who.tell(who.findings, "divergence", "barrier", "registers", 0, 0, 0,
                     f"(nvvm.setmaxregister at {place}) waits forever: {total} registers are asked for in all")
        for who, lane, region, thread, clock in self._visits:
            if self._last is not None and self._last[thread] < clock:
                who.tell(who.findings, "races", "race", region.name, 0, 0, lane,
                         "touches the shared memory of a block that may have ended: no cluster barrier after it")
        for region in [*self.machine.allocations, *self.machine.arguments]:
            if region.track is not None:
                region.track.blocks.pop(self.clocks.block, None)
        for region in self.regions:
            self.machine.memory.forget(region)
