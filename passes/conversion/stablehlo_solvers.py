"""``kc-convert-stablehlo-solvers``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._attrs import boolean
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._emit import Emitter, Index, element, ranked, shape_of, tensor_type
from kc.passes.conversion._field import conjugate, convert_float, field_op, square_root, wide_type


@dataclasses.dataclass(frozen=True)
class ConvertStablehloSolvers(StablehloConversion):
    """``triangular_solve`` and ``cholesky``: an ``scf.for`` over rows (columns), each computed by a parallel
    ``linalg.generic``.

    The loop carries the result and inserts one row after the other, so that later rows read earlier ones; the generic
    runs over batch and right-hand sides. Only the triangle that counts is read. Narrow floats accumulate in f32. A
    matrix that is not positive definite gives NaN, as in XLA. After::

        %x = scf.for %row = %c0 to %n step %c1 iter_args(%solved = %zeros) {
          %line = linalg.generic { (b[row, :] - sum over k < row of a[row, k] * solved[k, :]) / a[row, row] }
          %next = tensor.insert_slice %line into %solved[%row, 0] [1, %m] [1, 1]
        }
    """

    name: ClassVar[str] = "kc-convert-stablehlo-solvers"
    converts: ClassVar[frozenset[str]] = frozenset({"stablehlo.cholesky", "stablehlo.triangular_solve"})

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value]:
        return [_cholesky(e, op) if op.name == "stablehlo.cholesky" else _triangular_solve(e, op)]


def _one_line(value: ir.Value, axis: int) -> ir.Type:
    """The type of a slice of extent 1 along ``axis``."""
    return tensor_type([1 if d == axis else n for d, n in enumerate(shape_of(value))], element(value))


def _triangular_solve(e: Emitter, op: ir.Operation) -> ir.Value:
    a, b = op.operands
    rank = ranked(b).rank
    left, lower, unit = (boolean(op, k) for k in ("left_side", "lower", "unit_diagonal"))
    transpose = str(op.attributes["transpose_a"])
    transposed, adjoint = "NO_TRANSPOSE" not in transpose, "ADJOINT" in transpose
    # with C[i, k] the coefficient of unknown k in equation i: left C = op(a), right C = transpose of op(a)
    swapped = transposed == left
    forward = (lower != transposed) == left
    axis = rank - 2 if left else rank - 1
    extents = e.dims(b)
    size = extents[axis]
    acc = wide_type(element(b))

    def coefficient(i: Emitter, batch: list[ir.Value], row: Index, column: Index) -> ir.Value:
        place = [*batch, *((column, row) if swapped else (row, column))]
        value = convert_float(i, i.extract(a, place), acc)
        return conjugate(i, value) if adjoint else value

    def step(outer: Emitter, count: ir.Value, carried: list[ir.Value]) -> Sequence[ir.Value]:
        solved = carried[0]
        row = count if forward else outer.index(outer.sub(outer.sub(size, 1), count))

        def body(i: Emitter, at: list[ir.Value]) -> ir.Value:
            batch = at[: rank - 2]

            def place(k: Index) -> list[Index]:
                return [k if d == axis else x for d, x in enumerate(at)]

            def subtract(j: Emitter, k: ir.Value, value: list[ir.Value]) -> Sequence[ir.Value]:
                known = convert_float(j, j.extract(solved, place(k)), acc)
                return [field_op(j, "sub", value[0], field_op(j, "mul", coefficient(j, batch, row, k), known))]

            first, last = (0, row) if forward else (i.add(row, 1), size)
            value = i.for_(first, last, [convert_float(i, i.extract(b, place(row)), acc)], subtract)[0]
            if not unit:
                value = field_op(i, "div", value, coefficient(i, batch, row, row))
            return convert_float(i, value, element(b))

        sizes: list[Index] = [1 if d == axis else n for d, n in enumerate(extents)]
        line = outer.tabulate(_one_line(b, axis), sizes, body)
        offsets: list[Index] = [row if d == axis else 0 for d in range(rank)]
        return [outer.insert_slice(line, solved, offsets, sizes, [1] * rank)]

    start = e.splat(op.results[0].type, extents, e.const(element(b), 0))
    return e.for_(0, size, [start], step)[0]


def _cholesky(e: Emitter, op: ir.Operation) -> ir.Value:
    a = op.operands[0]
    rank, lower = ranked(a).rank, boolean(op, "lower")
    extents = e.dims(a)
    size = extents[-1]
    t = element(a)
    acc = wide_type(t)

    def step(outer: Emitter, column: ir.Value, carried: list[ir.Value]) -> Sequence[ir.Value]:
        factor = carried[0]

        def body(i: Emitter, at: list[ir.Value]) -> ir.Value:
            batch, row = at[: rank - 2], at[rank - 2]

            def remainder(j: Emitter, r: ir.Value) -> ir.Value:
                """a[r, column] - sum over k < column of factor[r, k] * conj(factor[column, k])."""
                start = j.extract(a, [*batch, r, column] if lower else [*batch, column, r])
                start = convert_float(j, start, acc)
                start = start if lower else conjugate(j, start)

                def subtract(m: Emitter, k: ir.Value, value: list[ir.Value]) -> Sequence[ir.Value]:
                    x = convert_float(m, m.extract(factor, [*batch, r, k]), acc)
                    y = conjugate(m, convert_float(m, m.extract(factor, [*batch, column, k]), acc))
                    return [field_op(m, "sub", value[0], field_op(m, "mul", x, y))]

                return j.for_(0, column, [start], subtract)[0]

            def on_or_below(j: Emitter) -> Sequence[ir.Value]:
                diagonal = square_root(j, remainder(j, column))
                below = field_op(j, "div", remainder(j, row), diagonal)
                value = j.select(j.cmpi("eq", row, column), diagonal, below)
                return [convert_float(j, value, t)]

            above = i.const(t, 0)
            return i.if_(i.cmpi("sge", row, column), [t], on_or_below, lambda _: [above])[0]

        sizes: list[Index] = [*extents[:-1], 1]
        line = outer.tabulate(_one_line(a, rank - 1), sizes, body)
        offsets: list[Index] = [*([0] * (rank - 1)), column]
        return [outer.insert_slice(line, factor, offsets, sizes, [1] * rank)]

    start = e.splat(op.results[0].type, extents, e.const(t, 0))
    factor = e.for_(0, size, [start], step)[0]
    if lower:
        return factor
    return e.tabulate(
        op.results[0].type, extents, lambda i, at: conjugate(i, i.extract(factor, [*at[:-2], at[-1], at[-2]]))
    )
