"""A consumer warpgroup: 64 query rows of every tile, online softmax, the way out.

Of its rows thread t holds ``16 * (t / 32) + t % 32 / 4`` and that plus 8; accumulator ``4 j + 2 r + e`` is column
``8 j + 2 * (t % 4) + e`` of row r. So the accumulators of a score block, packed in pairs, are the register operand of
the value product as they stand. m is the running row maximum of scores, l the running row sum (of this thread's
columns), both per row.

LLVM and ptxas do not see that wgmma is asynchronous: ``pin`` ties registers to the points where they may change. P is
packed only after the previous value product has finished (ptxas C7513 otherwise).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kc.bindings import arith, llvm
from kc.builder.gpu import Value, at, const, fields, for_, if_, load, pin, ring, struct_of, tree, while_
from kc.builder.gpu_math import exp2_fast, f32, reciprocal_fast
from kc.builder.gpu_ops import (
    async_fence,
    barrier,
    barrier_arrive,
    block_id,
    butterfly,
    maximum_number,
    mbarrier_arrive,
    mbarrier_wait,
    pack_half,
    registers,
    store_matrix,
    store_wait,
    tensor_store,
    wgmma,
    wgmma_commit,
    wgmma_descriptor,
    wgmma_fence,
    wgmma_register_a,
    wgmma_wait,
)
from kc.schedules.gpu.attention.config import BLOCK_ROWS, WARPGROUP_ROWS
from kc.schedules.gpu.attention.score import LOWEST, Score, exp2_polynomial

if TYPE_CHECKING:
    from kc.schedules.gpu.attention.kernel import AttentionBody, Place

_PATTERN = 1024  # bytes of eight swizzled rows
_ORDER_BARRIER = 3  # and 4: named barriers by which the warpgroups take turns


def _is_zero(x: Value) -> Value:
    return Value(arith.cmpf(arith.CmpFPredicate.OEQ, x.ssa, f32(0.0).ssa))


class Consumer:
    """Consumer warpgroup ``number``."""

    def __init__(self, body: AttentionBody, number: Value) -> None:
        self.body, self.number = body, number
        self.config, self.problem = body.config, body.problem
        self.thread = body.thread & 127
        lane = self.thread & 31
        self.leads = self.thread.eq(0)
        self.pair = (lane & 3) * 2
        self.row = number * WARPGROUP_ROWS + (self.thread >> 5) * 16 + (lane >> 2)  # in the tile
        matrix_row = (self.thread >> 5) * 16 + ((lane >> 3) & 1) * 8 + (lane & 7)
        self.store_base = number * self.config.query_bytes + matrix_row * 128
        self.store_swizzle = (lane >> 4) ^ (lane & 7)
        self.score_count, self.output_count = self.config.keys // 2, self.config.depth // 2
        self.packed_count = self.config.keys // 4
        self.score = Score(self)

    def build(self, registers_per_thread: int) -> None:
        registers(registers_per_thread, grow=True)
        self.query_descriptor = wgmma_descriptor(
            self.body.shared_address + self.number * self.config.query_bytes, 16, _PATTERN
        )
        if self.config.ordered:
            with if_(self.number.eq(1)):
                barrier_arrive(_ORDER_BARRIER, BLOCK_ROWS * 2)
        while_([block_id(), *[0] * 7], lambda number, *_: number.lt(self.body.tiles), self._tile)
        if self.config.ordered:  # one arrival is left over
            with if_(self.number.eq(0)):
                barrier(_ORDER_BARRIER, BLOCK_ROWS * 2)
        with if_(self.leads):
            store_wait(0)

    def _release(self, base: int, stage: Value) -> None:
        with if_(self.leads):
            mbarrier_arrive(self.body.bar(base, stage))

    # -- products

    def _issue_scores(self, stage: Value) -> Value:
        """Opens the group of Q K^T; its accumulators start undefined and from zero."""
        slab_q, slab_k = (
            WARPGROUP_ROWS * 128 // 16,
            self.config.keys * 128 // 16,
        )  # in descriptor units, per 64 of depth
        keys = wgmma_descriptor(
            self.body.shared_address + stage * self.config.key_bytes + self.config.key_offset, 16, _PATTERN
        )
        accumulator = Value(llvm.mlir_undef(struct_of("f32", self.score_count)))
        wgmma_fence()
        for k in range(self.config.depth // 16):
            slab, inner = divmod(k, 4)
            a = self.query_descriptor + (slab * slab_q + inner * 2)
            b = keys + (slab * slab_k + inner * 2)
            accumulator = wgmma(accumulator, a, b, self.config.keys, self.problem.element, False, False, zero=k == 0)
        wgmma_commit()
        return accumulator

    def _issue_values(self, stage: Value, packed: list[Value], output: list[Value]) -> list[Value]:
        """Opens the group of O += P V."""
        values = wgmma_descriptor(
            self.body.shared_address + stage * self.config.key_bytes + self.config.value_offset,
            self.config.keys * 128,
            _PATTERN,
        )
        wgmma_fence()
        for k in range(self.config.keys // 16):
            result = wgmma_register_a(
                output, packed[4 * k : 4 * k + 4], values + 128 * k, self.config.depth, self.problem.element
            )
            output = fields(result, "f32", self.output_count)
        wgmma_commit()
        return output

    # -- softmax

    def _of_row(self, scores: Sequence[Value], row: int) -> list[Value]:
        return [scores[4 * j + 2 * row + e] for j in range(len(scores) // 4) for e in range(2)]

    def _row_maxima(self, scores: Sequence[Value]) -> list[Value]:
        result = []
        for row in range(2):
            x = tree(self._of_row(scores, row), maximum_number)
            for distance in (1, 2):
                x = maximum_number(x, butterfly(x, distance))
            result.append(x)
        return result

    def _exponentials(self, scores: Sequence[Value], maxima: Sequence[Value], masked: bool) -> list[Value]:
        factor = f32(self.score.factor)
        share = 0 if masked else self.config.polynomial
        result = []
        if self.score.plain:  # one FFMA an element
            offsets = [x * f32(-self.score.factor) for x in maxima]
            arguments = [x * factor + offsets[i // 2 % 2] for i, x in enumerate(scores)]
        else:  # scores may be as low as the lowest f32: subtract first
            arguments = [(x - maxima[i // 2 % 2]) * factor for i, x in enumerate(scores)]
        for i, x in enumerate(arguments):
            result.append(exp2_polynomial(x) if i // 4 % 8 < share else exp2_fast(x))
        return result

    def _row_sums(self, probabilities: Sequence[Value]) -> list[Value]:
        return [tree(self._of_row(probabilities, row), lambda a, b: a + b) for row in range(2)]

    def _pack(self, probabilities: Sequence[Value]) -> list[Value]:
        return [
            pack_half(probabilities[i], probabilities[i + 1], self.problem.element)
            for i in range(0, len(probabilities), 2)
        ]

    @staticmethod
    def _scale(output: Sequence[Value], factors: Sequence[Value]) -> list[Value]:
        return [x * factors[i // 2 % 2] for i, x in enumerate(output)]

    # -- steps

    def _first(self, place: Place, key_stage: Value, key_phase: Value) -> tuple[list[Value], list[Value], list[Value]]:
        """Scores of the last key block, masked where they must be; (m, l, packed P)."""
        mbarrier_wait(self.body.bar(self.body.key_full, key_stage), key_phase)
        accumulator = self._issue_scores(key_stage)
        wgmma_wait(0)
        scores = pin(fields(accumulator, "f32", self.score_count))
        self._release(self.body.key_empty, key_stage)
        scores = self.score.mask(self.score(scores, place, const(0)), place)
        maxima = self._row_maxima(scores)
        if not self.score.plain:  # a row without a key to attend to so far
            maxima = [maximum_number(x, f32(LOWEST)) for x in maxima]
        probabilities = self._exponentials(scores, maxima, masked=True)
        return maxima, self._row_sums(probabilities), self._pack(probabilities)

    def _step(self, place: Place) -> Callable[..., list[Value]]:
        """Q K^T of step j and P V of step j - 1 are issued together; the softmax of step j runs under the latter."""
        body, config = self.body, self.config
        packed_end = 8 + self.packed_count

        def step(index: Value, *carried: Value) -> list[Value]:
            key_stage, key_phase, value_stage, value_phase = carried[:4]
            maxima, sums = list(carried[4:6]), list(carried[6:8])
            packed, output = list(carried[8:packed_end]), list(carried[packed_end:])
            mbarrier_wait(body.bar(body.key_full, key_stage), key_phase)
            if config.ordered:
                barrier(self.number + _ORDER_BARRIER, BLOCK_ROWS * 2)
            packed = pin(packed, "i32")
            output = pin(output)
            accumulator = self._issue_scores(key_stage)
            mbarrier_wait(body.bar(body.value_full, value_stage), value_phase)
            output = self._issue_values(value_stage, packed, output)
            if config.ordered:
                barrier_arrive(const(_ORDER_BARRIER + 1) - self.number, BLOCK_ROWS * 2)
            wgmma_wait(1)
            scores = pin(fields(accumulator, "f32", self.score_count))
            self._release(body.key_empty, key_stage)
            scores = self.score(scores, place, index)
            new = [maximum_number(a, b) for a, b in zip(self._row_maxima(scores), maxima, strict=True)]
            factor = f32(self.score.factor)
            rescale = [exp2_fast((old - now) * factor) for old, now in zip(maxima, new, strict=True)]
            probabilities = self._exponentials(scores, new, masked=False)
            sums = [old * k + now for old, k, now in zip(sums, rescale, self._row_sums(probabilities), strict=True)]
            wgmma_wait(0)
            packed = self._pack(pin(probabilities))
            output = pin(output)
            self._release(body.value_empty, value_stage)
            output = self._scale(output, rescale)
            return [
                *ring(key_stage, key_phase, config.stages),
                *ring(value_stage, value_phase, config.stages),
                *new,
                *sums,
                *packed,
                *output,
            ]

        return step

    def _tile(
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
        body, place = self.body, self.body.place(number)
        mbarrier_wait(body.bar(body.query_full, self.number), query_phase)
        self.score.prepare(place)
        maxima, sums, packed = self._first(place, key_stage, key_phase)
        key_stage, key_phase = ring(key_stage, key_phase, self.config.stages)
        zeros = [f32(0.0)] * self.output_count
        carried = [key_stage, key_phase, value_stage, value_phase, *maxima, *sums, *packed, *zeros]
        carried = for_(1, place.steps, 1, carried, self._step(place))
        key_stage, key_phase, value_stage, value_phase = carried[:4]
        sums, packed, output = carried[6:8], carried[8 : 8 + self.packed_count], carried[8 + self.packed_count :]
        self._release(body.query_empty, self.number)
        mbarrier_wait(body.bar(body.value_full, value_stage), value_phase)
        output = self._issue_values(value_stage, pin(packed, "i32"), pin(output))
        self._finish(place, sums, output, value_stage)
        value_stage, value_phase = ring(value_stage, value_phase, self.config.stages)
        mbarrier_wait(body.bar(body.next_full, slot), slot_phase)
        following = load("i32", at(body.shared, slot << 2, body.next_number), 4, volatile=True)
        mbarrier_arrive(body.bar(body.next_empty, slot))
        return [following, key_stage, key_phase, value_stage, value_phase, query_phase ^ 1, slot ^ 1, slot_phase ^ slot]

    def _finish(self, place: Place, sums: Sequence[Value], output: list[Value], value_stage: Value) -> None:
        """O / l, rounded, through shared memory to the output tensor, under the next tile."""
        inverse = []
        for x in sums:
            for distance in (1, 2):
                x = x + butterfly(x, distance)
            reciprocal = reciprocal_fast(x)  # of a row without keys: infinite, so that its output is NaN
            inverse.append(_is_zero(x).select(f32(0.0), reciprocal) if self.body.kernel.safe else reciprocal)
        with if_(self.leads):
            store_wait(0, read=True)
        barrier(self.number + 1, 128)
        wgmma_wait(0)
        output = pin(output)
        self._release(self.body.value_empty, value_stage)
        output = self._scale(output, inverse)
        element = self.problem.element
        for slab in range(self.config.depth // 64):
            for pair in range(4):
                sources = []
                for group in (slab * 8 + 2 * pair, slab * 8 + 2 * pair + 1):
                    four = output[4 * group : 4 * group + 4]
                    sources += [pack_half(four[0], four[1], element), pack_half(four[2], four[3], element)]
                offset = self.store_base + ((self.store_swizzle ^ (2 * pair)) << 4)
                store_matrix(
                    at(self.body.shared, offset, self.config.output_offset + slab * WARPGROUP_ROWS * 128), sources
                )
        async_fence()
        barrier(self.number + 1, 128)
        with if_(self.leads):
            row = place.block * BLOCK_ROWS + self.number * WARPGROUP_ROWS
            source = at(self.body.shared, self.number * self.config.query_bytes, self.config.output_offset)
            tensor_store(
                self.body.arguments.device["map_output"], source, self.body.coordinates(self.problem.output, row, place)
            )
