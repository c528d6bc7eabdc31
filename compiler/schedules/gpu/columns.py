"""Reductions along a loop that is not contiguous in memory: sums over the batch, over all but the last axis.

Neighbouring threads take neighbouring rows (results), so that their reads are contiguous; several slices of a block
share a row's loop and fold their partial results through shared memory.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from kc.builder.expr import Ops, wide
from kc.builder.gpu import Value, at, const, for_, if_, load, store, tree
from kc.builder.gpu_math import DeviceEmitter, accuracy_for, combine
from kc.builder.gpu_memory import load_raw, store_run
from kc.builder.gpu_module import Device, Host
from kc.builder.gpu_ops import barrier, block_id, shared_memory, thread_id
from kc.kernels.expr import Const, Expr, Index, Kernel, Load, Reduce, Rows, walk
from kc.schedules.gpu.access import ONE, ZERO, Access, aligned, dim_extent, extents_of, itemsize, supported
from kc.schedules.gpu.arguments import Arguments, DeviceArguments
from kc.schedules.gpu.features import Features
from kc.schedules.gpu.reduction import neutral_value
from kc.schedules.gpu.rows import RowsPlan

_LANES = 32
_MOST_SLICES = 16
_UNROLL = 4  # columns in flight a thread


@dataclasses.dataclass(frozen=True)
class ColumnsSchedule:
    """``vector`` neighbouring rows a thread, 32 threads side by side, ``slices`` of the reduced loop a block."""

    vector: int = 1
    slices: int = 16

    @property
    def threads(self) -> int:
        return _LANES * self.slices

    @classmethod
    def pick(cls, kernel: Kernel, features: Features) -> ColumnsSchedule | None:
        """None unless some input is contiguous along the rows and none along the columns."""
        if not isinstance(kernel, Rows) or not supported(kernel.operands):
            return None
        plan = RowsPlan.of(kernel)
        if plan is None or not plan.reducible(kernel) or plan.vector() is not None or not plan.row_groups:
            return None
        group = plan.row_groups - 1
        moving = [item for item in plan.loads.values() if plan.by_column(item)]
        contiguous = [item for item in moving if item.strides[group] == ONE]
        if not contiguous:
            return None
        vector = max(1, min(4, 16 // max(itemsize(item.type) for item in contiguous)))
        while vector > 1 and not (
            plan.space.sizes[group].multiple_of(vector)
            and all(
                aligned(item, vector, group) for item in [*contiguous, *plan.outputs] if item.strides[group] != ZERO
            )
        ):
            vector //= 2
        columns = plan.columns if plan.static_columns else _MOST_SLICES * 8
        slices = 1
        while slices < _MOST_SLICES and slices * 4 < columns:
            slices *= 2
        return cls(vector, slices)

    def build(self, kernel: Rows, module: Any) -> None:
        """Inserts ``@K_device`` and ``@K__impl`` into ``module``."""
        plan = RowsPlan.of(kernel)
        assert plan is not None
        arguments = Arguments(kernel, kernel.dims, extents_of([*plan.loads.values(), *plan.outputs], plan.space))
        with module.location:
            device = Device(module, kernel, arguments.parameters, self.threads)
            with device.body:
                body = _ColumnsBody(self, kernel, plan, DeviceArguments(arguments, device), module.location)
                body.build()
            host = Host(module, kernel)
            with host.body:
                span = _LANES * self.vector
                inner = arguments.host_extent(host, plan.space.sizes[plan.row_groups - 1])
                blocks = (inner + (span - 1)) // span
                for size in plan.space.sizes[: plan.row_groups - 1]:
                    blocks = blocks * arguments.host_extent(host, size)
                with if_(blocks.ne(0)):
                    host.launch(device, blocks, arguments.host_values(host), body.shared_bytes)


class _ColumnsBody:
    def __init__(
        self, schedule: ColumnsSchedule, kernel: Rows, plan: RowsPlan, arguments: DeviceArguments, location: Any
    ) -> None:
        self.schedule, self.kernel, self.plan, self.arguments = schedule, kernel, plan, arguments
        self.ops = Ops(location)
        self.accuracy = accuracy_for(item.type for item in plan.outputs)
        self.shared_bytes = 0
        self.varies = plan.varying(kernel)

    def build(self) -> None:
        plan, span = self.plan, _LANES * self.schedule.vector
        thread = thread_id()
        self.lane, self.slice = thread % _LANES, thread // _LANES
        inner = self.arguments.extent(plan.space.sizes[plan.row_groups - 1])
        blocks = (inner + (span - 1)) // span
        block = block_id().zext("i64")
        outer = block // blocks
        first = (block - outer * blocks) * span + (self.lane * self.schedule.vector).zext("i64")
        self.inside = first.lt(inner)
        coordinates: list[Value] = []
        for size in reversed(plan.space.sizes[1 : plan.row_groups - 1]):
            length = self.arguments.extent(size)
            coordinates.insert(0, outer % length)
            outer = outer // length
        self.row = [outer, *coordinates] if plan.row_groups > 1 else []
        self.row.append(first.minimum(inner - self.schedule.vector))
        self.total = const(1, "i64")
        for size in plan.space.sizes[plan.row_groups :]:
            self.total = self.total * self.arguments.extent(size)
        none: list[Value | None] = [None] * (len(plan.space.groups) - plan.row_groups)
        self.fixed = {
            node: self._read(item, [*self.row, *none]) for node, item in plan.loads.items() if not plan.by_column(item)
        }
        self.reduced: dict[Expr, list[Value]] = {}
        self.outer = [
            DeviceEmitter(self.ops, self._leaf(number, None), self.accuracy) for number in range(self.schedule.vector)
        ]
        for output in self.kernel.outputs:
            for node in walk(output.expr):
                if isinstance(node, Reduce) and node not in self.reduced:
                    self.reduced[node] = self.reduce(node)
        for output, item in zip(self.kernel.outputs, plan.outputs, strict=True):
            self.write(output.expr, item)

    # -- operands

    def _read(self, item: Access, coordinates: Sequence[Value | None]) -> list[Value]:
        """``item`` at the thread's rows."""
        vector, group = self.schedule.vector, self.plan.row_groups - 1
        stride = item.strides[group]
        if stride == ZERO:
            return [self.arguments.element(item, coordinates)] * vector
        if vector == 1 or (stride == ONE and aligned(item, vector, group)):
            pointer = self.arguments.pointer(item, coordinates)
            return load_raw(pointer, item.type, vector, self.arguments.invariant(item.arg)).unpack()
        return [self.arguments.element(item, self._moved(coordinates, number)) for number in range(vector)]

    def _moved(self, coordinates: Sequence[Value | None], number: int) -> list[Value | None]:
        group = self.plan.row_groups - 1
        base = coordinates[group]
        assert base is not None
        return [*coordinates[:group], base + number, *coordinates[group + 1 :]]

    def _columns(self, column: Value) -> list[Value]:
        sizes = self.plan.space.sizes[self.plan.row_groups :]
        result: list[Value] = []
        for size in reversed(sizes[1:]):
            length = self.arguments.extent(size)
            quotient = column // length
            result.insert(0, column - quotient * length)
            column = quotient
        return [column, *result] if sizes else []

    def _leaf(self, number: int, moving: tuple[dict[Load, list[Value]], list[Value]] | None) -> Callable[[Expr], Any]:
        """Leaves of the thread's row ``number``; ``moving``: loads of this step and the step's column coordinates."""

        def find(node: Expr) -> Any:
            if isinstance(node, Load):
                if moving is not None and node in moving[0]:
                    return moving[0][node][number].ssa
                return (self.fixed[node][number] if node in self.fixed else self.arguments.scalar(node.arg)).ssa
            if isinstance(node, Reduce):
                return self.reduced[node][number].ssa
            assert isinstance(node, Index)
            columns = moving[1] if moving is not None else []
            coordinates = [*self.row[:-1], self.row[-1] + number, *columns]
            return self._index(node.dim, coordinates).resize("index").ssa

        return find

    def _index(self, loop: int, coordinates: Sequence[Value]) -> Value:
        for number, group in enumerate(self.plan.space.groups[: len(coordinates)]):
            if loop not in group:
                continue
            position = coordinates[number]
            for other in group[group.index(loop) + 1 :]:
                position = position // self.arguments.extent(dim_extent(self.kernel.dims, other))
            if group[0] == loop:
                return position
            return position % self.arguments.extent(dim_extent(self.kernel.dims, loop))
        return const(0, "i64")  # a loop of size 1

    # -- passes over the reduced loops

    def _prepare(self, root: Expr) -> None:
        """Emits once, before the loop, what does not differ along it."""
        for node in walk(root):
            ready = all(inner in self.reduced for inner in walk(node) if isinstance(inner, Reduce))
            if node in self.varies and not self.varies[node] and not isinstance(node, (Reduce, Const)) and ready:
                for emitter in self.outer:
                    emitter(node)

    def evaluate(self, root: Expr, column: Value) -> list[Value]:
        columns = self._columns(column)
        nodes = dict.fromkeys(node for node in walk(root) if isinstance(node, Load) and self.varies[node])
        values = {node: self._read(self.plan.loads[node], [*self.row, *columns]) for node in nodes}
        results = []
        for number, outer in enumerate(self.outer):
            emitter = DeviceEmitter(
                self.ops, self._leaf(number, (values, columns)), self.accuracy, memo=dict(outer.memo)
            )
            results.append(emitter.value(root))
        return results

    def _pass(self, carried: list[Value], body: Callable[..., list[Value]]) -> list[Value]:
        """``body(columns, *carried)`` over the slice's columns, several at a time, then the rest one by one."""
        step = self.schedule.slices
        start, span = self.slice.zext("i64"), const(step * _UNROLL, "i64")
        full = self.total // span * span  # of every slice: the same for all threads

        def several(column: Value, *values: Value) -> list[Value]:
            return body([column + step * number for number in range(_UNROLL)], *values)

        carried = for_(start, full, span, carried, several, kind="i64")
        return for_(
            start + full,
            self.total,
            const(step, "i64"),
            carried,
            lambda column, *values: body([column], *values),
            "i64",
        )

    def reduce(self, node: Reduce) -> list[Value]:
        self._prepare(node.arg)
        fill = neutral_value(node.op, node.arg.type)

        def body(columns: list[Value], *partial: Value) -> list[Value]:
            result = list(partial)
            for values in [self.evaluate(node.arg, column) for column in columns]:
                result = [combine(self.ops, node.op, old, new) for old, new in zip(result, values, strict=True)]
            return result

        partial = self._pass([fill] * self.schedule.vector, body)
        totals = self._fold(node.op, partial)
        self._prepare(node.init)
        return [
            combine(self.ops, node.op, outer.value(node.init), total)
            for outer, total in zip(self.outer, totals, strict=True)
        ]

    def _fold(self, op: str, partial: list[Value]) -> list[Value]:
        """Partial results of all slices combined; every thread gets its rows' totals."""
        slices, vector = self.schedule.slices, self.schedule.vector
        if slices == 1:
            return partial
        kind = wide(partial[0].kind)
        words = [value.resize("i64") if kind == "index" else value for value in partial]
        words = [value.zext("i32") if value.kind in ("i1", "i8", "i16") else value for value in words]
        size = itemsize(words[0].kind)
        base = self.shared_bytes  # every reduction has slots of its own: one barrier is enough
        self.shared_bytes += slices * _LANES * vector * size
        memory = shared_memory()

        def place(row: Value, number: int) -> Value:
            """Slot of the thread's row ``number``: neighbouring lanes in neighbouring words."""
            return at(memory, ((row * vector + number) * _LANES + self.lane) * size, base)

        for number, word in enumerate(words):
            store(word, place(self.slice, number), size)
        barrier()
        totals = []
        for number in range(vector):
            found = [load(words[0].kind, place(const(row), number), size) for row in range(slices)]
            if kind == "index":
                found = [value.resize("index") for value in found]
            elif kind in ("i1", "i8", "i16"):
                found = [value.trunc(kind) for value in found]
            totals.append(tree(found, lambda a, b: combine(self.ops, op, a, b)))
        return totals

    def write(self, root: Expr, item: Access) -> None:
        self._prepare(root)
        if not self.plan.by_column(item):
            none: list[Value | None] = [None] * (len(self.plan.space.groups) - self.plan.row_groups)
            with if_(self.slice.eq(0) & self.inside):
                self._store(item, [*self.row, *none], [outer.value(root) for outer in self.outer])
            return

        def body(columns: list[Value]) -> list[Value]:
            for column in columns:
                values = self.evaluate(root, column)
                with if_(self.inside):
                    self._store(item, [*self.row, *self._columns(column)], values)
            return []

        self._pass([], body)

    def _store(self, item: Access, coordinates: Sequence[Value | None], values: list[Value]) -> None:
        group = self.plan.row_groups - 1
        if len(values) == 1 or (item.strides[group] == ONE and aligned(item, len(values), group)):
            store_run(self.arguments.pointer(item, coordinates), item.type, values)
            return
        for number, value in enumerate(values):
            store_run(self.arguments.pointer(item, self._moved(coordinates, number)), item.type, [value])
