"""Attention that the fused schedule does not take (f32, other depths, epilogues): scores, softmax and values one after
another."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from kc.builder.expr import wide
from kc.kernels.expr import (
    Apply,
    Attention,
    Const,
    Contraction,
    Coord,
    Dim,
    Expr,
    Index,
    Kernel,
    Load,
    Operand,
    Output,
    Reduce,
    Rows,
)
from kc.kernels.rebuild import rename, rename_coord
from kc.schedules.gpu.access import dim_extent
from kc.schedules.gpu.composite import Part, build_parts, fits
from kc.schedules.gpu.features import Features

_MOST_BYTES = 8 << 30  # of the score matrix


@dataclasses.dataclass(frozen=True)
class AttentionSplitSchedule:
    """Three kernels with the score matrix and the probabilities in memory; the depths must be static."""

    features: Features

    @classmethod
    def pick(cls, kernel: Kernel, features: Features) -> AttentionSplitSchedule | None:
        if not isinstance(kernel, Attention) or any(dim.size == 0 for dim in kernel.dims):
            return None
        if kernel.dims[kernel.d].size is None or kernel.dims[kernel.dv].size is None:
            return None
        sizes = [kernel.dims[loop].size or 1 for loop in (*kernel.batch, kernel.q, kernel.kv)]
        schedule = cls(features)
        if math.prod(sizes) * 4 > _MOST_BYTES or not fits(schedule.parts(kernel)[0], features):
            return None
        return schedule

    def build(self, kernel: Attention, module: Any) -> None:
        """Inserts the parts and ``@K__impl`` into ``module``."""
        parts, temporaries = self.parts(kernel)
        loops = (*kernel.batch, kernel.q, kernel.kv)
        extents = [dim_extent(kernel.dims, loop) for loop in loops]
        build_parts(kernel, parts, temporaries, self.features, module, extents, kernel.dims)

    def parts(self, kernel: Attention) -> tuple[list[Part], list[Operand]]:
        """The kernels over loops (batch.., query, key), each with one more, and the two temporaries."""
        rows = [*kernel.batch, kernel.q]
        count = len(rows)
        inputs = tuple(number for number, operand in enumerate(kernel.operands) if not operand.is_out)
        given = tuple(kernel.operands[number] for number in inputs)
        shape = tuple(kernel.dims[loop].size for loop in (*rows, kernel.kv))
        kind = wide(kernel.query.type)
        probabilities = kernel.probs_type if kernel.probs_type != kind else kind
        scores = Operand(shape, kind, True, 0)
        matrix = tuple(Coord(number) for number in range(count + 1))

        def loops(matrix_argument: int) -> tuple[Dim, ...]:
            """Rows and keys; open extents are read off the argument that is the score matrix."""
            return tuple(Dim(size, (matrix_argument, axis)) for axis, size in enumerate(shape))

        *dims, keys = loops(len(given))
        names = {loop: number for number, loop in enumerate([*rows, kernel.kv, kernel.d])}
        lhs, rhs = _load(kernel.query, names), _load(kernel.key, names)
        query_loops, key_loops = _loops(lhs), _loops(rhs)
        shared = tuple(loop for loop in range(count) if loop in query_loops and loop in key_loops)
        own = tuple(loop for loop in range(count) if loop not in shared)
        score = rename(kernel.score, names)
        if kernel.causal:
            later = Apply(
                "arith.cmpi", (Index(count), Index(count - 1)), "i1", (("predicate", "4 : i64"),)
            )  # key > query
            score = Apply("arith.select", (later, Const(kernel.masked, score.type), score), score.type)
        first = Contraction(
            f"{kernel.name}_scores",
            (*given, scores),
            (*dims, keys, kernel.dims[kernel.d]),
            shared,
            own,
            (count,),
            (count + 1,),
            _wide(lhs),
            _wide(rhs),
            Const(0.0, kind),
            kind,
            (Output(len(given), matrix, score),),
        )

        softmax = _softmax(Load(0, matrix, kind), count, kind, kernel.safe)
        if probabilities != kind:
            softmax = Apply("arith.truncf", (softmax,), probabilities)
        second = Rows(
            f"{kernel.name}_softmax",
            (dataclasses.replace(scores, is_out=False, result=None), Operand(shape, probabilities, True, 0)),
            loops(0),
            1,
            (Output(1, matrix, softmax),),
        )

        names = {loop: number for number, loop in enumerate([*rows, kernel.dv, kernel.kv])}
        values = _load(kernel.value, names)
        weights = Load(len(given), (*(Coord(number) for number in range(count)), Coord(count + 1)), probabilities)
        shared = tuple(loop for loop in range(count) if loop in _loops(values))
        own = tuple(loop for loop in range(count) if loop not in shared)
        base = len(given) + 1
        outputs = tuple(
            Output(
                base + number, tuple(rename_coord(coord, names) for coord in output.coords), rename(output.expr, names)
            )
            for number, output in enumerate(kernel.outputs)
        )
        third = Contraction(
            f"{kernel.name}_values",
            (*given, Operand(shape, probabilities), *(kernel.operands[output.arg] for output in kernel.outputs)),
            (*dims, kernel.dims[kernel.dv], keys),
            shared,
            own,
            (count,),
            (count + 1,),
            _wide(weights),
            _wide(values),
            Const(0.0, kind),
            kind,
            outputs,
        )
        return [
            Part(first, (*inputs, -1)),
            Part(second, (-1, -2)),
            Part(third, (*inputs, -2, *(output.arg for output in kernel.outputs))),
        ], [scores, Operand(shape, probabilities)]


def _load(node: Load, names: dict[int, int]) -> Load:
    return Load(node.arg, tuple(rename_coord(coord, names) for coord in node.coords), node.type)


def _loops(node: Load) -> set[int]:
    return {coord.dim for coord in node.coords if coord.dim is not None}


def _wide(node: Load) -> Expr:
    kind = wide(node.type)
    return node if kind == node.type else Apply("arith.extf", (node,), kind)


def _softmax(x: Expr, column: int, kind: str, safe: bool) -> Expr:
    """exp(x - max) / sum; ``safe``: rows of minus infinities give zeros."""

    def equal(a: Expr, value: float) -> Expr:
        return Apply("arith.cmpf", (a, Const(value, kind)), "i1", (("predicate", "1 : i64"),))

    top: Expr = Reduce("arith.maximumf", x, (column,), Const(-math.inf, kind), kind)
    if safe:
        top = Apply("arith.select", (equal(top, -math.inf), Const(0.0, kind), top), kind)
    weight = Apply("math.exp", (Apply("arith.subf", (x, top), kind),), kind)
    total: Expr = Reduce("arith.addf", weight, (column,), Const(0.0, kind), kind)
    if safe:
        total = Apply("arith.select", (equal(total, 0.0), Const(1.0, kind), total), kind)
    return Apply("arith.divf", (weight, total), kind)
