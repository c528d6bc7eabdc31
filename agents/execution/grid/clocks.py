"""Who knows what of whom: a vector clock per thread and address space.

Beside the threads there are *agents*, which work on their own once a thread has set them on: the copies that complete
on one mbarrier, the bulk copies out of a thread's groups, the products of a warpgroup. An agent's clock counts what can
be waited for: phases of the mbarrier, groups.

Two more tables tell which writes of threads the asynchronous proxy may see (``ASYNC``): those that a proxy fence
follows, before the point where the table is asked, along the barriers that lead there (PTX ISA, "Memory consistency
model", proxy-preserved base causality order).
"""
from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.types import GLOBAL, SHARED

Array = np.ndarray
#: agents that the threads of one block (or cluster) may set on
AGENTS = 96
FOREVER = 2**15 - 1
CLOCK: Any = np.int16
#: the table of each space that holds what the asynchronous proxy may see
ASYNC = {SHARED: "async workgroup", GLOBAL: "async global"}
_EVERYWHERE = (SHARED, GLOBAL)


class Clocks:
    """The clocks of ``count`` threads that run together: a block's, or a cluster's.

    ``known``: what a thread knows of other blocks' clocks; ``blocks``: the numbers of the blocks, whose threads follow
    each other.
    """

    def __init__(self, blocks: list[int], count: int):
        self.block, self.count, self._blocks = blocks[0], count, blocks
        start = np.zeros((count, count + AGENTS), CLOCK)
        self.of = {name: start.copy() for name in (*_EVERYWHERE, *ASYNC.values())}
        for space in _EVERYWHERE:
            np.fill_diagonal(self.of[space], 1)
        self.known: list[dict[int, Array]] = [{} for _ in range(count)]
        #: what a thread has made visible by its last fence, and what it has seen by atomics since
        self.released: list[dict[int, Array]] = [{} for _ in range(count)]
        self.seen: list[dict[int, Array]] = [{} for _ in range(count)]
        self._agents: dict[Hashable, int] = {}
        self._names: list[str] = []

    def agent(self, key: Hashable, name: str) -> int:
        """The column of an agent; ``name`` is for messages."""
        if key not in self._agents:
            if len(self._names) == AGENTS:
                raise ExecutionError("unsupported", f"a block with more than {AGENTS} mbarriers, threads and "
                                     "warpgroups that copy or multiply asynchronously")
            self._agents[key] = self.count + len(self._names)
            self._names.append(name)
        return self._agents[key]

    def name(self, column: int) -> tuple[int, ...]:
        """Block and thread; of an agent the block only."""
        each = self.count // len(self._blocks)
        return (self._blocks[column // each], column % each) if column < self.count else (self.block,)

    def describe(self, column: int) -> str:
        """A thread or agent, for messages."""
        if column >= self.count:
            return f"by {self._names[column - self.count]} of block {self.block}"
        block, thread = self.name(column)
        return f"in block {block}, thread {thread}"

    # ---------------------------------------------------------------------------------------------- passing it on

    def advance(self, threads: Array | int, spaces: tuple[str, ...]) -> None:
        """What these threads do from now on is later than what the others know."""
        for space in spaces:
            clocks = self.of[space]
            clocks[threads, threads] += 1
            if np.max(clocks[threads, threads]) >= FOREVER:
                raise ExecutionError("unsupported", f"a kernel with more than {FOREVER - 2} barriers and fences")

    def join(self, threads: Array, spaces: tuple[str, ...]) -> None:
        """A barrier of ``threads``."""
        for space in spaces:
            for name in (space, ASYNC[space]):
                clocks = self.of[name]
                clocks[threads] = clocks[threads].max(axis=0)
        self.advance(threads, spaces)
        if GLOBAL in spaces and any(self.known[t] for t in threads):
            together: dict[int, Array] = {}
            for thread in threads:
                merge(together, self.known[thread])
            for thread in threads:
                merge(self.known[thread], together)

    def give(self, thread: int, rows: dict[str, Array], spaces: tuple[str, ...] = _EVERYWHERE) -> None:
        """The thread arrives: what it knows goes into ``rows``, for those who wait."""
        for space in spaces:
            for name in (space, ASYNC[space]):
                row = self.of[name][thread]
                rows[name] = np.maximum(rows[name], row) if name in rows else row.copy()
        self.advance(thread, spaces)

    def take(self, threads: Array, rows: dict[str, Array]) -> None:
        """The threads have waited for those who gave ``rows``."""
        for name, row in rows.items():
            table = self.of[name]
            table[threads] = np.maximum(table[threads], row)

    def learn(self, threads: Array, agent: int, clock: int) -> None:
        """The threads have waited for what an agent did up to ``clock``."""
        for space in _EVERYWHERE:
            column = self.of[space][threads, agent]
            self.of[space][threads, agent] = np.maximum(column, clock)

    def fence(self, thread: int) -> None:
        """What the thread did before is visible to who sees what it does atomically after; and the other way round."""
        merge(self.known[thread], self.seen[thread])
        own = self.known[thread].get(self.block)
        if own is not None:
            self.of[GLOBAL][thread] = np.maximum(self.of[GLOBAL][thread], own)
        snapshot = {block: row.copy() for block, row in self.known[thread].items()}
        snapshot[self.block] = self.of[GLOBAL][thread].copy()
        self.released[thread] = snapshot
        self.advance(thread, (GLOBAL,))

    def fence_proxy(self, threads: Array, spaces: tuple[str, ...]) -> None:
        """Writes that these threads know of can be seen by the asynchronous proxy from here on."""
        for space in spaces:
            into = self.of[ASYNC[space]]
            into[threads] = np.maximum(into[threads], self.of[space][threads])
        self.advance(threads, spaces)

    def for_agent(self, threads: Array, space: str) -> tuple[Array, Array]:
        """What an agent knows that ``threads`` set on: of all that was before, and of the writes that it can see."""
        plain = self.of[space][threads].min(axis=0)
        visible = plain.copy()
        visible[: self.count] = self.of[ASYNC[space]][threads, : self.count].min(axis=0)
        return plain, visible


def merge(into: dict[int, Array], other: dict[int, Array]) -> None:
    for block, row in other.items():
        into[block] = np.maximum(into[block], row) if block in into else row.copy()

