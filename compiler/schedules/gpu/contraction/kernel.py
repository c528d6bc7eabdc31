"""The device function: barriers, the walk over tiles, the producer; consumers stand in ``consumer``."""

from __future__ import annotations

import dataclasses
from typing import Any

from kc.builder.gpu import Value, at, const, for_, if_, if_else, ring
from kc.builder.gpu_ops import (
    address,
    barrier,
    block_id,
    broadcast_lane0,
    elect,
    grid_size,
    mbarrier_expect,
    mbarrier_fence,
    mbarrier_init,
    mbarrier_wait,
    registers,
    shared_memory,
    tensor_load,
    thread_id,
)
from kc.kernels.expr import Contraction
from kc.schedules.gpu.arguments import DeviceArguments
from kc.schedules.gpu.contraction.config import BK, Tile
from kc.schedules.gpu.contraction.consumer import Consumer
from kc.schedules.gpu.contraction.maps import boxes, operand_coordinates
from kc.schedules.gpu.contraction.problem import Operand, Problem

PRODUCER_REGISTERS, CONSUMER_REGISTERS = 24, 240


@dataclasses.dataclass
class Place:
    """A tile: first row and column (i32), position in every batch group (i32)."""

    row: Value
    column: Value
    batch: list[Value]


class ContractionBody:
    """Emits the whole kernel at the ambient insertion point."""

    def __init__(
        self, tile: Tile, kernel: Contraction, problem: Problem, arguments: DeviceArguments, location: Any
    ) -> None:
        self.tile, self.kernel, self.problem = tile, kernel, problem
        self.arguments, self.location = arguments, location

    def build(self) -> None:
        tile, stages = self.tile, self.tile.stages
        self.thread = thread_id()
        self.shared = shared_memory()
        self.shared_address = address(self.shared)
        group = broadcast_lane0(self.thread >> 7)
        self.size_m = self.arguments.extent(self.problem.m, "i32")
        self.size_n = self.arguments.extent(self.problem.n, "i32")
        self.row_tiles = (self.size_m + (tile.rows - 1)) // tile.rows
        self.column_tiles = (self.size_n + (tile.columns - 1)) // tile.columns
        self.steps = (self.arguments.extent(self.problem.k, "i32") + (BK - 1)) // BK
        self.plane = self.row_tiles * self.column_tiles
        tiles = self.plane
        for size in self.problem.batch:
            tiles = tiles * self.arguments.extent(size, "i32")
        self.tiles = tiles
        with if_(self.thread.eq(0)):
            for stage in range(stages):
                mbarrier_init(self.full(stage), 1)
                mbarrier_init(self.empty(stage), tile.consumers)
            mbarrier_fence()
        barrier()
        if_else(group.eq(0), self.producer, lambda: Consumer(self, group - 1).build(CONSUMER_REGISTERS))

    # -- shared memory and tiles

    def _barrier(self, base: int, stage: Value | int) -> Value:
        return at(self.shared, base + 8 * stage) if isinstance(stage, int) else at(self.shared, stage << 3, base)

    def full(self, stage: Value | int) -> Value:
        return self._barrier(self.tile.barrier_offset, stage)

    def empty(self, stage: Value | int) -> Value:
        return self._barrier(self.tile.barrier_offset + 8 * self.tile.stages, stage)

    def place(self, number: Value) -> Place:
        """Where tile ``number`` is: bands of ``raster`` row blocks, column by column, so that operands stay in L2."""
        batch: list[Value] = []
        inner = number
        if self.problem.batch:
            outer = number // self.plane
            inner = number - outer * self.plane
            for size in reversed(self.problem.batch[1:]):
                length = self.arguments.extent(size, "i32")
                batch.insert(0, outer % length)
                outer = outer // length
            batch.insert(0, outer)
        width = self.column_tiles * self.tile.raster
        band = inner // width
        first = band * self.tile.raster
        height = (self.row_tiles - first).minimum(self.tile.raster)
        rest = inner - band * width
        return Place((first + rest % height) * self.tile.rows, rest // height * self.tile.columns, batch)

    # -- the producer

    def producer(self) -> None:
        registers(PRODUCER_REGISTERS, grow=False)
        with if_((self.thread >> 5).eq(0)), if_(elect()):
            for_(block_id(), self.tiles, grid_size(), [0, 0], self._produce_tile)

    def _produce_tile(self, number: Value, stage: Value, phase: Value) -> list[Value]:
        tile, problem, place = self.tile, self.problem, self.place(number)
        zero = const(0)

        def step(index: Value, stage: Value, phase: Value) -> list[Value]:
            mbarrier_wait(self.empty(stage), phase ^ 1)
            bar = self.full(stage)
            mbarrier_expect(bar, tile.lhs_bytes + tile.rhs_bytes)

            def load(
                name: str, operand: Operand, across: Any, start: Value, extent: int, offset: Value, base: int
            ) -> None:
                for box in range(boxes(operand, across, extent)):
                    destination = at(self.shared, offset, base + box * 128 * BK)
                    coordinates = operand_coordinates(operand, across, box, start, index * BK, zero, place.batch)
                    tensor_load(self.arguments.device[name], destination, coordinates, bar)

            load("map_lhs", problem.lhs, problem.m, place.row, tile.rows, stage * tile.lhs_bytes, 0)
            load("map_rhs", problem.rhs, problem.n, place.column, tile.columns, stage * tile.rhs_bytes, tile.rhs_offset)
            return list(ring(stage, phase, tile.stages))

        return for_(0, self.steps, 1, [stage, phase], step)
