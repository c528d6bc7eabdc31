"""Products with few rows (a vector times a matrix): the matrix is read once, in order, and not packed."""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from kc.builder.cpu import CpuBuilder
from kc.builder.cpu import Index as IndexValue
from kc.kernels.expr import Contraction, Kernel
from kc.schedules.cpu.chunks import build_chunked
from kc.schedules.cpu.contraction.parts import Part, PartValues
from kc.schedules.cpu.contraction.schedule import ContractionSchedule, parts_of, static_extent
from kc.schedules.cpu.contraction.tile import multiply_add, store_results
from kc.schedules.cpu.machine import Machine

#: rows up to which reading the matrix costs more than multiplying
_MOST_ROWS = 4


@dataclasses.dataclass(frozen=True)
class ThinProductSchedule:
    """``rows`` rows against strips of ``columns`` columns, over threads by (batch, strip).

    When the matrix is contiguous along its columns, sums of a strip stay in the first-level cache while ``unroll`` rows
    of the matrix are added to them at a time. When it is contiguous along k, ``unroll`` columns are summed at a time as
    dot products in vector lanes.
    """

    rows: int
    lanes: int
    columns: int
    unroll: int
    element: str
    machine: Machine

    @classmethod
    def pick(cls, kernel: Kernel, features: Machine) -> ThinProductSchedule | None:
        """Fits what ``ContractionSchedule`` fits, with at most four rows (or columns, when there are no others)."""
        general = ContractionSchedule.pick(kernel, features)
        if general is None:
            return None
        assert isinstance(kernel, Contraction)
        kernel = _turned(kernel)
        rows, lanes = static_extent(kernel, kernel.m), general.tile.lanes
        left, right, result = parts_of(kernel)
        if rows is None or rows > _MOST_ROWS or not kernel.n or not result.vectorises("n", lanes):
            return None
        if not right.vectorises("n", lanes) and not (right.vectorises("k", lanes) and left.vectorises("k", lanes)):
            return None
        unroll = 8 if right.vectorises("n", lanes) else max(12 // max(rows, 1), 3)
        return cls(rows, lanes, 512, unroll, general.tile.element, features)

    def build(self, kernel: Kernel, module: Any) -> None:
        """See ``kc.schedules.Schedule``."""
        assert isinstance(kernel, Contraction)
        from kc.bindings import ir

        kernel = _turned(kernel)
        builder = CpuBuilder(module, ir.Location.unknown(), self.machine.vector_bits, self.machine.fma)
        left, right, result = parts_of(kernel)

        def values(part: Part, arguments: Sequence[Any]) -> PartValues:
            return PartValues(builder, kernel, part, arguments)

        def count(arguments: Sequence[Any]) -> tuple[IndexValue, IndexValue]:
            sizes, k = values(result, arguments), values(left, arguments).size("k")
            strips = builder.ceildiv(sizes.size("n"), self.columns)
            return builder.mul(sizes.size("b"), strips), builder.mul(k, builder.min(sizes.size("n"), self.columns))

        def body(arguments: Sequence[Any], first: IndexValue, last: IndexValue) -> None:
            operands = [values(part, arguments) for part in (left, right, result)]
            strips = builder.ceildiv(operands[2].size("n"), self.columns)
            sums = builder.stack([max(self.rows, 1), self.columns + self.lanes], self.element)

            def one(number: Any) -> None:
                batch = builder.div(number, strips)
                start = builder.mul(builder.rem(number, strips), self.columns)
                self._strip(builder, kernel, operands[0], operands[1], operands[2], sums, batch, start)

            builder.loop(first, last, 1, one)

        build_chunked(builder, kernel, self.machine, count, body)

    def _strip(self, builder: CpuBuilder, kernel: Contraction, left: PartValues, right: PartValues, result: PartValues,
               sums: Any, batch: IndexValue, start: IndexValue) -> None:
        columns = result.size("n")
        width = builder.min(builder.sub(columns, start), self.columns)
        if right.part.vectorises("n", self.lanes):
            self._add_rows(builder, left, right, sums, batch, start, width)
        else:
            self._dot_columns(builder, left, right, sums, batch, start, width)

        def finish(at: Any, masked: bool) -> None:
            mask = builder.mask(builder.sub(width, at), self.lanes) if masked else None
            for r in range(self.rows):
                total = builder.vector_load(sums, [r, at], self.lanes)
                point = result.point(b=batch, m=r, n=builder.add(start, at))
                store_results(kernel, result, total, point, self.lanes, mask)

        self._along(builder, width, finish)

    def _along(self, builder: CpuBuilder, width: IndexValue, body: Any) -> None:
        """``body(position, masked)`` for the vectors of a strip."""
        main = builder.round_down(width, self.lanes)
        builder.loop(0, main, self.lanes, lambda at: body(at, False))
        builder.loop(main, width, self.lanes, lambda at: body(at, True))

    def _add_rows(self, builder: CpuBuilder, left: PartValues, right: PartValues, sums: Any, batch: IndexValue,
                  start: IndexValue, width: IndexValue) -> None:
        zero = builder.constant(0, self.element, self.lanes)

        def clear(at: Any) -> None:
            for r in range(self.rows):
                builder.vector_store(zero, sums, [r, at], self.lanes)

        builder.loop(0, width, self.lanes, clear)
        k = left.size("k")
        loops = right.part.groups["n"]

        def add(count: int) -> Any:
            def body(base: Any) -> None:
                depths = [builder.add(base, u) for u in range(count)]
                scalars = [[left.emitter(left.point(b=batch, m=r, k=depth))(left.part.roots[0]) for depth in depths]
                           for r in range(self.rows)]
                factors = [[builder.broadcast(a, self.lanes) for a in row] for row in scalars]
                points = [right.point(b=batch, k=depth) for depth in depths]

                def vector(at: Any, masked: bool) -> None:
                    mask = builder.mask(builder.sub(width, at), self.lanes) if masked else None
                    column = right.operands.unflatten(builder.add(start, at), loops, right.sizes)
                    totals = [builder.vector_load(sums, [r, at], self.lanes) for r in range(self.rows)]
                    for u, point in enumerate(points):
                        here = list(point)
                        for loop, index in column:
                            here[loop] = index
                        b = right.emitter(here, "n", self.lanes, mask).vector(right.part.roots[0])
                        totals = [multiply_add(builder, factors[r][u], b, total, self.element)
                                  for r, total in enumerate(totals)]
                    for r, total in enumerate(totals):
                        builder.vector_store(total, sums, [r, at], self.lanes)

                self._along(builder, width, vector)

            return body

        main = builder.round_down(k, self.unroll)
        builder.loop(0, main, self.unroll, add(self.unroll))
        builder.loop(main, k, 1, add(1))

    def _dot_columns(self, builder: CpuBuilder, left: PartValues, right: PartValues, sums: Any, batch: IndexValue,
                     start: IndexValue, width: IndexValue) -> None:
        zero = builder.constant(0, self.element, self.lanes)
        k, columns = left.size("k"), right.size("n")
        add = {"kind": "#vector.kind<add>"}
        if self.element[0] == "f":
            add["fastmath"] = "#arith.fastmath<reassoc>"

        def group(at: Any) -> None:
            last = builder.sub(columns, 1)
            places = [builder.min(builder.add(builder.add(start, at), c), last) for c in range(self.unroll)]

            def step(masked: bool) -> Any:
                def body(depth: Any, *carried: Any) -> list[Any]:
                    mask = builder.mask(builder.sub(k, depth), self.lanes) if masked else None

                    def vector(values: PartValues, point: list[Any]) -> Any:
                        value = values.emitter(point, "k", self.lanes, mask).vector(values.part.roots[0])
                        if mask is not None:
                            value = builder.create("arith.select", [mask, value, zero], value.type)
                        return value

                    a = [vector(left, left.point(b=batch, m=r, k=depth)) for r in range(self.rows)]
                    totals = list(carried)
                    for c, place in enumerate(places):
                        b = vector(right, right.point(b=batch, n=place, k=depth))
                        for r in range(self.rows):
                            i = r * self.unroll + c
                            totals[i] = multiply_add(builder, a[r], b, totals[i], self.element)
                    return totals

                return body

            main = builder.round_down(k, self.lanes)
            totals = builder.loop(0, main, self.lanes, step(False), [zero] * (self.rows * self.unroll))
            totals = builder.loop(main, k, self.lanes, step(True), totals)
            for i, total in enumerate(totals):
                value = builder.create("vector.reduction", [total], builder.type(self.element), add)
                builder.store(value, sums, [i // self.unroll, builder.add(at, i % self.unroll)])

        builder.loop(0, width, self.unroll, group)


def _turned(kernel: Contraction) -> Contraction:
    """A matrix times a vector as the vector times the transposed matrix."""
    if kernel.n or not kernel.m:
        return kernel
    return dataclasses.replace(kernel, m=(), n=kernel.m, lhs=kernel.rhs, rhs=kernel.lhs)
