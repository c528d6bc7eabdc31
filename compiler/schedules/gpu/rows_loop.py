"""Row kernels whose rows do not fit into registers, or whose length is only known at run time: one pass over the row
for each reduction, one for the outputs, nothing kept between them (the row comes from L2 when it fits there)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from kc.builder.expr import Ops
from kc.builder.gpu import Value, const, for_, if_, tree
from kc.builder.gpu_math import DeviceEmitter, accuracy_for, combine
from kc.builder.gpu_memory import Raw, load_raw, store_run
from kc.builder.gpu_module import Device, Host
from kc.builder.gpu_ops import block_id, thread_id
from kc.kernels.expr import Const, Expr, Index, Kernel, Load, Reduce, Rows, walk
from kc.schedules.gpu.access import ONE, ZERO, Access, aligned, dim_extent, extents_of, supported
from kc.schedules.gpu.arguments import Arguments, DeviceArguments
from kc.schedules.gpu.features import Features
from kc.schedules.gpu.reduction import RowReduction, neutral_value
from kc.schedules.gpu.rows import RowsPlan

_ASSUMED = 4096  # columns, when only known at run time


@dataclasses.dataclass(frozen=True)
class RowsLoopSchedule:
    """A block of ``threads`` a row; ``vector`` consecutive elements a run."""

    vector: int = 4
    threads: int = 512

    @classmethod
    def pick(cls, kernel: Kernel, features: Features) -> RowsLoopSchedule | None:
        """None if nothing walks the columns with stride 1, or a reduction has no known neutral element."""
        if not isinstance(kernel, Rows) or not supported(kernel.operands):
            return None
        plan = RowsPlan.of(kernel)
        if plan is None or not plan.reducible(kernel):
            return None
        vector = plan.vector()
        if vector is None:
            return None
        columns = plan.columns if plan.static_columns else _ASSUMED
        threads = min(1024 if columns >= 1 << 16 else 512, max(32, -(-columns // vector // 32) * 32))
        return cls(vector, threads)

    def build(self, kernel: Rows, module: Any) -> None:
        """Inserts ``@K_device`` and ``@K__impl`` into ``module``."""
        location = module.location
        plan = RowsPlan.of(kernel)
        assert plan is not None
        arguments = Arguments(kernel, kernel.dims, extents_of([*plan.loads.values(), *plan.outputs], plan.space))
        with location:
            device = Device(module, kernel, arguments.parameters, self.threads)
            with device.body:
                body = _LoopBody(self, kernel, plan, DeviceArguments(arguments, device), location)
                body.build()
            host = Host(module, kernel)
            with host.body:
                rows = arguments.host_extent(host, plan.row_count)
                with if_(rows.ne(0)):
                    host.launch(device, rows, arguments.host_values(host), body.reduction.used)


class _LoopBody:
    def __init__(
        self, schedule: RowsLoopSchedule, kernel: Rows, plan: RowsPlan, arguments: DeviceArguments, location: Any
    ) -> None:
        self.schedule, self.kernel, self.plan, self.arguments = schedule, kernel, plan, arguments
        self.ops = Ops(location)
        self.accuracy = accuracy_for(item.type for item in plan.outputs)
        self.first_column = len(kernel.dims) - kernel.ncols
        self.varies = plan.varying(kernel)

    def build(self) -> None:
        self.thread = thread_id()
        self.reduction = RowReduction(self.ops, self.schedule.threads, 1, const(0), self.thread)
        row = block_id().zext("i64")
        coordinates: list[Value] = []
        for size in reversed(self.plan.space.sizes[1 : self.plan.row_groups]):
            length = self.arguments.extent(size)
            coordinates.insert(0, row % length)
            row = row // length
        self.row = [row, *coordinates] if self.plan.row_groups else []
        self.total = const(1, "i64")
        for size in self.plan.space.sizes[self.plan.row_groups :]:
            self.total = self.total * self.arguments.extent(size)
        none = [None] * (len(self.plan.space.groups) - self.plan.row_groups)
        single = {
            node: self.arguments.element(item, [*self.row, *none])
            for node, item in self.plan.loads.items()
            if not self.plan.by_column(item)
        }
        self.reduced: dict[Expr, Value] = {}

        def uniform_leaf(node: Expr) -> Any:
            if isinstance(node, Load):
                return (single[node] if node in single else self.arguments.scalar(node.arg)).ssa
            if isinstance(node, Reduce):
                return self.reduced[node].ssa
            assert isinstance(node, Index)
            return self._index(node.dim, self.row, 0).resize("index").ssa

        self.uniform_leaf = uniform_leaf
        self.uniform = DeviceEmitter(self.ops, uniform_leaf, self.accuracy)
        for node in [node for output in self.kernel.outputs for node in walk(output.expr) if isinstance(node, Reduce)]:
            if node not in self.reduced:
                self.reduced[node] = self.reduce(node)
        for output, item in zip(self.kernel.outputs, self.plan.outputs, strict=True):
            self.write(output.expr, item)

    # -- one pass over the row

    def _columns(self, column: Value) -> list[Value]:
        """A column (i64) taken apart into the column loop groups."""
        sizes = self.plan.space.sizes[self.plan.row_groups :]
        result: list[Value] = []
        for size in reversed(sizes[1:]):
            length = self.arguments.extent(size)
            quotient = column // length
            result.insert(0, column - quotient * length)
            column = quotient
        return [column, *result] if sizes else []

    def _pass(self, carried: list[Value], body: Callable[..., list[Value]]) -> list[Value]:
        """``body(column, *carried)`` for each run of the thread; runs beyond the row are left out."""
        step = self.schedule.threads * self.schedule.vector
        start = (self.thread * self.schedule.vector).zext("i64")
        return for_(start, self.total, const(step, "i64"), carried, body, kind="i64")

    def _prepare(self, root: Expr) -> None:
        """Emits once, before the loop, what is the same for the whole row."""
        for node in walk(root):
            if (
                node in self.varies
                and not self.varies[node]
                and not isinstance(node, (Reduce, Const))
                and self._ready(node)
            ):
                self.uniform(node)

    def _ready(self, node: Expr) -> bool:
        return all(inner in self.reduced for inner in walk(node) if isinstance(inner, Reduce))

    def evaluate(self, root: Expr, column: Value) -> list[Value]:
        """``root`` for the run that starts at ``column``; elements beyond the row are computed from zeros."""
        vector = self.schedule.vector
        nodes = dict.fromkeys(node for node in walk(root) if isinstance(node, Load) and self.varies[node])
        coordinates = [*self.row, *self._columns(column)]
        values = {node: self._read(self.plan.loads[node], coordinates).unpack() for node in nodes}
        results = []
        for lane in range(vector):

            def leaf(node: Expr, lane: int = lane) -> Any:
                if isinstance(node, Load) and node in values:
                    return values[node][lane].ssa
                if isinstance(node, Index) and node.dim >= self.first_column:
                    return (
                        self._index(node.dim, [*self.row, *self._columns(column + lane)], self.plan.row_groups)
                        .resize("index")
                        .ssa
                    )
                return self.uniform_leaf(node)

            emitter = DeviceEmitter(self.ops, leaf, self.accuracy, memo=dict(self.uniform.memo))
            results.append(emitter.value(root))
        return results

    def _read(self, item: Access, coordinates: list[Value]) -> Raw:
        vector, inner = self.schedule.vector, len(self.plan.space.groups) - 1
        if vector == 1 or aligned(item, vector, inner):
            return load_raw(
                self.arguments.pointer(item, coordinates), item.type, vector, self.arguments.invariant(item.arg)
            )
        if item.strides[inner] == ZERO:
            return Raw(item.type, vector, [self.arguments.element(item, coordinates)] * vector, False)
        values = [self.arguments.element(item, [*coordinates[:-1], coordinates[-1] + lane]) for lane in range(vector)]
        return Raw(item.type, vector, values, False)

    def reduce(self, node: Reduce) -> Value:
        self._prepare(node.arg)
        fill = neutral_value(node.op, node.arg.type)

        def body(column: Value, *partial: Value) -> list[Value]:
            values = self.evaluate(node.arg, column)
            return [combine(self.ops, node.op, old, new) for old, new in zip(partial, values, strict=True)]

        partial = self._pass([fill] * self.schedule.vector, body)
        total = self.reduction(node.op, tree(partial, lambda a, b: combine(self.ops, node.op, a, b)))
        self._prepare(node.init)
        return combine(self.ops, node.op, self.uniform.value(node.init), total)

    def write(self, root: Expr, item: Access) -> None:
        self._prepare(root)
        vector, inner = self.schedule.vector, len(self.plan.space.groups) - 1
        if not self.plan.by_column(item):
            with if_(self.thread.eq(0)):
                none = [None] * (len(self.plan.space.groups) - self.plan.row_groups)
                store_run(self.arguments.pointer(item, [*self.row, *none]), item.type, [self.uniform.value(root)])
            return

        def body(column: Value) -> list[Value]:
            values = self.evaluate(root, column)
            coordinates = [*self.row, *self._columns(column)]
            if vector == 1 or aligned(item, vector, inner):
                store_run(self.arguments.pointer(item, coordinates), item.type, values)
            else:
                for lane, value in enumerate(values):
                    place = self.arguments.pointer(item, [*coordinates[:-1], coordinates[-1] + lane])
                    store_run(place, item.type, [value])
            return []

        self._pass([], body)

    def _index(self, loop: int, coordinates: list[Value], first: int) -> Value:
        for number, group in enumerate(self.plan.space.groups[: len(coordinates)]):
            if number < first or loop not in group:
                continue
            after = ONE
            for other in group[group.index(loop) + 1 :]:
                after = after * dim_extent(self.kernel.dims, other)
            position = coordinates[number] // self.arguments.extent(after)
            return (
                position if group[0] == loop else position % self.arguments.extent(dim_extent(self.kernel.dims, loop))
            )
        return const(0, "i64")  # a loop of size 1
