"""Reductions of few, very long rows: every row is cut into pieces that blocks reduce side by side, then the pieces are
folded.

Two row kernels with a temporary of one value per reduction, row and piece: deterministic, no atomics.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from kc.builder.expr import wide
from kc.kernels.expr import Apply, Const, Coord, Dim, Expr, Index, Kernel, Load, Operand, Output, Reduce, Rows, walk
from kc.kernels.rebuild import rebuild
from kc.schedules.gpu.composite import Part, build_parts, fits
from kc.schedules.gpu.features import Features
from kc.schedules.gpu.reduction import neutral
from kc.schedules.gpu.rows import RowsPlan

_SHARE, _STRIDED_SHARE = 2048, 256  # columns of a piece, at least
_ROWS_A_BLOCK = 128  # of ``ColumnsSchedule``
_MOST_PIECES = 512


@dataclasses.dataclass(frozen=True)
class RowsSplitSchedule:
    """``pieces`` of a row; they cut its outermost column loop evenly."""

    pieces: int
    features: Features

    @classmethod
    def pick(cls, kernel: Kernel, features: Features) -> RowsSplitSchedule | None:
        """None unless shapes are static, rows few and long, reductions not nested, and outputs one value a row."""
        if not isinstance(kernel, Rows) or any(not dim.size for dim in kernel.dims):
            return None
        first = len(kernel.dims) - kernel.ncols
        rows = columns = 1
        for number, dim in enumerate(kernel.dims):
            rows, columns = (rows * (dim.size or 1), columns) if number < first else (rows, columns * (dim.size or 1))
        reductions = _reductions(kernel)
        if any(
            isinstance(node, Load) and kernel.operands[node.arg].is_out
            for output in kernel.outputs
            for node in walk(output.expr)
        ):
            return None
        plan = RowsPlan.of(kernel)
        if plan is None or not reductions:
            return None
        strided = plan.vector() is None  # then a block takes many rows, and a slice of few columns keeps it busy
        blocks, share = (-(-rows // _ROWS_A_BLOCK), _STRIDED_SHARE) if strided else (rows, _SHARE)
        if columns < 16 * share or blocks * 2 > features.multiprocessors:
            return None
        if any(isinstance(inner, Reduce) for node in reductions for inner in walk(node.arg)):
            return None
        if any(neutral(node.op, node.type) is None for node in reductions) or _outside(kernel, first):
            return None
        length = kernel.dims[first].size or 1
        want = min(_MOST_PIECES, 4 * features.multiprocessors // blocks, columns // share)
        pieces = max((number for number in range(1, want + 1) if length % number == 0), default=1)
        schedule = cls(pieces, features)
        return schedule if pieces >= 8 and fits(schedule.parts(kernel)[0], features) else None

    def build(self, kernel: Rows, module: Any) -> None:
        """Inserts the parts and ``@K__impl`` into ``module``."""
        parts, temporaries = self.parts(kernel)
        build_parts(kernel, parts, temporaries, self.features, module)

    def parts(self, kernel: Rows) -> tuple[list[Part], list[Operand]]:
        """The two kernels, and the temporaries: per reduction a tensor of rows by pieces."""
        first = len(kernel.dims) - kernel.ncols
        reductions = _reductions(kernel)
        rows = kernel.dims[:first]
        shape = (*(dim.size for dim in rows), self.pieces)
        temporaries = [Operand(shape, wide(node.type), True, number) for number, node in enumerate(reductions)]
        inputs = [number for number, operand in enumerate(kernel.operands) if not operand.is_out]  # they come first
        piece = Coord(first)
        coords = (*(Coord(number) for number in range(first)), piece)
        length = (kernel.dims[first].size or 1) // self.pieces

        split = tuple(range(first + 1, first + 1 + kernel.ncols))
        partial = []
        for number, node in enumerate(reductions):
            start = neutral(node.op, node.type)
            assert start is not None
            arg = rebuild(node.arg, lambda inner, children: _cut(inner, first, length))
            fold = Reduce(node.op, arg, split, Const(start, node.type), node.type)
            partial.append(Output(len(inputs) + number, coords, fold))
        dims = (*rows, Dim(self.pieces), Dim(length), *kernel.dims[first + 1 :])
        one = Rows(
            f"{kernel.name}_pieces",
            (*(kernel.operands[number] for number in inputs), *temporaries),
            dims,
            kernel.ncols,
            tuple(partial),
        )

        count = len(inputs)
        loads = {node: Load(count + number, coords, wide(node.type)) for number, node in enumerate(reductions)}

        def fold_pieces(node: Expr, children: tuple[Expr, ...]) -> Expr | None:
            if not isinstance(node, Reduce):
                return None
            return Reduce(node.op, loads[node], (first,), children[1], node.type)

        base = count + len(temporaries)
        results = tuple(
            Output(base + number, output.coords, rebuild(output.expr, fold_pieces))
            for number, output in enumerate(kernel.outputs)
        )
        second = Rows(
            f"{kernel.name}_fold",
            (
                *(kernel.operands[number] for number in inputs),
                *(dataclasses.replace(operand, is_out=False, result=None) for operand in temporaries),
                *(kernel.operands[output.arg] for output in kernel.outputs),
            ),
            (*rows, Dim(self.pieces)),
            1,
            results,
        )
        slots = tuple(-1 - number for number in range(len(temporaries)))
        return [
            Part(one, (*inputs, *slots)),
            Part(second, (*inputs, *slots, *(output.arg for output in kernel.outputs))),
        ], temporaries


def _reductions(kernel: Rows) -> list[Reduce]:
    return list(
        dict.fromkeys(node for output in kernel.outputs for node in walk(output.expr) if isinstance(node, Reduce))
    )


def _outside(kernel: Rows, first: int) -> bool:
    """Whether an output varies along the columns."""
    return any(coord.dim is not None and coord.dim >= first for output in kernel.outputs for coord in output.coords)


def _cut(node: Expr, loop: int, length: int) -> Expr | None:
    """Column loops move up by one to make room for the piece; ``loop`` becomes ``length * piece + inner``."""
    if isinstance(node, Load):
        return Load(node.arg, tuple(_cut_coord(coord, loop, length) for coord in node.coords), node.type)
    if isinstance(node, Index) and node.dim == loop:
        whole = Apply("arith.muli", (Index(loop), Const(length, "index")), "index")
        return Apply("arith.addi", (whole, Index(loop + 1)), "index")
    if isinstance(node, Index) and node.dim > loop:
        return Index(node.dim + 1)
    return None


def _cut_coord(coord: Coord, loop: int, length: int) -> Coord:
    if coord.dim is None:
        return coord
    terms: list[tuple[int, int]] = []
    for dim, scale in ((coord.dim, coord.scale), *coord.more):
        if dim == loop:
            terms += [(loop, scale * length), (loop + 1, scale)]
        else:
            terms.append((dim + 1 if dim > loop else dim, scale))
    return Coord(terms[0][0], terms[0][1], coord.offset, tuple(terms[1:]))
