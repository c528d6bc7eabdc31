"""A consumer warpgroup: main loop over K, then the epilogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kc.bindings import llvm
from kc.builder.gpu import Value, asm, fields, for_, if_, ring, struct_of
from kc.builder.gpu_ops import (
    block_id,
    grid_size,
    mbarrier_arrive,
    mbarrier_wait,
    registers,
    store_wait,
    wgmma,
    wgmma_commit,
    wgmma_descriptor,
    wgmma_fence,
    wgmma_wait,
)
from kc.schedules.gpu.contraction.config import BK
from kc.schedules.gpu.contraction.epilogue import Epilogue

if TYPE_CHECKING:
    from kc.schedules.gpu.contraction.kernel import ContractionBody

_ROW = 128  # bytes of a swizzled row
_PATTERN = 1024  # bytes of eight rows
_K_STEP = 16


class Consumer:
    """Warpgroup ``number`` (0 ..) of the consumers: rows [number * warpgroup_rows, ..) of every tile."""

    def __init__(self, body: ContractionBody, number: Value) -> None:
        self.body, self.number = body, number
        self.tile, self.problem = body.tile, body.problem
        self.thread = body.thread & 127
        self.blocks = self.tile.warpgroup_rows // 64
        self.count = self.tile.columns // 2  # accumulator registers of 64 rows

    def build(self, registers_per_thread: int) -> None:
        registers(registers_per_thread, grow=True)
        self.epilogue = Epilogue(self)
        for_(block_id(), self.body.tiles, grid_size(), [0, 0], self._tile)
        if self.tile.staging:
            with if_(self.thread.eq(0)):
                store_wait(0)

    def _release(self, stage: Value, condition: Value | None = None) -> None:
        leads = self.thread.eq(0)
        with if_(leads if condition is None else leads & condition):
            mbarrier_arrive(self.body.empty(stage))

    def _descriptors(self, stage: Value) -> tuple[Value, Value]:
        """Of the stage's operands at K step 0 and this warpgroup's first row."""
        tile, lhs, rhs = self.tile, self.problem.lhs, self.problem.rhs
        slab = BK * _ROW  # bytes of 64 M-contiguous elements by the stage's K
        own = tile.warpgroup_rows * _ROW if lhs.k_major else tile.warpgroup_rows // 64 * slab
        a = self.body.shared_address + self.number * own + stage * tile.lhs_bytes
        b = self.body.shared_address + tile.rhs_offset + stage * tile.rhs_bytes
        return (
            wgmma_descriptor(a, 16 if lhs.k_major else slab, _PATTERN),
            wgmma_descriptor(b, 16 if rhs.k_major else slab, _PATTERN),
        )

    def _step(self, index: Value, stage: Value, phase: Value, previous: Value, *accumulators: Value) -> list[Value]:
        mbarrier_wait(self.body.full(stage), phase)
        a, b = self._descriptors(stage)
        lhs, rhs = self.problem.lhs, self.problem.rhs
        results = list(accumulators)
        wgmma_fence()
        for k in range(BK // _K_STEP):
            # descriptors count 16-byte units: 16 K elements are 32 bytes along a row, or 16 rows of a slab
            b_step = b + (k * (2 if rhs.k_major else _K_STEP * _ROW // 16))
            for block in range(self.blocks):
                across = block * (64 * _ROW if lhs.k_major else BK * _ROW) // 16
                a_step = a + (k * (2 if lhs.k_major else _K_STEP * _ROW // 16) + across)
                results[block] = wgmma(
                    results[block],
                    a_step,
                    b_step,
                    self.tile.columns,
                    self.problem.element,
                    not lhs.k_major,
                    not rhs.k_major,
                )
        wgmma_commit()
        wgmma_wait(1)
        self._release(previous, index.ne(0))  # its products are complete now
        return [*ring(stage, phase, self.tile.stages), stage, *results]

    def _tile(self, number: Value, stage: Value, phase: Value) -> list[Value]:
        place = self.body.place(number)
        kind = struct_of("f32", self.count)
        zero = Value(llvm.mlir_zero(kind))
        results = for_(0, self.body.steps, 1, [stage, phase, stage] + [zero] * self.blocks, self._step)
        stage, phase, previous, accumulators = results[0], results[1], results[2], results[3:]
        self.epilogue.prefetch(place, self.number)  # its loads run under the last products
        wgmma_wait(0)
        self._release(previous)
        rows = []
        for accumulator in accumulators:  # tied to this point: the registers are only now what they say
            values = fields(accumulator, "f32", self.count)
            numbers = range(self.count)
            tied = asm(kind, values, "", ",".join(["=f"] * self.count + [str(number) for number in numbers]))
            rows.append(fields(tied, "f32", self.count))
        self.epilogue.store(rows)
        return [stage, phase]
