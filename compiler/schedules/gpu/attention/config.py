"""Parameters of the attention schedule and its shared-memory plan."""

from __future__ import annotations

import dataclasses

from kc.schedules.gpu.attention.problem import Problem

CONSUMERS = 2
WARPGROUP_ROWS = 64
BLOCK_ROWS = CONSUMERS * WARPGROUP_ROWS
THREADS = 128 * (CONSUMERS + 1)


@dataclasses.dataclass(frozen=True)
class Config:
    """``keys`` a step; ``stages`` of the key and of the value ring; ``ordered``: named barriers make the two consumer
    warpgroups issue their products in turn; ``polynomial`` of every 8 exponentials run on the FMA units (1e-4
    relative) instead of the special-function units. Measured on an H200: ordering and polynomials help at depth 64
    only (+8 %, +5 to +16 %)."""

    depth: int = 128
    keys: int = 128
    stages: int = 2
    ordered: bool = False
    polynomial: int = 0

    @classmethod
    def pick(cls, problem: Problem) -> Config:
        if problem.depth == 64:
            return cls(64, ordered=True, polynomial=2 if problem.scale is not None else 0)
        return cls(128)

    # -- shared memory, in order: queries, key ring, value ring, output staging, barriers

    @property
    def key_bytes(self) -> int:
        """One stage of keys or of values."""
        return self.keys * self.depth * 2

    @property
    def query_bytes(self) -> int:
        """One warpgroup's queries or outputs."""
        return WARPGROUP_ROWS * self.depth * 2

    @property
    def key_offset(self) -> int:
        return CONSUMERS * self.query_bytes

    @property
    def value_offset(self) -> int:
        return self.key_offset + self.stages * self.key_bytes

    @property
    def output_offset(self) -> int:
        return self.value_offset + self.stages * self.key_bytes

    @property
    def barrier_offset(self) -> int:
        return self.output_offset + CONSUMERS * self.query_bytes

    @property
    def shared_bytes(self) -> int:
        """Barriers: keys and values full and empty, queries full and empty, next tile full and empty; two tile
        numbers."""
        return self.barrier_offset + 8 * (4 * self.stages + 2 * CONSUMERS + 4) + 16
