"""Per byte of a region, who touched it last: within the block that runs, and by block over a launch."""
from __future__ import annotations

import numpy as np

from kc.agents.execution.grid.clocks import CLOCK

Array = np.ndarray
_PAGE = 256


class Track:
    """Who touched the bytes of a region: within the block that runs, and by block over a launch."""

    def __init__(self, size: int):
        self.size = size
        self.blocks: dict[int, Inside] = {}
        self.sync: dict[int, dict[int, Array]] = {}  # by offset of an atomic: what its users released
        # by block: the last plain writer, two readers of different blocks, two atomic users; -1: nobody
        self.last = {n: np.full((3, size), -1, np.int32) for n in ("writer", "reader", "reader2", "atomic", "atomic2")}
        self.places: dict[str, Array] = {name: np.zeros(size, np.int32) for name in self.last}


class Table:
    """Clocks (bytes, threads) of the bytes that were touched: memory for the pages between the first and the last."""

    def __init__(self, threads: int):
        self._threads, self._low = threads, 0
        self._rows = np.zeros((0, threads), CLOCK)

    def at(self, places: Array) -> Array:
        """The rows of bytes that were touched."""
        found: Array = self._rows[places - self._low]
        return found

    def set(self, places: Array, threads: Array, clocks: Array) -> None:
        """Note an access."""
        low, high = int(places.min()) // _PAGE * _PAGE, int(places.max()) // _PAGE * _PAGE + _PAGE
        end = self._low + len(self._rows)
        if not len(self._rows):
            self._low, self._rows = low, np.zeros((high - low, self._threads), CLOCK)
        elif low < self._low or high > end:
            low, high = min(low, self._low), max(high, end)
            grown = np.zeros((high - low, self._threads), CLOCK)
            grown[self._low - low : end - low] = self._rows
            self._low, self._rows = low, grown
        self._rows[places - self._low, threads] = clocks


class Inside:
    """Within one block: the last plain writer (thread or agent, its clock), and for each the clock of its last read."""

    def __init__(self, size: int, threads: int):
        self.writer = np.full(size, -1, np.int32)
        self.clock = np.zeros(size, CLOCK)
        self.place = np.zeros(size, np.int32)
        self.reads, self.atomics = Table(threads), Table(threads)
        self.read_last = np.zeros(size, CLOCK)  # the largest of a byte's clocks in `reads`
        self.read_place = np.zeros(size, np.int32)
        self.atomic_last = np.zeros(size, CLOCK)
        self.atomic_place = np.zeros(size, np.int32)
        #: of each agent that reads: the clock of its last read of a byte, and where it was set on
        self.agents: dict[int, tuple[Array, Array]] = {}

    def of_agent(self, agent: int) -> tuple[Array, Array]:
        """The reads of an agent."""
        if agent not in self.agents:
            self.agents[agent] = np.zeros(len(self.writer), CLOCK), np.zeros(len(self.writer), np.int32)
        return self.agents[agent]
