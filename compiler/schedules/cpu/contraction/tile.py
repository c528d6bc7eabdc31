"""The register kernel, and what happens to its result."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from kc.builder.cpu import CpuBuilder
from kc.builder.cpu import Index as IndexValue
from kc.kernels.expr import Const, Contraction
from kc.schedules.cpu.contraction.parts import PartValues


@dataclasses.dataclass(frozen=True)
class TileShape:
    """``rows`` x ``vectors`` accumulators of ``lanes`` elements of ``element``; k unrolled ``unroll`` times."""

    rows: int
    vectors: int
    lanes: int
    unroll: int
    element: str

    @property
    def columns(self) -> int:
        return self.vectors * self.lanes


def multiply_panels(builder: CpuBuilder, shape: TileShape, left: Any, left_at: Sequence[IndexValue], right: Any,
                    right_at: Sequence[IndexValue], depth: IndexValue) -> list[Any]:
    """Accumulators (row-major) of the product of two panels over ``depth`` of k: all in registers."""
    zero = builder.constant(0, shape.element, shape.lanes)
    vector = builder.type(shape.element, shape.lanes)

    def multiply(count: int) -> Callable[..., list[Any]]:
        def body(k: Any, *carried: Any) -> list[Any]:
            sums = list(carried)
            left_base, right_base = builder.mul(k, shape.rows), builder.mul(k, shape.columns)
            for u in range(count):
                at_u = [builder.add(right_base, u * shape.columns + v * shape.lanes) for v in range(shape.vectors)]
                b = [builder.vector_load(right, [*right_at, where], shape.lanes) for where in at_u]
                for r in range(shape.rows):
                    scalar = builder.load(left, [*left_at, builder.add(left_base, u * shape.rows + r)])
                    a = builder.create("vector.broadcast", [scalar], vector)
                    for v in range(shape.vectors):
                        at = r * shape.vectors + v
                        sums[at] = multiply_add(builder, a, b[v], sums[at], shape.element)
            return sums

        return body

    main = builder.round_down(depth, shape.unroll)
    sums = builder.loop(0, main, shape.unroll, multiply(shape.unroll), [zero] * (shape.rows * shape.vectors))
    return builder.loop(main, depth, 1, multiply(1), sums)


def multiply_add(builder: CpuBuilder, a: Any, b: Any, c: Any, element: str) -> Any:
    """``a * b + c``: fused for floats, wrapping for integers."""
    if element[0] == "f":
        return builder.fma(a, b, c)
    return builder.create("arith.addi", [builder.create("arith.muli", [a, b], a.type), c], a.type)


@dataclasses.dataclass(frozen=True)
class Sums:
    """Where partial sums wait between blocks of k: ``memref[row, column]``; ``first`` and ``last``: flags of the block.

    A flag is True or False when it is known, else an ``i1``; ``memref`` is None when one block of k does it all.
    """

    memref: Any
    first: Any
    last: Any


def finish_tile(kernel: Contraction, values: PartValues, shape: TileShape, tile: Any, sums: Sums, batch: IndexValue,
                row: IndexValue, rows: IndexValue, column: IndexValue, columns: IndexValue) -> None:
    """Take a tile (scratch of the tile's shape) to the partial sums or, at the last block of k, to the results.

    ``rows`` and ``columns`` are the matrix's extents; the part of the tile outside is dropped.
    """
    builder = values.builder
    count = builder.min(builder.sub(rows, row), shape.rows)
    rest = builder.sub(columns, column)
    vectors = values.part.vectorises("n", shape.lanes)

    def each_row(masks: Sequence[Any]) -> None:
        def one(r: Any) -> None:
            for v, mask in enumerate(masks):
                _finish_vector(kernel, values, shape, tile, sums, batch, builder.add(row, r), r, v, column, mask)

        builder.loop(0, count, 1, one)

    def whole() -> None:
        each_row([None] * shape.vectors)

    def partly() -> None:
        each_row([builder.mask(builder.difference(rest, v * shape.lanes), shape.lanes) for v in range(shape.vectors)])

    if not vectors:
        _finish_elements(kernel, values, shape, tile, sums, batch, row, count, column, builder.min(rest, shape.columns))
    elif isinstance(columns, int) and columns % shape.columns == 0:
        whole()
    else:
        builder.when(builder.compare("uge", rest, shape.columns), whole, partly)


def _finish_vector(kernel: Contraction, values: PartValues, shape: TileShape, tile: Any, sums: Sums, batch: IndexValue,
                   row: IndexValue, r: Any, v: int, column: IndexValue, mask: Any) -> None:
    """One vector of one row."""
    builder, lanes = values.builder, shape.lanes
    at = builder.add(column, v * lanes)
    total = builder.vector_load(tile, [r, v * lanes], lanes)
    if sums.memref is not None:
        def before() -> list[Any]:
            return [builder.vector_load(sums.memref, [row, at], lanes, mask)]

        if sums.first is not True:
            zero = builder.constant(0, shape.element, lanes)
            old = builder.when(sums.first, lambda: [zero], before, [zero.type])[0]
            total = builder.create("arith.addf" if shape.element[0] == "f" else "arith.addi", [total, old], total.type)

    def result() -> None:
        point = values.point(b=batch, m=row, n=at)
        store_results(kernel, values, total, point, lanes, mask)

    def wait() -> None:
        builder.vector_store(total, sums.memref, [row, at], lanes, mask)

    if sums.last is True:
        result()
    else:
        builder.when(sums.last, result, wait)


def _finish_elements(kernel: Contraction, values: PartValues, shape: TileShape, tile: Any, sums: Sums,
                     batch: IndexValue, row: IndexValue, count: IndexValue, column: IndexValue, width: IndexValue
                     ) -> None:
    """Element by element, for results whose columns do not lie side by side."""
    builder = values.builder

    def one(r: Any, c: Any) -> None:
        m, n = builder.add(row, r), builder.add(column, c)
        total = builder.load(tile, [r, c])
        if sums.memref is not None and sums.first is not True:
            zero = builder.constant(0, shape.element)
            old = builder.when(sums.first, lambda: [zero], lambda: [builder.load(sums.memref, [m, n])], [zero.type])[0]
            total = builder.create("arith.addf" if shape.element[0] == "f" else "arith.addi", [total, old], total.type)

        def result() -> None:
            store_results(kernel, values, total, values.point(b=batch, m=m, n=n), None, None)

        if sums.last is True:
            result()
        else:
            builder.when(sums.last, result, lambda: builder.store(total, sums.memref, [m, n]))

    builder.loop(0, count, 1, lambda r: builder.loop(0, width, 1, lambda c: one(r, c)))


def store_results(kernel: Contraction, values: PartValues, total: Any, point: Sequence[IndexValue | None],
                  lanes: int | None, mask: Any) -> None:
    """The epilogue on ``total`` and the stores of its results."""
    builder = values.builder
    if not (isinstance(kernel.init, Const) and not kernel.init.value):
        start = values.emitter(point, "n", lanes, mask)
        add = "arith.addf" if kernel.acc_type[0] != "i" else "arith.addi"
        first = start.vector(kernel.init) if lanes else start(kernel.init)
        total = builder.create(add, [total, first], total.type)
    emit = values.emitter(point, "n", lanes, mask, acc=total)
    results = [(output, emit.vector(output.expr)) for output in kernel.outputs]
    for output, value in results:
        values.store(value, (output.arg, output.coords), point, "n", lanes, mask)
