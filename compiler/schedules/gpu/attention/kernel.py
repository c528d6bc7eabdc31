"""The device function: barriers, the hand-out of tiles, the producer; consumers stand in ``consumer``."""

from __future__ import annotations

import dataclasses
from typing import Any

from kc.bindings import llvm
from kc.builder.gpu import Value, at, const, for_, if_, if_else, mlir_type, ring, store, while_
from kc.builder.gpu_ops import (
    address,
    barrier,
    block_id,
    broadcast_lane0,
    elect,
    grid_size,
    mbarrier_arrive,
    mbarrier_expect,
    mbarrier_fence,
    mbarrier_init,
    mbarrier_wait,
    registers,
    shared_memory,
    tensor_load,
    thread_id,
)
from kc.kernels.expr import Attention
from kc.schedules.gpu.access import dim_extent
from kc.schedules.gpu.arguments import DeviceArguments
from kc.schedules.gpu.attention.config import BLOCK_ROWS, CONSUMERS, WARPGROUP_ROWS, Config
from kc.schedules.gpu.attention.consumer import Consumer
from kc.schedules.gpu.attention.problem import Problem, Tensor

_PRODUCER_REGISTERS, _CONSUMER_REGISTERS = 24, 240


@dataclasses.dataclass
class Place:
    """A tile: row block (i32), the batch loops' positions (i32), the number of key blocks, walked from the last to the
    first."""

    block: Value
    batch: list[Value]
    steps: Value


class AttentionBody:
    """Emits the whole kernel at the ambient insertion point."""

    def __init__(
        self, config: Config, kernel: Attention, problem: Problem, arguments: DeviceArguments, location: Any
    ) -> None:
        self.config, self.kernel, self.problem = config, kernel, problem
        self.arguments, self.location = arguments, location
        stages, base = config.stages, config.barrier_offset
        self.key_full, self.key_empty = base, base + 8 * stages
        self.value_full, self.value_empty = base + 16 * stages, base + 24 * stages
        self.query_full = base + 32 * stages
        self.query_empty = self.query_full + 8 * CONSUMERS
        self.next_full = self.query_empty + 8 * CONSUMERS
        self.next_empty = self.next_full + 16
        self.next_number = self.next_empty + 16

    def build(self) -> None:
        self.thread = thread_id()
        self.shared = shared_memory()
        self.shared_address = address(self.shared)
        group = broadcast_lane0(self.thread >> 7)
        extent = self.arguments.extent
        self.queries, self.keys = extent(self.problem.queries, "i32"), extent(self.problem.keys, "i32")
        self.row_blocks = (self.queries + (BLOCK_ROWS - 1)) // BLOCK_ROWS
        self.key_blocks = (self.keys + (self.config.keys - 1)) // self.config.keys
        self.all_heads = const(1)
        for size in self.problem.batch_sizes:
            self.all_heads = self.all_heads * extent(size, "i32")
        self.tiles = self.row_blocks * self.all_heads
        with if_(self.thread.eq(0)):
            self._init_barriers()
            mbarrier_fence()
        barrier()
        if_else(group.eq(0), self.producer, lambda: Consumer(self, group - 1).build(_CONSUMER_REGISTERS))

    def _init_barriers(self) -> None:
        for stage in range(self.config.stages):
            for base, count in (
                (self.key_full, 1),
                (self.value_full, 1),
                (self.key_empty, CONSUMERS),
                (self.value_empty, CONSUMERS),
            ):
                mbarrier_init(self.bar(base, stage), count)
        for number in range(CONSUMERS):
            mbarrier_init(self.bar(self.query_full, number), 1)
            mbarrier_init(self.bar(self.query_empty, number), 1)
        for slot in range(2):
            mbarrier_init(self.bar(self.next_full, slot), 1)
            mbarrier_init(self.bar(self.next_empty, slot), 128 * CONSUMERS)

    def bar(self, base: int, number: Value | int) -> Value:
        return at(self.shared, base + 8 * number) if isinstance(number, int) else at(self.shared, number << 3, base)

    def place(self, number: Value) -> Place:
        """Tile ``number``: a section of heads whose keys and values fit into L2; in it the longest row block first,
        heads fastest."""
        heads = self.arguments.device["heads"]
        section = number // (heads * self.row_blocks)
        first = section * heads
        here = (self.all_heads - first).minimum(heads)
        rest = number - section * (heads * self.row_blocks)
        turn = rest // here
        head = first + (rest - turn * here)
        block = (self.row_blocks - 1) - turn if self.problem.causal else turn
        batch: list[Value] = []
        for size in reversed(self.problem.batch_sizes[1:]):
            length = self.arguments.extent(size, "i32")
            quotient = head // length
            batch.insert(0, head - quotient * length)
            head = quotient
        if self.problem.batch_sizes:
            batch.insert(0, head)
        steps = self.key_blocks
        if self.problem.causal:
            steps = (((block + 1) * BLOCK_ROWS + (self.config.keys - 1)) // self.config.keys).minimum(steps)
        return Place(block, batch, steps)

    def coordinates(self, tensor: Tensor, row: Value, place: Place) -> list[Value]:
        """Where the box of ``tensor`` at sequence position ``row`` begins."""
        positions = dict(zip(self.problem.batch, place.batch, strict=True))
        result = [const(0), row, const(0)]
        for group in reversed(tensor.groups):
            position = positions[group[0]]
            for loop in group[1:]:
                size = self.arguments.extent(dim_extent(self.kernel.dims, loop), "i32")
                position = position * size + positions[loop]
            result.append(position)
        return result

    # -- the producer

    def producer(self) -> None:
        registers(_PRODUCER_REGISTERS, grow=False)
        with if_((self.thread >> 5).eq(0)), if_(elect()):
            slot = self.arguments.device["slot"]
            self.counter = at(Value(llvm.mlir_addressof(mlir_type("!llvm.ptr<1>"), "counters")), slot << 2)
            while_([block_id(), *[0] * 7], lambda number, *_: number.lt(self.tiles), self._produce)

    def _take(self) -> Value:
        """The next tile: every launch adds 1 exactly ``tiles`` times, so that the word wraps to zero at the end."""
        old = llvm.atomicrmw(
            llvm.AtomicBinOp.uinc_wrap, self.counter.ssa, (self.tiles - 1).ssa, llvm.AtomicOrdering.monotonic
        )
        return Value(old) + grid_size()

    def _load(
        self,
        tensor: Tensor,
        name: str,
        full: Value,
        size: int,
        offset: Value | int,
        base: int,
        row: Value,
        place: Place,
    ) -> None:
        mbarrier_expect(full, size)
        destination = at(self.shared, offset, base)
        tensor_load(self.arguments.device[f"map_{name}"], destination, self.coordinates(tensor, row, place), full)

    def _load_keys(self, stage: Value, phase: Value, row: Value, place: Place) -> list[Value]:
        mbarrier_wait(self.bar(self.key_empty, stage), phase ^ 1)
        self._load(
            self.problem.key,
            "key",
            self.bar(self.key_full, stage),
            self.config.key_bytes,
            stage * self.config.key_bytes,
            self.config.key_offset,
            row,
            place,
        )
        return list(ring(stage, phase, self.config.stages))

    def _load_values(self, stage: Value, phase: Value, row: Value, place: Place) -> list[Value]:
        mbarrier_wait(self.bar(self.value_empty, stage), phase ^ 1)
        self._load(
            self.problem.value,
            "value",
            self.bar(self.value_full, stage),
            self.config.key_bytes,
            stage * self.config.key_bytes,
            self.config.value_offset,
            row,
            place,
        )
        return list(ring(stage, phase, self.config.stages))

    def _produce(
        self,
        number: Value,
        key_stage: Value,
        key_phase: Value,
        value_stage: Value,
        value_phase: Value,
        query_phase: Value,
        slot: Value,
        slot_phase: Value,
    ) -> list[Value]:
        """Keys 0, queries, then keys j and values j - 1, last values: the order in which consumers need them."""
        place = self.place(number)
        following = self._take()
        last = (place.steps - 1) * self.config.keys
        key_stage, key_phase = self._load_keys(key_stage, key_phase, last, place)
        for consumer in range(CONSUMERS):
            mbarrier_wait(self.bar(self.query_empty, consumer), query_phase ^ 1)
            row = place.block * BLOCK_ROWS + consumer * WARPGROUP_ROWS
            self._load(
                self.problem.query,
                "query",
                self.bar(self.query_full, consumer),
                self.config.query_bytes,
                consumer * self.config.query_bytes,
                0,
                row,
                place,
            )

        def step(
            index: Value, key_stage: Value, key_phase: Value, value_stage: Value, value_phase: Value
        ) -> list[Value]:
            row = last - index * self.config.keys
            keys = self._load_keys(key_stage, key_phase, row, place)
            return keys + self._load_values(value_stage, value_phase, row + self.config.keys, place)

        key_stage, key_phase, value_stage, value_phase = for_(
            1, place.steps, 1, [key_stage, key_phase, value_stage, value_phase], step
        )
        value_stage, value_phase = self._load_values(value_stage, value_phase, const(0), place)
        mbarrier_wait(self.bar(self.next_empty, slot), slot_phase ^ 1)
        store(following, at(self.shared, slot << 2, self.next_number), 4)
        mbarrier_arrive(self.bar(self.next_full, slot))
        return [following, key_stage, key_phase, value_stage, value_phase, query_phase ^ 1, slot ^ 1, slot_phase ^ slot]
