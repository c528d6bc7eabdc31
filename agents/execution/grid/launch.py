"""A launch: blocks one after the other, the warps of a block in turn, and barriers where they meet."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.barriers import MBarrier
from kc.agents.execution.grid.collective import coordinate
from kc.agents.execution.grid.groups import WARP
from kc.agents.execution.grid.machine import Machine, Stopped, make_global
from kc.agents.execution.grid.nodes import Block, Node
from kc.agents.execution.grid.order import Clocks
from kc.agents.execution.grid.storage import new_view
from kc.agents.execution.grid.types import SHARED, type_of
from kc.agents.execution.grid.warp import NeedWarps, Warp

if TYPE_CHECKING:
    from collections.abc import Generator

    from kc.agents.execution.grid.memory import Region

#: what a block may have: threads, and bytes of shared memory (227 KiB, as an H200's)
_MOST_THREADS, _MOST_SHARED = 1024, 232448
#: rounds in which all warps only look again, after which another block is let in
_PATIENCE = 64


class BlockState:
    """One block: its number, clocks and shared memory."""

    def __init__(self, machine: Machine, grid: Launch, number: int):
        self.machine, self.grid, self.number = machine, grid, number
        x, y, _ = grid.blocks
        self.index = (number % x, number // x % y, number // (x * y))
        self.clocks = Clocks(number, grid.threads_per_block)
        self.regions: list[Region] = []
        self._shared: dict[str, Region] = {}
        self.barriers: dict[Any, MBarrier] = {}

    def shared(self, symbol: str) -> Region:
        """The block's region for a shared global; the one of unknown size is the dynamic shared memory."""
        node = self.machine.program.globals.get(symbol)
        if node is None:
            raise ExecutionError("unsupported", f"there is no global @{symbol}")
        kind = type_of(node.attributes["type" if node.name == "memref.global" else "global_type"])
        if not kind.parts and kind.form == "struct":
            return self.dynamic()
        if symbol not in self._shared:
            name = f"shared @{symbol} of block {self.number}"
            self._shared[symbol] = self._keep(make_global(self.machine.memory, node, SHARED, name))
            self._shared[symbol].read_only = False
        return self._shared[symbol]

    def dynamic(self) -> Region:
        """The dynamic shared memory."""
        if "" not in self._shared:
            self._shared[""] = self.scratch(self.grid.dynamic, f"dynamic shared memory of block {self.number}")
        return self._shared[""]

    def scratch(self, size: int, name: str) -> Region:
        """Another piece of shared memory."""
        return self._keep(self.machine.memory.allocate(size, name, SHARED))

    def _keep(self, region: Region) -> Region:
        self.regions.append(region)
        total = sum(r.size for r in self.regions if r.space == SHARED)
        if total > _MOST_SHARED:
            raise Stopped("launch", f"a block wants {total} bytes of shared memory; there are {_MOST_SHARED}")
        return region

    def end(self) -> None:
        """Give back what was the block's."""
        for region in [*self.machine.allocations, *self.machine.arguments]:
            if region.track is not None:
                region.track.blocks.pop(self.number, None)
        for region in self.regions:
            self.machine.memory.forget(region)


class Launch:
    """Sizes and body of a launch."""

    def __init__(self, machine: Machine, blocks: tuple[int, ...], threads: tuple[int, ...], dynamic: int):
        self.machine, self.blocks, self.threads, self.dynamic = machine, blocks, threads, dynamic
        self.count = int(np.prod(blocks, dtype=np.int64))
        self.threads_per_block = int(np.prod(threads, dtype=np.int64))


def launch(host: Warp, node: Node) -> None:
    """``gpu.launch_func`` or ``gpu.launch``."""
    groups = host.groups(node, [host.env[number] for number in node.operands])
    if groups[0] or any(groups[7:10]):
        raise ExecutionError("unsupported", f"asynchronous launches and clusters at {node.place}", node.name)
    sizes = [int(group[0][0]) for group in groups[1:7]]
    dynamic = int(groups[10][0][0]) if groups[10] else 0
    grid = Launch(host.machine, tuple(sizes[:3]), tuple(sizes[3:]), dynamic)
    if 0 in sizes[:3] and min(sizes) >= 0:  # kc's runtime leaves such a launch out: an empty array
        return
    if min(sizes) <= 0 or grid.threads_per_block > _MOST_THREADS:
        raise Stopped("launch", f"the launch at {node.place} has sizes {sizes}: at least 1 each, "
                      f"at most {_MOST_THREADS} threads in a block")
    if dynamic > _MOST_SHARED:
        raise Stopped("launch", f"the launch at {node.place} wants {dynamic} bytes of shared memory; "
                      f"there are {_MOST_SHARED}")
    if node.name == "gpu.launch_func":
        kernel = host.machine.program.kernels.get(tuple(node.attributes["kernel"]))  # type: ignore[call-overload]
        if kernel is None:
            raise ExecutionError("compile", f"no kernel {node.attributes['kernel']} for the launch at {node.place}")
        given, blocks = list(groups[11]), kernel.regions[0]
    else:
        kernel, given, blocks = node, [], node.regions[0]
    _run(grid, kernel, given, blocks, host)


def _run(grid: Launch, kernel: Node, given: list[Any], blocks: list[Block], host: Warp) -> None:
    machine = grid.machine
    pending = list(range(grid.count))
    if machine.checks.order == "reversed":
        pending.reverse()
    elif machine.checks.order == "interleaved":
        pending = pending[::2] + pending[1::2]
    running: list[_Running] = []
    idle = 0
    for region in [*machine.allocations, *machine.arguments]:
        region.track = None  # a launch comes after all that was before it
    while pending or running:
        if not running or (idle > _PATIENCE and pending):
            running.append(_Running(grid, kernel, given, blocks, pending.pop(0), host))
            idle = 0
        moved = False
        for block in list(running):
            moved |= block.step()
            if block.done:
                block.state.end()
                running.remove(block)
        idle = 0 if moved else idle + 1
        if idle > 16 * _PATIENCE and not pending:
            raise Stopped("barrier", "all threads wait for something that nobody does")
    machine.launches += 1


class _Running:
    """A block under way."""

    def __init__(self, grid: Launch, kernel: Node, given: list[Any], blocks: list[Block], number: int, host: Warp):
        self.grid, self.kernel = grid, kernel
        self.state = BlockState(grid.machine, grid, number)
        entry = blocks[0]
        attributions = self._attributions(entry, len(given))
        self.warps: list[tuple[Warp, Generator[Any, None, Any]]] = []
        together = grid.threads_per_block if grid.machine.together else WARP
        for first in range(0, grid.threads_per_block, together):
            threads = np.arange(first, min(first + together, grid.threads_per_block))
            if grid.machine.checks.order == "reversed":
                threads = threads[::-1].copy()
            warp = Warp(grid.machine, self.state, threads, len(threads))
            if kernel.name == "gpu.launch":
                warp.env = dict(host.env)
            warp.who.at(kernel.name, kernel.place)
            values = [*given, *(a(warp) for a in attributions)]
            if kernel.name == "gpu.launch":
                names = ("block_id", "thread_id", "grid_dim", "block_dim")
                values = [*(coordinate(warp, name, axis) for name in names for axis in range(3)), *values]
            self.warps.append((warp, warp.body(blocks, values, warp.live.copy())))
        order = list(range(len(self.warps)))
        if grid.machine.checks.order == "reversed":
            order.reverse()
        elif grid.machine.checks.order == "interleaved":
            order = order[::2] + order[1::2]
        self._order = order
        self._waiting: dict[int, tuple[Any, ...]] = {}  # warp -> event
        self._ended: set[int] = set()
        self.done = False

    def _attributions(self, entry: Block, given: int) -> list[Any]:
        """What makes the memory that the kernel's signature asks for, per warp."""
        kernel = self.kernel
        start = 12 if kernel.name == "gpu.launch" else given
        shared = kernel.attributes.get("workgroup_attributions", 0) if kernel.name != "llvm.func" else 0
        made: list[Any] = []
        for position, kind in enumerate(entry.types[start:]):
            size = kind.bytes * int(np.prod([int(e or 0) for e in kind.shape], dtype=np.int64))
            if position < shared:
                region = self.state.scratch(size, f"shared %{position} of block {self.state.number}")
                view = [new_view_of(kind, region.base)]
                made.append(lambda warp, view=view: view[0])
            else:
                made.append(lambda warp, kind=kind, size=size: new_view(warp, kind, [], warp.local(size, "private")))
        return made

    def step(self) -> bool:
        """Let every warp that does not wait run until it does; whether anything has happened."""
        moved = False
        for number in self._order:
            if number in self._ended or number in self._waiting:
                continue
            _, steps = self.warps[number]
            try:
                event = next(steps)
            except StopIteration:
                self._ended.add(number)
                moved = True
                continue
            if event[0] == "pause":
                if self.grid.machine.together and len(self.warps[0][0].threads) > WARP:
                    raise NeedWarps
                moved |= event[1]
                continue
            moved = True
            self._waiting[number] = event
            self._release(event[1])
        if len(self._ended) == len(self.warps):
            self.done = True
        elif len(self._ended) + len(self._waiting) == len(self.warps):
            self._stuck()
            moved = True
        return moved

    def _threads(self, number: int) -> np.ndarray:
        warp = self.warps[number][0]
        return warp.threads[warp.live]

    def _release(self, barrier: int) -> None:
        """Let go of those at ``barrier`` when all are there."""
        here = [n for n, event in self._waiting.items() if event[1] == barrier]
        wanted = self._waiting[here[0]][2] or self.grid.threads_per_block
        arrived = sum(event[4] for n, event in self._waiting.items() if event[1] == barrier)
        if arrived < wanted:
            return
        threads = np.concatenate([self._threads(n) for n in here])
        self.state.clocks.join(threads, self._waiting[here[0]][3])
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
        warp.who.tell(warp.findings, "divergence", "barrier", f"barrier {event[1]}", 0, 0, lane,
                      f"waits with {len(there)} threads of {wanted}; the others {others}")
        if len({e[1] for e in self._waiting.values()}) > 1 or event[2]:
            raise Stopped("barrier", "threads wait at barriers that the others do not reach")
        self.state.clocks.join(np.array(there), event[3])
        self._waiting.clear()


def new_view_of(kind: Any, base: int) -> Any:
    """A memref of static shape at ``base``."""
    return new_view(None, kind, [], np.array([base]))  # type: ignore[arg-type]

