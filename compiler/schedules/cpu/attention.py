"""Attention: scores of a block of queries stay in the cache between the two products."""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from kc.builder.cpu import CpuBuilder, memref_type
from kc.builder.cpu import Index as IndexValue
from kc.builder.expr import HALF, wide
from kc.kernels.expr import Attention, Contraction, Kernel
from kc.schedules.cpu.contraction.packing import pack_panel, transpose
from kc.schedules.cpu.contraction.parts import Part, PartValues
from kc.schedules.cpu.contraction.tile import TileShape, multiply_panels
from kc.schedules.cpu.machine import Machine
from kc.schedules.cpu.space import argument_types, extent, supported


@dataclasses.dataclass(frozen=True)
class AttentionSchedule:
    """Blocks of ``block`` queries against all keys, over threads by (batch, block).

    Keys and values of every batch item are packed into panels once. A block's scores (``block`` rows of all keys) are
    computed by the register kernel of contractions with the score expression applied to each tile, turned into
    probabilities row by row, packed, and multiplied by the values. Blocks of a causal kernel stop at their last query.
    """

    tile: TileShape
    block: int
    machine: Machine

    @classmethod
    def pick(cls, kernel: Kernel, features: Machine) -> AttentionSchedule | None:
        """Fits attention computed in f32 whose masks are contiguous along the keys, results along the depth."""
        if not isinstance(kernel, Attention):
            return None
        roots = [kernel.query, kernel.key, kernel.value, kernel.score, *(output.expr for output in kernel.outputs)]
        order = [*kernel.batch, kernel.q, kernel.kv, kernel.d, kernel.dv]
        if (not supported(kernel, roots) or order != sorted(order) or kernel.probs_type not in ("f32", *HALF)
                or any(wide(root.type) != "f32" for root in roots[:4])):
            return None
        parts = _Parts.of(kernel)
        lanes = features.lanes("f32")
        if not all(part.fits for part in parts) or not parts.score.vectorises("n", lanes) \
                or not parts.result.vectorises("n", lanes):
            return None
        rows = 12 if features.vector_registers >= 32 else 6
        keys = kernel.dims[kernel.kv].size or 1024
        block = min(features.l2_bytes // 3 // (4 * max(keys, 1)), 48) // rows * rows
        return cls(TileShape(rows, 2, lanes, 4, "f32"), max(block, rows), features)

    def build(self, kernel: Kernel, module: Any) -> None:
        """See ``kc.schedules.Schedule``."""
        assert isinstance(kernel, Attention)
        from kc.bindings import ir

        builder = CpuBuilder(module, ir.Location.unknown(), self.machine.vector_bits, self.machine.fma)
        _Build(self, kernel, builder).build()


@dataclasses.dataclass(frozen=True)
class _Parts:
    """The operands of both products, the scores and the results; m = queries, and n, k of the product they are in."""

    query: Part
    key: Part
    value: Part
    score: Part
    result: Part

    @classmethod
    def of(cls, kernel: Attention) -> _Parts:
        common = {"name": kernel.name, "operands": kernel.operands, "dims": kernel.dims, "batch": kernel.batch}
        scores = Contraction(**common, m=(kernel.q,), n=(kernel.kv,), k=(kernel.d,))  # type: ignore[arg-type]
        results = Contraction(**common, m=(kernel.q,), n=(kernel.dv,), k=(kernel.kv,))  # type: ignore[arg-type]
        outputs = [output.expr for output in kernel.outputs]
        stored = [(output.arg, output.coords) for output in kernel.outputs]
        return cls(Part.of(scores, [kernel.query]), Part.of(scores, [kernel.key]), Part.of(results, [kernel.value]),
                   Part.of(scores, [kernel.score]), Part.of(results, outputs, stored))

    def __iter__(self) -> Any:
        return iter((self.query, self.key, self.value, self.score, self.result))


class _Build:
    """Builds ``@K__impl``, which packs keys and values and calls ``@K__block`` (a block of queries)."""

    def __init__(self, schedule: AttentionSchedule, kernel: Attention, builder: CpuBuilder) -> None:
        self.schedule, self.kernel, self.builder = schedule, kernel, builder
        self.parts = _Parts.of(kernel)
        self.types = argument_types(kernel)
        self.panels = memref_type((None, None, None), "f32")

    def _values(self, part: Part, arguments: Sequence[Any]) -> PartValues:
        return PartValues(self.builder, self.kernel, part, arguments)

    def _sizes(self, arguments: Sequence[Any]) -> dict[str, IndexValue]:
        kernel, builder = self.kernel, self.builder

        def size(dim: int) -> IndexValue:
            return extent(builder, kernel.dims[dim], arguments)

        return {"batch": builder.product([size(dim) for dim in kernel.batch]), "q": size(kernel.q),
                "kv": size(kernel.kv), "d": size(kernel.d), "dv": size(kernel.dv)}

    def build(self) -> None:
        builder, kernel, schedule = self.builder, self.kernel, self.schedule
        tile, machine = schedule.tile, schedule.machine
        self._block_function()
        with builder.function(f"{kernel.name}__impl", self.types) as arguments:
            size = self._sizes(arguments)
            keys, depths = (builder.ceildiv(size[name], tile.columns) for name in ("kv", "dv"))

            def panels(count: IndexValue, depth: IndexValue) -> Any:
                whole = builder.mul(builder.ceildiv(depth, tile.lanes), tile.lanes)  # packing writes whole vectors
                return builder.allocate([size["batch"], count, builder.mul(whole, tile.columns)], "f32")

            packed_keys, packed_values = panels(keys, size["d"]), panels(depths, size["kv"])
            flexible = [builder.cast(memref, self.panels) for memref in (packed_keys, packed_values)]
            key, value = self._values(self.parts.key, arguments), self._values(self.parts.value, arguments)
            many = builder.parallel if machine.parallel else lambda count, body: builder.loop(0, count, 1, body)

            def pack(batch: Any) -> None:
                for values, memref, count, extent, depth in (
                        (key, flexible[0], keys, size["kv"], size["d"]),
                        (value, flexible[1], depths, size["dv"], size["kv"])):
                    builder.loop(0, count, 1, lambda j, values=values, memref=memref, extent=extent, depth=depth:
                                 pack_panel(values, memref, [batch, j], "n", tile.columns, tile.lanes, batch,
                                            builder.mul(j, tile.columns), extent, 0, depth))

            many(size["batch"], pack)
            blocks = builder.ceildiv(size["q"], schedule.block)

            def block(number: Any) -> None:
                batch, first = builder.div(number, blocks), builder.mul(builder.rem(number, blocks), schedule.block)
                builder.call(f"{kernel.name}__block", [*arguments, *flexible, *map(builder.index, (batch, first))])

            many(builder.mul(size["batch"], blocks), block)
            builder.free(packed_values)
            builder.free(packed_keys)

    # -- a block of queries

    def _block_function(self) -> None:
        builder, kernel, schedule = self.builder, self.kernel, self.schedule
        tile = schedule.tile
        extra = [self.panels, self.panels, "index", "index"]
        with builder.function(f"{kernel.name}__block", [*self.types, *extra]) as every:
            arguments, (keys, values, batch, first) = every[:-4], every[-4:]
            size = self._sizes(arguments)
            rows = builder.min(builder.sub(size["q"], first), schedule.block)
            # a causal block needs no key beyond its last query
            reach = builder.min(size["kv"], builder.add(first, rows)) if kernel.causal else size["kv"]
            padded = builder.mul(builder.ceildiv(size["kv"], tile.columns), tile.columns)
            count = builder.ceildiv(rows, tile.rows)
            panels = schedule.block // tile.rows

            def panel_memref(depth: IndexValue) -> Any:
                whole = builder.mul(builder.ceildiv(depth, tile.lanes), tile.lanes)
                return builder.allocate([panels, builder.add(builder.mul(whole, tile.rows), 2 * tile.lanes)], "f32")

            queries, probs = panel_memref(size["d"]), panel_memref(size["kv"])
            scores = builder.allocate([schedule.block, padded], "f32")
            inverse = builder.stack([schedule.block], "f32")
            scratch = builder.stack([tile.rows, tile.columns], "f32")
            query = self._values(self.parts.query, arguments)
            score = self._values(self.parts.score, arguments)
            result = self._values(self.parts.result, arguments)
            builder.loop(0, count, 1, lambda i: pack_panel(
                query, queries, [i], "m", tile.rows, tile.lanes, batch, builder.add(first, builder.mul(i, tile.rows)),
                size["q"], 0, size["d"]))

            def tiles(columns: IndexValue, left: Any, right: Any, depth: IndexValue, finish: Any) -> None:
                def one(j: Any, i: Any) -> None:
                    sums = multiply_panels(builder, tile, left, [i], right, [batch, j], depth)
                    for r in range(tile.rows):
                        for v in range(tile.vectors):
                            builder.vector_store(sums[r * tile.vectors + v], scratch, [r, v * tile.lanes], tile.lanes)
                    row = builder.mul(i, tile.rows)
                    finish(row, builder.min(builder.sub(rows, row), tile.rows), builder.mul(j, tile.columns))

                builder.loop(0, builder.ceildiv(columns, tile.columns), 1,
                             lambda j: builder.loop(0, count, 1, lambda i: one(j, i)))

            tiles(reach, queries, keys, size["d"], lambda row, valid, column: self._scores(
                score, scratch, scores, batch, first, row, valid, column, size["kv"]))
            builder.loop(0, rows, 1, lambda r: self._softmax(scores, inverse, r, reach))
            builder.loop(0, count, 1, lambda i: self._pack_probs(scores, probs, i, reach))
            tiles(size["dv"], probs, values, reach, lambda row, valid, column: self._results(
                result, scratch, inverse, batch, first, row, valid, column, size["dv"]))
            for memref in (scores, probs, queries):
                builder.free(memref)

    def _scores(self, score: PartValues, scratch: Any, scores: Any, batch: IndexValue, first: IndexValue,
                row: IndexValue, valid: IndexValue, column: IndexValue, keys: IndexValue) -> None:
        """The score expression on a tile; keys that do not count become -inf."""
        builder, tile = self.builder, self.schedule.tile
        low = builder.constant(-math.inf, "f32", tile.lanes)

        def each(masked: bool) -> None:
            def one(r: Any) -> None:
                local = builder.add(row, r)
                position = builder.add(first, local)
                limit = builder.min(keys, builder.add(position, 1)) if self.kernel.causal else keys
                for v in range(tile.vectors):
                    at = builder.add(column, v * tile.lanes)
                    total = builder.vector_load(scratch, [r, v * tile.lanes], tile.lanes)
                    inside = counted = None
                    if masked:
                        inside = builder.mask(builder.difference(keys, at), tile.lanes)
                        counted = builder.mask(builder.difference(limit, at), tile.lanes)
                    point = score.point(b=batch, m=position, n=at)
                    value = score.emitter(point, "n", tile.lanes, inside, acc=total).vector(self.kernel.score)
                    if masked:
                        value = builder.create("arith.select", [counted, value, low], value.type)
                    builder.vector_store(value, scores, [local, at], tile.lanes)

            builder.loop(0, valid, 1, one)

        end = builder.add(column, tile.columns)
        limit = builder.min(keys, builder.add(builder.add(first, row), 1)) if self.kernel.causal else keys
        if isinstance(limit, int) and limit % tile.columns == 0:
            each(False)
        else:
            builder.when(builder.compare("ule", end, limit), lambda: each(False), lambda: each(True))

    def _softmax(self, scores: Any, inverse: Any, row: Any, reach: IndexValue) -> None:
        """A row of scores becomes exponentials, the inverse of their sum is kept; probabilities if they are rounded."""
        builder, tile = self.builder, self.schedule.tile
        lanes = tile.lanes
        vector = builder.type("f32", lanes)
        scalar = builder.type("f32")
        end = builder.mul(builder.ceildiv(reach, tile.columns), tile.columns)
        step = tile.columns
        low = builder.constant(-math.inf, "f32", lanes)
        zero = builder.constant(0.0, "f32", lanes)

        def load(base: Any, v: int) -> Any:
            return builder.vector_load(scores, [row, builder.add(base, v * lanes)], lanes)

        def highest(base: Any, *tops: Any) -> list[Any]:
            return [builder.create("arith.maximumf", [load(base, v), top], vector) for v, top in enumerate(tops)]

        tops = builder.loop(0, end, step, highest, [low] * tile.vectors)
        top = tops[0]
        for other in tops[1:]:
            top = builder.create("arith.maximumf", [top, other], vector)
        top = builder.create("vector.reduction", [top], scalar, {"kind": "#vector.kind<maximumf>"})
        if self.kernel.safe:  # a row without keys gives zeros
            empty = builder.create("arith.cmpf", [top, builder.constant(-math.inf, "f32")], builder.type("i1"),
                                   {"predicate": "1 : i64"})
            top = builder.create("arith.select", [empty, builder.constant(0.0, "f32"), top], scalar)
        tops_vector = builder.broadcast(top, lanes)

        def exponentials(base: Any, *totals: Any) -> list[Any]:
            result = []
            for v, total in enumerate(totals):
                shifted = builder.create("arith.subf", [load(base, v), tops_vector], vector)
                e = builder.create("math.exp", [shifted], vector, {"kc.nonpositive": "unit"})
                builder.vector_store(e, scores, [row, builder.add(base, v * lanes)], lanes)
                result.append(builder.create("arith.addf", [total, e], vector))
            return result

        totals = builder.loop(0, end, step, exponentials, [zero] * tile.vectors)
        total = totals[0]
        for other in totals[1:]:
            total = builder.create("arith.addf", [total, other], vector)
        total = builder.create("vector.reduction", [total], scalar, {
            "kind": "#vector.kind<add>", "fastmath": "#arith.fastmath<reassoc>"})
        one, nothing = builder.constant(1.0, "f32"), builder.constant(0.0, "f32")
        value = builder.create("arith.divf", [one, total], scalar)
        # a row whose exponentials sum to 0 has no keys (or none that count, if safe): its result is 0
        vanishes = builder.create("arith.cmpf", [total, nothing], builder.type("i1"), {"predicate": "1 : i64"})
        value = builder.create("arith.select", [vanishes, nothing, value], scalar)
        if self.kernel.probs_type not in HALF:
            builder.store(value, inverse, [row])
            return
        factor = builder.broadcast(value, lanes)

        def rounded(base: Any) -> None:
            for v in range(tile.vectors):
                p = builder.create("arith.mulf", [load(base, v), factor], vector)
                p = builder.widen(builder.narrow(p, self.kernel.probs_type), self.kernel.probs_type)
                builder.vector_store(p, scores, [row, builder.add(base, v * lanes)], lanes)

        builder.loop(0, end, step, rounded)
        builder.store(one, inverse, [row])

    def _pack_probs(self, scores: Any, probs: Any, number: Any, reach: IndexValue) -> None:
        """Rows of probabilities into panel ``number``: the left factor of the second product."""
        builder, tile = self.builder, self.schedule.tile
        lanes = tile.lanes
        first = builder.mul(number, tile.rows)

        def step(k: Any) -> None:
            rows = [builder.vector_load(scores, [builder.add(first, r), k], lanes) for r in range(tile.rows)]
            rows += [rows[-1]] * (-tile.rows % lanes)
            blocks = [transpose(builder, rows[at:at + lanes], lanes) for at in range(0, len(rows), lanes)]
            base = builder.mul(k, tile.rows)
            for i in range(lanes):
                for at, block in enumerate(blocks):
                    where = builder.add(base, i * tile.rows + at * lanes)
                    builder.vector_store(block[i], probs, [number, where], lanes)

        builder.loop(0, reach, lanes, step)

    def _results(self, result: PartValues, scratch: Any, inverse: Any, batch: IndexValue, first: IndexValue,
                 row: IndexValue, valid: IndexValue, column: IndexValue, depth: IndexValue) -> None:
        """A tile of the second product, normalised, through the epilogue to the destinations."""
        builder, tile = self.builder, self.schedule.tile

        def each(masked: bool) -> None:
            def one(r: Any) -> None:
                local = builder.add(row, r)
                factor = builder.broadcast(builder.load(inverse, [local]), tile.lanes)
                for v in range(tile.vectors):
                    at = builder.add(column, v * tile.lanes)
                    total = builder.vector_load(scratch, [r, v * tile.lanes], tile.lanes)
                    total = builder.create("arith.mulf", [total, factor], total.type)
                    mask = builder.mask(builder.difference(depth, at), tile.lanes) if masked else None
                    point = result.point(b=batch, m=builder.add(first, local), n=at)
                    emit = result.emitter(point, "n", tile.lanes, mask, acc=total)
                    for output, value in [(o, emit.vector(o.expr)) for o in self.kernel.outputs]:
                        result.store(value, (output.arg, output.coords), point, "n", tile.lanes, mask)

            builder.loop(0, valid, 1, one)

        if isinstance(depth, int) and depth % tile.columns == 0:
            each(False)
        else:
            end = builder.add(column, tile.columns)
            builder.when(builder.compare("ule", end, depth), lambda: each(False), lambda: each(True))

