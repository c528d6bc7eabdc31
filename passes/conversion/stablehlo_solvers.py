"""``kc-convert-stablehlo-solvers``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._attrs import boolean
from kc.passes.conversion._blocked import (
    as_field,
    by_rows,
    over_blocks,
    over_pivot,
    padded,
    part,
    product,
    put,
    real_part,
    subtract,
)
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._emit import Emitter, Index, element, ranked, shape_of, tensor_type
from kc.passes.conversion._field import conjugate, convert_float, wide_type


@dataclasses.dataclass(frozen=True)
class ConvertStablehloSolvers(StablehloConversion):
    """``triangular_solve`` and ``cholesky``, blocked: products of matrices for what blocks of 32 rows owe to the rows
    above, a loop over rows within a block.

    Every variant is brought to one form first: ``triangular_solve`` to a lower matrix on the left, ``cholesky`` to the
    upper factor. Only the triangle that counts is read; the other one of a Cholesky factor is zero. Narrow floats are
    computed in f32. A matrix that is not positive definite gives NaN, as in XLA; of the diagonal of a Hermitian matrix
    the real part counts. After::

        %x = scf.for %row = %c0 to %n step %c32 iter_args(%b = %padded) {
          %owed = linalg.generic (%a[%row.., 0..%row] times %b[0..%row, ..])
          %rows = linalg.generic (%b[%row.., ..] - %owed)
          %done = scf.for (one row after the other)
          %next = tensor.insert_slice %done into %b[%row, 0]
        }
    """

    name: ClassVar[str] = "kc-convert-stablehlo-solvers"
    converts: ClassVar[frozenset[str]] = frozenset({"stablehlo.cholesky", "stablehlo.triangular_solve"})

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value]:
        return [_cholesky(e, op) if op.name == "stablehlo.cholesky" else _triangular_solve(e, op)]


def _stack(like: ir.Value, rows: Index, columns: Index, type_: ir.Type) -> ir.RankedTensorType:
    """Matrices of these sizes, in the batch of ``like``."""
    return tensor_type([*shape_of(like)[:-2], *(n if isinstance(n, int) else None for n in (rows, columns))], type_)


def _is_inside(i: Emitter, index: ir.Value, size: Index, whole: Index) -> ir.Value | None:
    """Whether an index below ``whole`` is below ``size``; None when it always is."""
    if isinstance(size, int) and size == whole:
        return None
    return i.cmpi("slt", index, i.index(size))


def _triangular_solve(e: Emitter, op: ir.Operation) -> ir.Value:
    a, b = op.operands
    rank = ranked(b).rank
    left, lower, unit = (boolean(op, k) for k in ("left_side", "lower", "unit_diagonal"))
    transpose = str(op.attributes["transpose_a"])
    transposed, adjoint = "NO_TRANSPOSE" not in transpose, "ADJOINT" in transpose
    # with C[i, k] the coefficient of unknown k in equation i: left C = op(a), right C = transpose of op(a)
    swapped = transposed == left
    forward = (lower != transposed) == left
    batch, kind, acc = e.dims(b)[:-2], element(b), wide_type(element(b))
    size, width = (e.dims(b)[-2:]) if left else e.dims(b)[:-3:-1]
    whole, block = padded(e, size)

    def original(i: Emitter, row: Index) -> Index:
        """Where row ``row`` of the lower system comes from: an upper one is turned round."""
        return row if forward else i.sub(i.sub(size, 1), row)

    def coefficient(i: Emitter, at: list[ir.Value]) -> ir.Value:
        row, column = at[-2:]
        one, zero = i.const(acc, 1), i.const(acc, 0)
        inside = _is_inside(i, row, size, whole)
        on_diagonal = i.cmpi("eq", row, column)

        def below(j: Emitter) -> Sequence[ir.Value]:
            place = [original(j, row), original(j, column)]
            value = convert_float(j, j.extract(a, [*at[:-2], *(place[::-1] if swapped else place)]), acc)
            value = conjugate(j, value) if adjoint else value
            return [j.select(on_diagonal, one, value) if unit else value]

        read = i.cmpi("sge", row, column)
        if inside is not None:
            read = i.bin("arith.andi", read, inside)
        return i.if_(read, [acc], below, lambda j: [j.select(on_diagonal, one, zero)])[0]

    def right_side(i: Emitter, at: list[ir.Value]) -> ir.Value:
        row, column = at[-2:]

        def read(j: Emitter) -> Sequence[ir.Value]:
            place = [original(j, row), column]
            return [convert_float(j, j.extract(b, [*at[:-2], *(place if left else place[::-1])]), acc)]

        inside = _is_inside(i, row, size, whole)
        return read(i)[0] if inside is None else i.if_(inside, [acc], read, lambda j: [j.const(acc, 0)])[0]

    as_it_is = not swapped and forward and not adjoint and acc == kind and isinstance(size, int) and size == whole
    # above the diagonal nothing is read, on it only when it counts
    matrix = a if as_it_is else e.tabulate(_stack(b, whole, whole, acc), [*batch, whole, whole], coefficient)
    as_it_is = left and forward and acc == kind and isinstance(size, int) and size == whole
    start = b if as_it_is else e.tabulate(_stack(b, whole, width, acc), [*batch, whole, width], right_side)

    def step(i: Emitter, first: Index, carried: ir.Value) -> ir.Value:
        rows = part(i, carried, (first, block), (0, width))
        if not isinstance(first, int):
            above = part(i, carried, (0, first), (0, width))
            rows = subtract(i, rows, product(i, part(i, matrix, (first, block), (0, first)), above, False))
        diagonal = part(i, matrix, (first, block), (first, block))

        def finish(j: Emitter, current: ir.Value, row: ir.Value) -> ir.Value:
            line = part(j, current, (row, 1), (0, width))
            return line if unit else over_pivot(j, line, part(j, diagonal, (row, 1), (row, 1)))

        def weights(j: Emitter, done: ir.Value, row: ir.Value) -> tuple[ir.Value, bool]:
            return part(j, diagonal, (0, block), (row, 1)), False

        return put(i, by_rows(i, block, rows, finish, weights), carried, first, 0)

    solved = over_blocks(e, whole, block, start, step)
    if as_it_is:
        return solved

    def result(i: Emitter, at: list[ir.Value]) -> ir.Value:
        row, column = at[-2:] if left else at[:-3:-1]
        return convert_float(i, i.extract(solved, [*at[: rank - 2], original(i, row), column]), kind)

    return e.tabulate(op.results[0].type, e.dims(b), result)


def _cholesky(e: Emitter, op: ir.Operation) -> ir.Value:
    a = op.operands[0]
    lower, kind = boolean(op, "lower"), element(a)
    acc = wide_type(kind)
    *batch, size, _ = e.dims(a)
    whole, block = padded(e, size)

    def upper(i: Emitter, at: list[ir.Value]) -> ir.Value:
        """The upper triangle of the matrix, zero below, the padding that of the identity."""
        row, column = at[-2:]

        def read(j: Emitter) -> Sequence[ir.Value]:
            place = [column, row] if lower else [row, column]
            value = convert_float(j, j.extract(a, [*at[:-2], *place]), acc)
            return [conjugate(j, value) if lower else value]

        inside = _is_inside(i, column, size, whole)
        wanted = i.cmpi("sge", column, row)
        wanted = wanted if inside is None else i.bin("arith.andi", wanted, inside)
        on_diagonal = i.cmpi("eq", row, column)
        return i.if_(wanted, [acc], read, lambda j: [j.select(on_diagonal, j.const(acc, 1), j.const(acc, 0))])[0]

    start = e.tabulate(_stack(a, whole, whole, acc), [*batch, whole, whole], upper)

    def step(i: Emitter, first: Index, carried: ir.Value) -> ir.Value:
        width = i.sub(whole, first)
        rows = part(i, carried, (first, block), (first, width))
        if not isinstance(first, int):
            above = part(i, carried, (0, first), (first, width))
            owed = product(i, part(i, carried, (0, first), (first, block)), above, True)
            rows = subtract(i, rows, owed)

        def finish(j: Emitter, current: ir.Value, row: ir.Value) -> ir.Value:
            """The row over the root of its diagonal entry, which takes the entry's own place exactly."""
            root = _root(j, part(j, current, (row, 1), (row, 1)))
            line = over_pivot(j, part(j, current, (row, 1), (0, width)), root)
            return put(j, root, line, 0, row)

        def weights(j: Emitter, done: ir.Value, row: ir.Value) -> tuple[ir.Value, bool]:
            return part(j, done, (0, 1), (0, block)), True

        return put(i, by_rows(i, block, rows, finish, weights), carried, first, first)

    factor = over_blocks(e, whole, block, start, step)

    def result(i: Emitter, at: list[ir.Value]) -> ir.Value:
        row, column = at[-2:] if not lower else at[:-3:-1]

        def read(j: Emitter) -> Sequence[ir.Value]:
            value = convert_float(j, j.extract(factor, [*at[:-2], row, column]), kind)
            return [conjugate(j, value) if lower else value]

        return i.if_(i.cmpi("sge", column, row), [kind], read, lambda j: [j.const(kind, 0)])[0]

    return e.tabulate(op.results[0].type, e.dims(a), result)


def _root(e: Emitter, diagonal: ir.Value) -> ir.Value:
    """The square root of the real part of each element."""
    rank = ranked(diagonal).rank
    identity = ir.AffineMap.get_identity(rank)

    def body(m: Emitter, v: list[ir.Value]) -> Sequence[ir.Value]:
        return [as_field(m, m.unary("math.sqrt", real_part(m, v[0])), v[0].type)]

    init = e.empty(diagonal.type, e.dims(diagonal))
    return e.generic([diagonal], [init], [identity, identity], ["parallel"] * rank, body)[0]
