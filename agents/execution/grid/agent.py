"""Accesses of what works on its own: copies and products that threads set on and wait for later."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kc.agents.execution.calls import Finding
from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.clocks import CLOCK
from kc.agents.execution.grid.order import Who

if TYPE_CHECKING:
    from kc.agents.execution.grid.memory import Findings, Region
    from kc.agents.execution.grid.track import Inside

Array = np.ndarray


class Agent(Who):
    """What works on its own for lanes of ``who``, at ``clock`` of the agent ``column`` (see ``Clocks``); it may rely on
    what all of the lanes know. ``count``: of the pieces that it touches at a time."""

    itself = False

    def __init__(self, who: Who, lanes: Array, column: int, clock: int, count: int):
        assert who.clocks is not None
        super().__init__(who.clocks, np.full(count, column), who.findings, who.places)
        self.op, self.place = who.op, who.place
        self.issuers, self.column, self.clock = who.threads[lanes], column, clock

    def _standing(self, space: str, lanes: Array) -> tuple[Array, Array, Array]:
        assert self.clocks is not None
        plain, visible = self.clocks.for_agent(self.issuers, space)
        shape = (len(lanes), len(plain))
        return (np.broadcast_to(plain, shape), np.broadcast_to(visible, shape), np.full(len(lanes), self.clock, CLOCK))

    def _between_known(self, lane: int) -> dict[int, Array]:
        assert self.clocks is not None
        return self.clocks.known[self.issuers[0]]

    def tell(
        self, findings: Findings, field: str, kind: str, buffer: str, offset: int, size: int, lane: int, text: str,
        other: tuple[str, str] = ("", ""), other_name: tuple[int, ...] = (),
    ) -> None:
        assert self.clocks is not None
        first = int(self.issuers[0])
        findings.add(field, Finding(
            kind, self.op, self.place, buffer, offset, size, self.clocks.name(first), other[0], other[1], other_name,
            f"{self.op} at {self.place} {self.clocks.describe(first)} {text}",
        ))

    def _ordered(self, region: Region, name: str, column: int, block: int) -> None:
        if name.startswith(("writer", "atomic")):
            message = (f"{self.op} at {self.place} on bytes of {region.name} that block {block} wrote in the same "
                       "launch: proxy fences between blocks are not followed")
            raise ExecutionError("unsupported", message, self.op)

    def _keep(
        self, table: Inside, region: Region, lanes: Array, places: Array, threads: Array, own: Array, mode: str,
        values: Array | None,
    ) -> None:
        if mode == "read":
            clock, site = table.of_agent(self.column)
            clock[places], site[places] = self.clock, self.site()
        else:
            table.writer[places], table.clock[places], table.place[places] = self.column, self.clock, self.site()

    def settle(self, region: Region, places: Array, clock: int) -> None:
        """What it wrote there can be waited for at ``clock``."""
        table = self.table(region)
        mine = places[table.writer[places] == self.column]
        table.clock[mine] = clock
