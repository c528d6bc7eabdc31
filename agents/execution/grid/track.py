"""Per byte of a region, who touched it last: within the block that runs, and by block over a launch."""
from __future__ import annotations

import numpy as np

from kc.agents.execution.grid.clocks import CLOCK

Array = np.ndarray


class Track:
    """Who touched the bytes of a region: within the block that runs, and by block over a launch."""

    def __init__(self, size: int):
        self.size = size
        self.blocks: dict[int, Inside] = {}
        self.sync: dict[int, dict[int, Array]] = {}  # by offset of an atomic: what its users released
        # by block: the last plain writer, two readers of different blocks, two atomic users; -1: nobody
        self.last = {n: np.full((3, size), -1, np.int32) for n in ("writer", "reader", "reader2", "atomic", "atomic2")}
        self.places: dict[str, Array] = {name: np.zeros(size, np.int32) for name in self.last}


class Inside:
    """Within one block: the last plain writer (thread or agent, its clock), and for each the clock of its last read."""

    def __init__(self, size: int, threads: int):
        self.writer = np.full(size, -1, np.int32)
        self.clock = np.zeros(size, CLOCK)
        self.place = np.zeros(size, np.int32)
        self._shape = (size, threads)
        self.reads = np.zeros(self._shape, CLOCK)
        self.read_last = np.zeros(size, CLOCK)  # the largest of a byte's clocks in `reads`
        self.read_place = np.zeros(size, np.int32)
        self.atomics: Array | None = None
        self.atomic_last = np.zeros(size, CLOCK)
        self.atomic_place = np.zeros(size, np.int32)
        #: of each agent that reads: the clock of its last read of a byte, and where it was set on
        self.agents: dict[int, tuple[Array, Array]] = {}

    def all_atomics(self) -> Array:
        """As ``reads``, of atomic updates."""
        if self.atomics is None:
            self.atomics = np.zeros(self._shape, CLOCK)
        return self.atomics

    def of_agent(self, agent: int) -> tuple[Array, Array]:
        """The reads of an agent."""
        if agent not in self.agents:
            self.agents[agent] = np.zeros(len(self.writer), CLOCK), np.zeros(len(self.writer), np.int32)
        return self.agents[agent]
