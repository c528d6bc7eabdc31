"""Elementwise kernels: loops over merged dims, vectors along the destination's last axis."""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from kc.builder.cpu import CpuBuilder
from kc.builder.cpu import Index as IndexValue
from kc.builder.expr import Emitter, wide
from kc.kernels.expr import Expr, Index, Kernel, Load, Map, walk
from kc.schedules.cpu.chunks import build_chunked
from kc.schedules.cpu.machine import Machine
from kc.schedules.cpu.rows_plan import costly
from kc.schedules.cpu.space import Operands, Space, accesses, diagonal, merge, supported

#: columns that a chunk of a one-loop kernel covers
_BLOCK = 1 << 13


@dataclasses.dataclass(frozen=True)
class MapSchedule:
    """Vectors of ``lanes`` elements, ``unroll`` at a time, along the innermost loop of the destinations.

    Loops that all operands walk alike are merged (usually all of them: one flat loop, cut into blocks for threads). An
    operand that runs along another loop (a transposed read) is gathered lane by lane; ``strip`` rows then share the
    cache lines that a gather touches, by running the loop over rows inside blocks of columns.
    """

    lanes: int
    unroll: int
    strip: int
    machine: Machine

    @classmethod
    def pick(cls, kernel: Kernel, features: Machine) -> MapSchedule | None:
        """Fits maps whose destinations all have the same last loop."""
        if not isinstance(kernel, Map):
            return None
        roots = [output.expr for output in kernel.outputs]
        if not supported(kernel, roots):
            return None
        space = _space(kernel)
        if diagonal(space):
            return None
        inner = {view.coords[-1].dim if view.coords else None
                 for view in (space.views[o.arg, o.coords] for o in kernel.outputs)}
        if len(inner) != 1 or (space.loops and None in inner):
            return None
        types = {wide(node.type) for root in roots for node in walk(root)} - {"index", "i1"}
        # two registers a value: the machine overlaps what depends on nothing common
        lanes = 2 * min((features.lanes(text) for text in types), default=features.lanes("f32"))
        return cls(lanes, 1 if costly(roots) else 2, 16 if _strided(space, inner.pop()) else 1, features)

    def build(self, kernel: Kernel, module: Any) -> None:
        """See ``kc.schedules.Schedule``."""
        assert isinstance(kernel, Map)
        from kc.bindings import ir

        builder = CpuBuilder(module, ir.Location.unknown(), self.machine.vector_bits, self.machine.fma)
        space = _space(kernel)
        inner = _inner(kernel, space)
        outer = [loop for loop in range(len(space.loops)) if loop != inner]

        def count(arguments: Sequence[Any]) -> tuple[IndexValue, IndexValue]:
            sizes = space.sizes(builder, arguments)
            columns = 1 if inner is None else sizes[inner]
            if not outer:
                return builder.ceildiv(columns, _BLOCK), builder.min(columns, _BLOCK)
            rows = builder.product([sizes[loop] for loop in outer])
            return builder.ceildiv(rows, self.strip), builder.mul(columns, self.strip)

        def body(arguments: Sequence[Any], first: IndexValue, last: IndexValue) -> None:
            _Chunk(self, kernel, builder, space, inner, outer, arguments).build(first, last)

        build_chunked(builder, kernel, self.machine, count, body)


def _space(kernel: Map) -> Space:
    roots = [output.expr for output in kernel.outputs]
    touched = accesses(roots) + [(output.arg, output.coords) for output in kernel.outputs]
    return merge(kernel.dims, kernel.operands, list(dict.fromkeys(touched)), roots)


def _inner(kernel: Map, space: Space) -> int | None:
    """The loop along the destinations' last axis (None for one element)."""
    output = kernel.outputs[0]
    coords = space.views[output.arg, output.coords].coords
    return coords[-1].dim if coords else None


def _strided(space: Space, inner: int | None) -> bool:
    """Whether some operand runs along ``inner`` with its elements apart."""
    return any(coord.dim == inner and (axis != len(view.coords) - 1 or coord.scale != 1)
               for view in space.views.values() for axis, coord in enumerate(view.coords) if coord.dim is not None)


class _Chunk:
    """Builds the function that computes items ``first .. last``: blocks of the flat loop, or strips of rows."""

    def __init__(self, schedule: MapSchedule, kernel: Map, builder: CpuBuilder, space: Space, inner: int | None,
                 outer: Sequence[int], arguments: Sequence[Any]) -> None:
        self.schedule, self.kernel, self.builder, self.inner, self.outer = schedule, kernel, builder, inner, outer
        self.operands = Operands(builder, kernel, space, arguments)
        self.sizes = space.sizes(builder, arguments)
        self.where = {dim: number for number, loop in enumerate(space.loops) for dim in loop}

    def build(self, first: IndexValue, last: IndexValue) -> None:
        builder = self.builder
        columns = 1 if self.inner is None else self.sizes[self.inner]
        if not self.outer:
            low = builder.mul(first, _BLOCK)
            self._columns([], low, builder.min(builder.mul(last, _BLOCK), columns))
            return
        rows = builder.product([self.sizes[loop] for loop in self.outer])
        strip = self.schedule.strip
        if strip == 1:
            builder.loop(first, last, 1, lambda row: self._columns(self._point(row), 0, columns))
            return

        def one_strip(number: Any) -> None:
            low = builder.mul(number, strip)
            high = builder.min(builder.add(low, strip), rows)
            width = self.schedule.lanes * self.schedule.unroll

            def block(base: Any) -> None:
                end = builder.min(builder.add(base, width), columns)
                builder.loop(low, high, 1, lambda row: self._columns(self._point(row), base, end))

            builder.loop(0, columns, width, block)

        builder.loop(first, last, 1, one_strip)

    def _point(self, row: Any) -> list[tuple[int, IndexValue]]:
        """Values of the outer loops in row ``row``."""
        result: list[tuple[int, IndexValue]] = []
        rest = row
        for loop in reversed(self.outer[1:]):
            result.append((loop, self.builder.rem(rest, self.sizes[loop])))
            rest = self.builder.div(rest, self.sizes[loop])
        return [*result, (self.outer[0], rest)]

    def _columns(self, outer: Sequence[tuple[int, IndexValue]], low: IndexValue, high: IndexValue) -> None:
        """Elements ``low .. high`` of the inner loop."""
        builder, lanes = self.builder, self.schedule.lanes
        point: list[IndexValue | None] = [None] * len(self.sizes)
        for loop, value in outer:
            point[loop] = value
        if self.inner is None:
            emit = Emitter(builder, lambda node: self._leaf(node, point, None, None))
            for output in self.kernel.outputs:
                self.operands.store(emit(output.expr), (output.arg, output.coords), point)
            return
        uniform = self._uniform(point)
        step = lanes * self.schedule.unroll
        main = builder.add(low, builder.round_down(builder.sub(high, low), step))

        def body(base: Any) -> None:
            for number in range(self.schedule.unroll):
                self._vector(point, builder.add(base, number * lanes), None, uniform)

        builder.loop(low, main, step, body)
        builder.loop(main, high, lanes,
                     lambda base: self._vector(point, base, builder.mask(builder.sub(high, base), lanes), uniform))

    def _uniform(self, point: list[IndexValue | None]) -> dict[int, Any]:
        """Loads that do not vary along the inner loop, made before it: ``id(node)`` -> value."""
        emit = Emitter(self.builder, lambda node: self._leaf(node, point, None, None))
        return {id(node): emit(node) for output in self.kernel.outputs for node in walk(output.expr)
                if isinstance(node, Load) and not self._varies(node)}

    def _varies(self, node: Load) -> bool:
        return (self.kernel.operands[node.arg].shape is not None
                and self.operands.varies((node.arg, node.coords), self.inner))

    def _vector(self, outer: list[IndexValue | None], base: Any, mask: Any, uniform: dict[int, Any]) -> None:
        lanes = self.schedule.lanes
        point = list(outer)
        assert self.inner is not None
        point[self.inner] = base
        emit = Emitter(self.builder, lambda node: self._leaf(node, point, lanes, mask), lanes, memo=dict(uniform))
        values = [(output, emit.vector(output.expr)) for output in self.kernel.outputs]
        for output, value in values:  # after all loads: a destination may be the buffer of an operand
            self.operands.store(value, (output.arg, output.coords), point, self.inner, lanes, mask)

    def _leaf(self, node: Expr, point: Sequence[IndexValue | None], lanes: int | None, mask: Any) -> Any:
        if isinstance(node, Index):
            loop = self.where.get(node.dim)
            value = 0 if loop is None else point[loop]
            assert value is not None
            return self.builder.step_vector(value, lanes) if lanes and loop == self.inner else self.builder.index(value)
        assert isinstance(node, Load)
        return self.operands.load(node, point, self.inner, lanes, mask)
