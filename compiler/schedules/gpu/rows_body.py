"""The device side of ``kc.schedules.gpu.rows``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kc.builder.expr import Ops
from kc.builder.gpu import Value, const, if_, if_values, tree
from kc.builder.gpu_math import DeviceEmitter, accuracy_for, combine
from kc.builder.gpu_memory import Raw, load_raw, store_run, value_kinds, zero_raw
from kc.builder.gpu_ops import block_id, thread_id
from kc.kernels.expr import Apply, Const, Expr, Index, Load, Reduce, Rows, walk
from kc.schedules.gpu.access import ONE, ZERO, Access, Extent, aligned, dim_extent
from kc.schedules.gpu.arguments import DeviceArguments
from kc.schedules.gpu.reduction import RowReduction, neutral_value

if TYPE_CHECKING:
    from kc.schedules.gpu.rows import RowsPlan, RowsSchedule

_CHAINS = 4


class RowsBody:
    """Emits the kernel at the ambient insertion point; ``shared_bytes`` is known after ``build``."""

    def __init__(
        self, schedule: RowsSchedule, kernel: Rows, plan: RowsPlan, arguments: DeviceArguments, location: Any
    ) -> None:
        self.schedule, self.kernel, self.plan, self.arguments = schedule, kernel, plan, arguments
        self.ops = Ops(location)
        self.accuracy = accuracy_for(item.type for item in plan.outputs)
        self.runs = -(-plan.columns // schedule.vector)  # of a row
        self.share = -(-self.runs // schedule.threads)  # of a thread; the last one may not exist
        self.partial = self.runs % schedule.threads != 0
        self.first_column = len(kernel.dims) - kernel.ncols
        self.varies: dict[int, bool] = {}
        for output in kernel.outputs:
            for node in walk(output.expr):
                self.varies[id(node)] = self._varies(node)

    @property
    def shared_bytes(self) -> int:
        return self.reduction.used

    def _varies(self, node: Expr) -> bool:
        """Whether ``node`` differs along a row."""
        if isinstance(node, Load):
            return node in self.plan.loads and self.plan.by_column(self.plan.loads[node])
        if isinstance(node, Index):
            return node.dim >= self.first_column
        return isinstance(node, Apply) and any(self.varies[id(arg)] for arg in node.args)

    # -- the thread's place

    def build(self) -> None:
        threads, rows = self.schedule.threads, self.schedule.rows
        thread = thread_id()
        slot = const(0) if rows == 1 else thread // threads
        self.thread = thread if rows == 1 else thread % threads
        self.reduction = RowReduction(self.ops, threads, rows, slot, self.thread)
        self.exists = self.thread.lt(self.runs - (self.share - 1) * threads) if self.partial else None
        row = block_id().zext("i64") * rows + slot.zext("i64")
        count = self.plan.row_count
        if count.multiple_of(rows):
            self.process(row, None)
            return
        inside = row.lt(self.arguments.extent(count))
        if threads > 32:  # whole warps leave together
            with if_(inside):
                self.process(row, None)
        else:  # every lane must take part in shuffles: surplus rows repeat the last one and store nothing
            self.process(row.minimum(self.arguments.extent(count) - 1), inside)

    def run_start(self, number: int) -> Value:
        """First column (i32) of the thread's run ``number``."""
        return (self.thread + number * self.schedule.threads) * self.schedule.vector

    def row_coordinates(self, row: Value) -> list[Value]:
        """The row number (i64) taken apart into the row loop groups."""
        coordinates: list[Value] = []
        for size in reversed(self.plan.space.sizes[1 : self.plan.row_groups]):
            length = self.arguments.extent(size)
            coordinates.insert(0, row % length)
            row = row // length
        return [row, *coordinates] if self.plan.row_groups else []

    def column_coordinates(self, column: Value) -> list[Value]:
        """The column (i32) taken apart into the column loop groups, as i64."""
        coordinates: list[Value] = []
        for size in reversed(self.plan.column_sizes[1:]):
            coordinates.insert(0, column % size)
            column = column // size
        return [value.zext("i64") for value in [column, *coordinates]] if self.plan.column_sizes else []

    # -- loading

    def read(self, item: Access, number: int) -> Raw:
        """Run ``number`` of a load that varies along the row."""
        vector, inner = self.schedule.vector, len(self.plan.space.groups) - 1
        start = self.run_start(number)
        coordinates = [*self.row, *self.column_coordinates(start)]
        if vector == 1 or aligned(item, vector, inner):
            return load_raw(
                self.arguments.pointer(item, coordinates), item.type, vector, self.arguments.invariant(item.arg)
            )
        if item.strides[inner] == ZERO:
            return Raw(item.type, vector, [self.arguments.element(item, coordinates)] * vector, False)
        values = [self.arguments.element(item, [*coordinates[:-1], coordinates[-1] + lane]) for lane in range(vector)]
        return Raw(item.type, vector, values, False)

    def guarded(self, item: Access, number: int) -> Raw:
        if self.exists is None or number < self.share - 1:
            return self.read(item, number)
        result: list[Raw] = []

        def inside() -> list[Value]:
            result.append(self.read(item, number))
            return result[0].values

        kind = _Shape(item, self)
        values = if_values(self.exists, kind.kinds, inside, lambda: kind.zeros)
        return Raw(item.type, self.schedule.vector, values, result[0].packed)

    def deferred(self, item: Access) -> bool:
        """Whether a load is made where it is used: operands that all rows share, when registers are short."""
        return self.schedule.remat and item not in self.plan.row_inputs()

    def load_all(self) -> None:
        self.raw: dict[Load, list[Raw]] = {}
        self.single: dict[Load, Value] = {}
        for node, item in self.plan.loads.items():
            if self.plan.by_column(item) and not self.deferred(item):
                self.raw[node] = [self.guarded(item, number) for number in range(self.share)]
        for node, item in self.plan.loads.items():
            if not self.plan.by_column(item):
                self.single[node] = self.arguments.element(item, [*self.row, *[None] * len(self.plan.column_sizes)])

    # -- evaluating

    def process(self, row: Value, inside: Value | None) -> None:
        self.row_number = row
        self.row = self.row_coordinates(row)
        self.load_all()
        self.reduced: dict[int, Value] = {}
        self.reciprocals: dict[int, tuple[Value, Value]] = {}
        self.uniform = DeviceEmitter(self.ops, self.uniform_leaf, self.accuracy, uniform=lambda node: False)
        self.fresh()
        reductions = {
            id(node): node for output in self.kernel.outputs for node in walk(output.expr) if isinstance(node, Reduce)
        }
        known: dict[tuple, Value] = {}
        for node in reductions.values():
            signature = (node.op, id(node.arg), id(node.init), node.type)
            if signature not in known:
                known[signature] = self.reduce(node)
                if self.schedule.remat:
                    self.fresh()
            self.reduced[id(node)] = known[signature]
        for output, item in zip(self.kernel.outputs, self.plan.outputs, strict=True):
            self.write(output.expr, item, inside)

    def fresh(self) -> None:
        """Element emitters without memory, on inputs unpacked anew."""
        if self.schedule.remat:
            self.raw = {node: [raw.pinned() for raw in runs] for node, runs in self.raw.items()}
        self.unpacked: dict[tuple[Load, int], list[Value]] = {}
        total = self.share * self.schedule.vector
        self.elements = [
            DeviceEmitter(
                self.ops,
                self.element_leaf(number),
                self.accuracy,
                uniform=lambda node: not self.varies[id(node)] and not isinstance(node, Const),
                reciprocals=self.reciprocals,
            )
            for number in range(total)
        ]

    def uniform_leaf(self, node: Expr) -> Any:
        if isinstance(node, Load):
            return (self.single[node] if node in self.single else self.arguments.scalar(node.arg)).ssa
        if isinstance(node, Reduce):
            return self.reduced[id(node)].ssa
        assert isinstance(node, Index)
        return self._row_index(node.dim).resize("index").ssa

    def element_leaf(self, number: int) -> Callable[[Expr], Any]:
        run, lane = divmod(number, self.schedule.vector)

        def find(node: Expr) -> Any:
            if isinstance(node, Load) and self.varies[id(node)]:
                if (node, run) not in self.unpacked:  # where it is first used: unpacked values should not live long
                    raw = self.raw[node][run] if node in self.raw else self.guarded(self.plan.loads[node], run)
                    self.unpacked[node, run] = raw.unpack()
                return self.unpacked[node, run][lane].ssa
            if isinstance(node, Index) and node.dim >= self.first_column:
                return self._column_index(node.dim, number).resize("index").ssa
            return self.uniform_leaf(node)

        return find

    def evaluate(self, root: Expr, number: int) -> list[Value]:
        """``root`` for the elements of the thread's run ``number``."""
        vector = self.schedule.vector
        if not self.varies[id(root)]:
            return [self.uniform.value(root)] * vector
        emitters = self.elements[number * vector : (number + 1) * vector]
        for emitter in emitters:
            emitter.memo.update(self.uniform.memo)
        return [emitter.value(root) for emitter in emitters]

    def _prepare(self, root: Expr) -> None:
        """Emits once what is the same for the whole row."""
        stack = [root]
        seen: set[int] = set()
        while stack:
            node = stack.pop()
            if id(node) in seen or isinstance(node, Reduce):
                continue
            seen.add(id(node))
            if not self.varies[id(node)]:
                self.uniform(node)
            elif isinstance(node, Apply):
                stack += node.args

    def reduce(self, node: Reduce) -> Value:
        self._prepare(node.arg)
        chains: list[Value] = []  # independent partial results, folded run by run so that few values live at once
        for number in range(self.share):
            values = self.evaluate(node.arg, number)
            if self.exists is not None and number == self.share - 1:
                fill = neutral_value(node.op, node.arg.type)
                values = [self.exists.select(value, fill) for value in values]
            for value in values:
                if len(chains) < _CHAINS:
                    chains.append(value)
                else:
                    chains = [*chains[1:], combine(self.ops, node.op, chains[0], value)]
        partial = tree(chains, lambda a, b: combine(self.ops, node.op, a, b))
        total = self.reduction(node.op, partial)
        if isinstance(node.init, Const) and _same(node.init.value, node.op):
            return total
        self._prepare(node.init)
        return combine(self.ops, node.op, self.uniform.value(node.init), total)

    # -- storing

    def write(self, root: Expr, item: Access, inside: Value | None) -> None:
        if not self.plan.by_column(item):
            self._prepare(root)
            value = self.uniform.value(root)
            leads = self.thread.eq(0) if inside is None else self.thread.eq(0) & inside
            with if_(leads):
                coordinates = [*self.row, *[None] * len(self.plan.column_sizes)]
                store_run(self.arguments.pointer(item, coordinates), item.type, [value])
            return
        self._prepare(root)
        vector, inner = self.schedule.vector, len(self.plan.space.groups) - 1
        for number in range(self.share):
            mine = self.evaluate(root, number)
            guard = self.exists if number == self.share - 1 else None
            if inside is not None:
                guard = inside if guard is None else guard & inside

            def put(number: int = number, mine: list[Value] = mine) -> None:
                coordinates = [*self.row, *self.column_coordinates(self.run_start(number))]
                if vector == 1 or aligned(item, vector, inner):
                    store_run(self.arguments.pointer(item, coordinates), item.type, mine)
                    return
                for lane, value in enumerate(mine):
                    place = self.arguments.pointer(item, [*coordinates[:-1], coordinates[-1] + lane])
                    store_run(place, item.type, [value])

            if guard is None:
                put()
            else:
                with if_(guard):
                    put()

    # -- loop indices

    def _row_index(self, loop: int) -> Value:
        for number, group in enumerate(self.plan.space.groups[: self.plan.row_groups]):
            if loop in group:
                return self._within(self.row[number], group, loop)
        return const(0, "i64")

    def _column_index(self, loop: int, element: int) -> Value:
        run, lane = divmod(element, self.schedule.vector)
        coordinates = self.column_coordinates(self.run_start(run) + lane)
        for number, group in enumerate(self.plan.space.groups[self.plan.row_groups :]):
            if loop in group:
                return self._within(coordinates[number], group, loop)
        return const(0, "i64")

    def _within(self, position: Value, group: tuple[int, ...], loop: int) -> Value:
        after: Extent = ONE
        for other in group[group.index(loop) + 1 :]:
            after = after * dim_extent(self.kernel.dims, other)
        position = position // self.arguments.extent(after)
        if group[0] == loop:
            return position
        return position % self.arguments.extent(dim_extent(self.kernel.dims, loop))


class _Shape:
    """Types of a run's values, and zeros of those types, for the branch that loads nothing."""

    def __init__(self, item: Access, body: RowsBody) -> None:
        vector, inner = body.schedule.vector, len(body.plan.space.groups) - 1
        whole = vector == 1 or aligned(item, vector, inner)
        if whole:
            raw = zero_raw(item.type, vector)
            self.zeros, self.kinds = raw.values, value_kinds(raw)
        else:
            zero = zero_raw(item.type, 1)
            value = zero.unpack()[0]
            self.zeros, self.kinds = [value] * vector, [value.kind] * vector


def _same(value: float, op: str) -> bool:
    """Whether folding in ``value`` changes nothing (-0.0 + x; not 0.0 + x, which makes -0.0 into 0.0)."""
    if op in ("arith.maximumf", "arith.maxnumf"):
        return value == -math.inf and op == "arith.maximumf"
    if op == "arith.minimumf":
        return value == math.inf
    return op == "arith.addf" and value == 0.0 and math.copysign(1.0, value) < 0
