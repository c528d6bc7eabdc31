"""Tile configurations of the tensor-core contraction, and which one a problem gets."""

from __future__ import annotations

import dataclasses
import math

from kc.schedules.gpu.contraction.problem import Problem
from kc.schedules.gpu.features import Features

BK = 64  # elements of K a stage: 128 bytes, the width of the swizzle
_ASSUMED_ROWS = 4096  # of an M that is only known at run time

# (rows, columns, consumer warpgroups) with the share of the tensor cores' speed that a full wave reaches (measured on
# an H200 at 4096^3 and 2048^3, relative to 128x256; 64-row tiles estimated from their operand traffic)
_TILES = {
    (128, 256, 2): 1.0,
    (128, 192, 2): 0.95,
    (128, 128, 2): 0.9,
    (128, 64, 2): 0.6,
    (64, 256, 1): 0.6,
    (64, 128, 1): 0.45,
    (64, 64, 1): 0.3,
}

# Products with few rows are bound by the other factor's bytes. They are computed transposed: that factor's rows fill
# wgmma's 64, the few rows become 16, 32 or 64 columns, and no bandwidth of the copy engine goes into padding.
_NARROW = (16, 32, 64)
FEW_ROWS = _NARROW[-1]


@dataclasses.dataclass(frozen=True)
class Tile:
    """``rows`` x ``columns`` of the result a block; ``consumers`` warpgroups share the rows; ``stages`` of the operand
    ring; ``staging`` buffers of 64 columns each that outputs leave through; ``raster``: row blocks walked before the
    next column."""

    rows: int = 128
    columns: int = 256
    consumers: int = 2
    stages: int = 4
    staging: int = 2
    raster: int = 8

    @property
    def warpgroup_rows(self) -> int:
        return self.rows // self.consumers

    @property
    def threads(self) -> int:
        return 128 * (self.consumers + 1)

    # -- shared memory

    @property
    def lhs_bytes(self) -> int:
        return self.rows * BK * 2

    @property
    def rhs_bytes(self) -> int:
        return self.columns * BK * 2

    @property
    def rhs_offset(self) -> int:
        return self.stages * self.lhs_bytes

    @property
    def staging_offset(self) -> int:
        return self.rhs_offset + self.stages * self.rhs_bytes

    @property
    def staging_bytes(self) -> int:
        """One buffer: a warpgroup's rows by 64 half-type columns."""
        return self.warpgroup_rows * 128

    @property
    def barrier_offset(self) -> int:
        return self.staging_offset + self.consumers * self.staging * self.staging_bytes

    @property
    def shared_bytes(self) -> int:
        return self.barrier_offset + 16 * self.stages


def pick_tile(problem: Problem, features: Features) -> Tile | None:
    """The tile whose waves take least time; None if none fits into shared memory."""
    rows = problem.m.static or _ASSUMED_ROWS
    columns = problem.n.static or _ASSUMED_ROWS
    batch = math.prod(size.static or 1 for size in problem.batch)
    best: tuple[float, Tile] | None = None
    for (tile_rows, tile_columns, consumers), speed in _TILES.items():
        tile = _fit(Tile(tile_rows, tile_columns, consumers, 0), any(problem.tensor_outputs), features)
        if tile is None:
            continue
        tiles = -(-rows // tile_rows) * -(-columns // tile_columns) * batch
        waves = -(-tiles // features.multiprocessors)
        cost = waves * tile_rows * tile_columns / speed
        if best is None or cost < best[0]:
            best = cost, tile
    return best[1] if best else None


def pick_narrow_tile(problem: Problem, features: Features) -> Tile | None:
    """The tile for a transposed product of few columns."""
    columns = next((width for width in _NARROW if width >= (problem.n.static or FEW_ROWS + 1)), None)
    if columns is None or not problem.rhs.k_major:
        return None
    return _fit(Tile(64, columns, 1, 0), any(problem.tensor_outputs), features, 16)


def _fit(tile: Tile, staged: bool, features: Features, most_stages: int = 8) -> Tile | None:
    """``tile`` with as many stages as shared memory holds."""
    for staging in (2, 1) if staged else (0,):
        for stages in range(most_stages, 2, -1):
            candidate = dataclasses.replace(tile, stages=stages, staging=staging)
            if candidate.shared_bytes <= features.shared:
                return candidate
    return None
