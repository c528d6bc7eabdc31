"""Blocked factorisation and substitution on stacks of matrices: a loop over blocks of rows, products of matrices, and a
loop over the rows of a block.

Both work from the top down on rows that lie contiguous in memory: what a block of rows owes to the rows above it is one
product, which the contraction kernels compute; within the block each finished row is subtracted from those below it.
Sizes are padded to whole blocks; the padding comes last, where nothing reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kc.bindings import ir
from kc.passes.conversion._emit import Emitter, Index, element, is_complex, ranked, shape_of, tensor_type
from kc.passes.conversion._field import conjugate, field_op

#: rows of a block
BLOCK = 32

#: (emitter, block of rows, number of the row in it) -> that row, finished
Finish = Callable[[Emitter, ir.Value, ir.Value], ir.Value]
#: (emitter, finished row, number of the row) -> what each row below it subtracts it times: a column, or (True) a row of
#: which the conjugates count
Weights = Callable[[Emitter, ir.Value, ir.Value], tuple[ir.Value, bool]]


def padded(e: Emitter, size: Index) -> tuple[Index, int]:
    """(``size`` rounded up to whole blocks, rows of a block); one block when the size is known and small."""
    if isinstance(size, int) and size <= BLOCK:
        return size, max(1, size)
    return e.mul(e.floordiv(e.add(size, BLOCK - 1), BLOCK), BLOCK), BLOCK


def over_blocks(
    e: Emitter,
    size: Index,
    block: int,
    matrix: ir.Value,
    step: Callable[[Emitter, Index, ir.Value], ir.Value],
) -> ir.Value:
    """``step(emitter, first row, matrix)`` for every block of ``size`` rows."""
    if isinstance(size, int) and size <= block:
        return step(e, 0, matrix) if size else matrix
    return e.for_(0, size, [matrix], lambda i, row, carried: [step(i, row, carried[0])], step=block)[0]


def part(e: Emitter, matrix: ir.Value, rows: tuple[Index, Index], columns: tuple[Index, Index]) -> ir.Value:
    """Rows and columns, each (first, how many), of a stack of matrices."""
    batch = e.dims(matrix)[:-2]
    none: list[Index] = [0] * len(batch)
    sizes = [*batch, rows[1], columns[1]]
    shape = [*shape_of(matrix)[:-2], *(n if isinstance(n, int) else None for n in (rows[1], columns[1]))]
    type_ = tensor_type(shape, element(matrix))
    return e.extract_slice(matrix, [*none, rows[0], columns[0]], sizes, [1] * len(sizes), type_)


def put(e: Emitter, source: ir.Value, matrix: ir.Value, row: Index, column: Index) -> ir.Value:
    """``matrix`` with ``source`` at (``row``, ``column``)."""
    sizes = e.dims(source)
    none: list[Index] = [0] * (len(sizes) - 2)
    return e.insert_slice(source, matrix, [*none, row, column], sizes, [1] * len(sizes))


def product(e: Emitter, a: ir.Value, b: ir.Value, transposed: bool) -> ir.Value:
    """``a @ b``; with ``transposed``, ``a`` is stored as its conjugate transpose."""
    rank = ranked(a).rank
    batch = [ir.AffineDimExpr.get(d) for d in range(rank - 2)]
    i, j, k = (ir.AffineDimExpr.get(rank - 2 + n) for n in range(3))
    left = [*batch, k, i] if transposed else [*batch, i, k]
    maps = [ir.AffineMap.get(rank + 1, 0, exprs) for exprs in (left, [*batch, k, j], [*batch, i, j])]
    rows = -1 if transposed else -2
    extents = [*e.dims(a)[:-2], e.dims(a)[rows], e.dims(b)[-1]]
    shape = [*shape_of(a)[:-2], shape_of(a)[rows], shape_of(b)[-1]]
    zeros = e.splat(tensor_type(shape, element(a)), extents, e.const(element(a), 0))

    def body(m: Emitter, values: list[ir.Value]) -> Sequence[ir.Value]:
        x = conjugate(m, values[0]) if transposed else values[0]
        return [field_op(m, "add", values[2], field_op(m, "mul", x, values[1]))]

    return e.generic([a, b], [zeros], maps, ["parallel"] * rank + ["reduction"], body)[0]


def subtract(e: Emitter, a: ir.Value, b: ir.Value) -> ir.Value:
    """``a - b``, in the place of ``a``."""
    identity = ir.AffineMap.get_identity(ranked(a).rank)
    body = lambda m, v: [field_op(m, "sub", v[1], v[0])]  # noqa: E731
    return e.generic([b], [a], [identity, identity], ["parallel"] * ranked(a).rank, body)[0]


def by_rows(e: Emitter, block: int, rows: ir.Value, finish: Finish, weights: Weights) -> ir.Value:
    """Each row of ``rows`` finished in turn, then subtracted from those below, times their weight for it."""

    def step(i: Emitter, row: ir.Value, carried: list[ir.Value]) -> Sequence[ir.Value]:
        done = finish(i, carried[0], row)
        return [_eliminated(i, carried[0], done, *weights(i, done, row), row)]

    return e.for_(0, block, [rows], step)[0]


def _eliminated(
    e: Emitter, rows: ir.Value, line: ir.Value, weights: ir.Value, is_row: bool, row: ir.Value
) -> ir.Value:
    """``rows`` with ``line`` as row ``row``, and the rows below less their weight times ``line``.

    All rows are written, in place: a slice of those below would be copied to the kernel and back.
    """
    rank = ranked(rows).rank
    batch = [ir.AffineDimExpr.get(d) for d in range(rank - 2)]
    i, j = (ir.AffineDimExpr.get(rank - 2 + n) for n in range(2))
    zero = ir.AffineConstantExpr.get(0)
    of_weights = [*batch, zero, i] if is_row else [*batch, i, zero]
    maps = [ir.AffineMap.get(rank, 0, exprs) for exprs in (of_weights, [*batch, zero, j], [*batch, i, j])]

    def body(m: Emitter, v: list[ir.Value]) -> Sequence[ir.Value]:
        weight = conjugate(m, v[0]) if is_row else v[0]
        less = field_op(m, "sub", v[2], field_op(m, "mul", weight, v[1]))
        at = m.linalg_index(rank - 2)
        rest = m.select(m.cmpi("eq", at, row), v[1], v[2])
        return [m.select(m.cmpi("sgt", at, row), less, rest)]

    return e.generic([weights, line], [rows], maps, ["parallel"] * rank, body)[0]


def over_pivot(e: Emitter, line: ir.Value, pivot: ir.Value) -> ir.Value:
    """A row divided by a number of its matrix (a 1 x 1 slice)."""
    rank = ranked(line).rank
    exprs = [ir.AffineDimExpr.get(d) for d in range(rank - 2)] + [ir.AffineConstantExpr.get(0)] * 2
    maps = [ir.AffineMap.get_identity(rank), ir.AffineMap.get(rank, 0, exprs), ir.AffineMap.get_identity(rank)]
    init = e.empty(line.type, e.dims(line))
    body = lambda m, v: [field_op(m, "div", v[0], v[1])]  # noqa: E731
    return e.generic([line, pivot], [init], maps, ["parallel"] * rank, body)[0]


def real_part(e: Emitter, value: ir.Value) -> ir.Value:
    """The real part of a number, real or complex."""
    if not is_complex(value.type):
        return value
    return e.one("complex.re", [value], ir.ComplexType(value.type).element_type)


def as_field(e: Emitter, real: ir.Value, type_: ir.Type) -> ir.Value:
    """A real number in ``type_``, real or complex."""
    return e.one("complex.create", [real, e.const(real.type, 0)], type_) if is_complex(type_) else real
