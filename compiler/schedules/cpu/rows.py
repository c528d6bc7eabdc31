"""Row kernels: softmax, norms, row reductions, in as many sweeps over the row as its reductions need."""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from kc.builder.cpu import CpuBuilder
from kc.builder.cpu import Index as IndexValue
from kc.builder.expr import Emitter, wide
from kc.kernels.expr import Apply, Const, Expr, Index, Kernel, Load, Reduce, Rows, walk
from kc.schedules.cpu.chunks import build_chunked
from kc.schedules.cpu.folds import FOLDS, across, combine, neutral
from kc.schedules.cpu.machine import Machine
from kc.schedules.cpu.rows_plan import Sweep, costly, keep_in_output, plan, reductions
from kc.schedules.cpu.simplify import mark_nonpositive, uniform_divisors
from kc.schedules.cpu.space import Operands, Space, accesses, diagonal, merge, supported


@dataclasses.dataclass(frozen=True)
class RowsSchedule:
    """Sweeps of ``unroll`` vectors of ``lanes`` elements along the row; rows in chunks over threads.

    Reductions that need each other's results are done in successive sweeps, the others in one. A transcendental value
    that a later sweep needs again is kept: in the destination if the last sweep reads nothing else, or in a scratch
    row. Arguments that are read do not overlap those that are written (bufferization sees to it).
    """

    lanes: int
    unroll: int
    machine: Machine

    @classmethod
    def pick(cls, kernel: Kernel, features: Machine) -> RowsSchedule | None:
        """Fits row kernels whose row is contiguous in every operand that varies along it."""
        if not isinstance(kernel, Rows):
            return None
        roots = [output.expr for output in kernel.outputs]
        if not supported(kernel, roots) or any(r.op not in FOLDS for r in reductions(roots)):
            return None
        space, columns = _space(kernel)
        if columns is None or diagonal(space):
            return None
        for view in space.views.values():
            for axis, coord in enumerate(view.coords):
                if coord.dim == columns and (axis != len(view.coords) - 1 or coord.scale != 1):
                    return None
        types = {wide(node.type) for root in roots for node in walk(root)} - {"index"}
        # two registers a value: the machine overlaps what depends on nothing common
        lanes = 2 * min(features.lanes(text) for text in types)
        return cls(lanes, 1 if costly(roots) else 2, features)

    def build(self, kernel: Kernel, module: Any) -> None:
        """See ``kc.schedules.Schedule``."""
        assert isinstance(kernel, Rows)
        from kc.bindings import ir

        builder = CpuBuilder(module, ir.Location.unknown(), self.machine.vector_bits, self.machine.fma)
        space, columns = _space(kernel)
        assert columns is not None
        rows = columns  # the merged loops before ``columns``

        def count(arguments: Sequence[Any]) -> tuple[IndexValue, IndexValue]:
            sizes = space.sizes(builder, arguments)
            return builder.product(sizes[:rows]), builder.max(sizes[columns], 1)

        def body(arguments: Sequence[Any], first: IndexValue, last: IndexValue) -> None:
            _Chunk(self, kernel, builder, space, columns, arguments).build(first, last)

        build_chunked(builder, kernel, self.machine, count, body)


def _space(kernel: Rows) -> tuple[Space, int | None]:
    """The merged space, and the number of its one column loop (None if the columns do not merge into one)."""
    first_column = len(kernel.dims) - kernel.ncols
    roots = [output.expr for output in kernel.outputs]
    touched = accesses(roots) + [(output.arg, output.coords) for output in kernel.outputs]
    space = merge(kernel.dims, kernel.operands, list(dict.fromkeys(touched)), roots, [first_column])
    column_loops = [n for n, loop in enumerate(space.loops) if loop[0] >= first_column]
    if not column_loops:  # a row of one element: a loop that nothing varies with
        space = dataclasses.replace(space, loops=(*space.loops, (len(kernel.dims) - 1,)))
        column_loops = [len(space.loops) - 1]
    return space, column_loops[0] if len(column_loops) == 1 else None


class _Chunk:
    """Builds the function that computes rows ``first .. last``."""

    def __init__(self, schedule: RowsSchedule, kernel: Rows, builder: CpuBuilder, space: Space, columns: int,
                 arguments: Sequence[Any]) -> None:
        self.lanes, self.unroll = schedule.lanes, schedule.unroll
        self.kernel, self.builder, self.columns = kernel, builder, columns
        self.operands = Operands(builder, kernel, space, arguments)
        self.sizes = space.sizes(builder, arguments)
        self.where = {dim: number for number, loop in enumerate(space.loops) for dim in loop}
        self._varies: dict[Expr, bool] = {}
        marked = [dataclasses.replace(o, expr=mark_nonpositive(o.expr)) for o in kernel.outputs]
        per_column = {o: self.operands.varies((o.arg, o.coords), columns) for o in marked}
        self.row_outputs = [o for o in marked if not per_column[o]]
        outputs = [o for o in marked if per_column[o]]
        self.sweeps = plan(outputs, self.row_outputs, self.varies)
        self.keep_in = keep_in_output(self.sweeps, self.varies)

    def varies(self, node: Expr) -> bool:
        """Whether ``node`` has a value per column."""
        for inner in walk(node):
            if inner in self._varies:
                continue
            if isinstance(inner, Apply):
                result = any(self._varies[arg] for arg in inner.args)
            elif isinstance(inner, Load):
                result = inner.arg < 0 or (self.kernel.operands[inner.arg].shape is not None
                                           and self.operands.varies((inner.arg, inner.coords), self.columns))
            else:
                result = isinstance(inner, Index) and self.where.get(inner.dim) == self.columns
            self._varies[inner] = result
        return self._varies[node]

    def build(self, first: IndexValue, last: IndexValue) -> None:
        builder, size = self.builder, self.sizes[self.columns]
        self.scratch: dict[int, Any] = {}
        if self.keep_in is None:
            self.scratch = {kept.load.arg: builder.allocate([size], kept.load.type)
                            for sweep in self.sweeps for kept, _ in sweep.keeps}
        builder.loop(first, last, 1, self._row)
        for scratch in self.scratch.values():
            builder.free(scratch)

    def _row(self, number: Any) -> None:
        builder = self.builder
        self.point: list[IndexValue | None] = [None] * len(self.sizes)
        rest = number
        for loop in reversed(range(1, self.columns)):
            self.point[loop] = builder.rem(rest, self.sizes[loop])
            rest = builder.div(rest, self.sizes[loop])
        if self.columns:
            self.point[0] = rest
        self.folded: dict[Expr, Any] = {}
        row = Emitter(builder, self._row_leaf)
        for sweep in self.sweeps:
            self._sweep(sweep, row)
        for output in self.row_outputs:
            self.operands.store(row(output.expr), (output.arg, output.coords), self.point)

    def _row_leaf(self, node: Expr) -> Any:
        if isinstance(node, Reduce):
            return self.folded[node]
        if isinstance(node, Index):
            loop = self.where.get(node.dim)
            return self.builder.index(0 if loop is None else self.point[loop])
        assert isinstance(node, Load)
        return self.operands.load(node, self.point)

    def _sweep(self, sweep: Sweep, row: Emitter) -> None:
        """Run a sweep; what its reductions give goes to ``folded``.

        Quotients by a value of the row are products with its reciprocal where that is as good as the quotient.
        """
        builder = self.builder
        fast, divisors = self._multiplying(sweep)
        if divisors:
            good = None
            for divisor in divisors:
                size = builder.create("math.absf", [row(divisor)], builder.type("f32"))
                for bound, predicate in ((2.0**-100, 3), (2.0**100, 5)):  # oge, ole
                    inside = builder.create("arith.cmpf", [size, builder.constant(bound, "f32")], builder.type("i1"),
                                            {"predicate": f"{predicate} : i64"})
                    good = inside if good is None else builder.create("arith.andi", [good, inside], builder.type("i1"))
            types = [builder.type(wide(fold.type), self.lanes) for fold, _ in sweep.folds]
            memo = dict(row.memo)  # what a branch emits does not outlive it
            totals = builder.when(good, lambda: self._pass(fast, Emitter(builder, self._row_leaf, memo=dict(memo))),
                                  lambda: self._pass(sweep, Emitter(builder, self._row_leaf, memo=dict(memo))), types)
        else:
            totals = self._pass(sweep, row)
        for (fold, _), total in zip(sweep.folds, totals, strict=True):
            value = across(builder, fold, total)
            if not _ignored(fold):
                value = combine(builder, fold, row(fold.init), value)
            self.folded[fold] = value

    def _multiplying(self, sweep: Sweep) -> tuple[Sweep, list[Expr]]:
        """``sweep`` with ``uniform_divisors`` applied, and the divisors."""
        known: dict[Expr, Expr] = {fold: fold for s in self.sweeps for fold, _ in s.folds}
        found: dict[Expr, None] = {}

        def change(expr: Expr) -> Expr:
            result, divisors = uniform_divisors(expr, self.varies, known)
            found.update(dict.fromkeys(divisors))
            return result

        fast = Sweep(tuple((fold, change(e)) for fold, e in sweep.folds),
                     tuple((o, change(e)) for o, e in sweep.outputs), tuple((k, change(e)) for k, e in sweep.keeps))
        return fast, list(found)

    def _pass(self, sweep: Sweep, row: Emitter) -> list[Any]:
        """The loops of a sweep; one vector of partial results a reduction."""
        builder, lanes, unroll = self.builder, self.lanes, self.unroll
        size, step = self.sizes[self.columns], lanes * unroll
        uniform = self._uniform(sweep, row)
        main = builder.round_down(size, step)
        neutrals = [builder.constant(neutral(fold), wide(fold.type), lanes) for fold, _ in sweep.folds]

        def body(base: Any, *carried: Any) -> list[Any]:
            result = list(carried)
            for number in range(unroll):
                values = self._vector(sweep, builder.add(base, number * lanes), None, uniform)
                for i, (fold, _) in enumerate(sweep.folds):
                    at = i * unroll + number
                    result[at] = combine(builder, fold, result[at], values[i])
            return result

        partial = builder.loop(0, main, step, body, [blank for blank in neutrals for _ in range(unroll)])
        totals = []
        for i, (fold, _) in enumerate(sweep.folds):
            chains = partial[i * unroll:(i + 1) * unroll]
            while len(chains) > 1:
                chains = [combine(builder, fold, *pair) if len(pair) == 2 else pair[0]
                          for pair in (chains[n:n + 2] for n in range(0, len(chains), 2))]
            totals.append(chains[0])

        def rest(base: Any, *carried: Any) -> list[Any]:
            mask = builder.mask(builder.sub(size, base), lanes)
            values = self._vector(sweep, base, mask, uniform)
            return [combine(builder, fold, total, builder.create("arith.select", [mask, value, blank], blank.type))
                    for (fold, _), total, value, blank in zip(sweep.folds, carried, values, neutrals, strict=True)]

        return builder.loop(main, size, lanes, rest, totals)

    def _uniform(self, sweep: Sweep, row: Emitter) -> dict[int, Any]:
        """Vectors of what does not vary along the row, made before the loop: ``id(node)`` -> value."""
        result: dict[int, Any] = {}
        for root in sweep.roots:
            stack, seen = [root], set()
            while stack:
                node = stack.pop()
                if id(node) in seen:
                    continue
                seen.add(id(node))
                if self.varies(node):
                    stack.extend(node.args if isinstance(node, Apply) else ())
                elif not isinstance(node, Const):
                    result[id(node)] = self.builder.broadcast(row(node), self.lanes)
        return result

    def _vector(self, sweep: Sweep, base: Any, mask: Any, uniform: dict[int, Any]) -> list[Any]:
        """One vector's work of a sweep at column ``base``; the values to fold."""
        builder, lanes = self.builder, self.lanes
        point = [*self.point[:self.columns], base, *self.point[self.columns + 1:]]

        def leaf(node: Expr) -> Any:
            if isinstance(node, Index):
                return builder.step_vector(base, lanes)
            assert isinstance(node, Load)
            if node.arg >= 0:
                return self.operands.load(node, point, self.columns, lanes, mask)
            memref, indices = self._kept_at(node.arg, point)
            return builder.vector_load(memref, indices, lanes, mask)

        emit = Emitter(builder, leaf, lanes, memo=dict(uniform))
        values = [emit.vector(expr) for _, expr in sweep.folds]
        for kept, expr in sweep.keeps:
            memref, indices = self._kept_at(kept.load.arg, point)
            builder.vector_store(emit.vector(expr), memref, indices, lanes, mask)
        for output, expr in sweep.outputs:
            self.operands.store(emit.vector(expr), (output.arg, output.coords), point, self.columns, lanes, mask)
        return values

    def _kept_at(self, number: int, point: Sequence[IndexValue | None]) -> tuple[Any, list[IndexValue]]:
        """Where kept value ``number`` of the column at ``point`` stands."""
        if self.keep_in is None:
            base = point[self.columns]
            assert base is not None
            return self.scratch[number], [base]
        access = (self.keep_in.arg, self.keep_in.coords)
        return self.operands.memref(access), self.operands.indices(self.operands.view(access), point)


def _ignored(fold: Reduce) -> bool:
    """Whether the initial value of ``fold`` changes nothing (a sum from 0.0 may turn -0.0 into 0.0, so it does)."""
    return isinstance(fold.init, Const) and repr(fold.init.value) == repr(neutral(fold))
