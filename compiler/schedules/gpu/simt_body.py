"""The device side of ``kc.schedules.gpu.simt``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kc.bindings import arith, llvm
from kc.builder.expr import Ops, wide
from kc.builder.gpu import Value, at, const, for_, if_, load, mlir_type, store
from kc.builder.gpu_math import DeviceEmitter, accuracy_for
from kc.builder.gpu_memory import store_run
from kc.builder.gpu_ops import barrier, block_id, shared_memory, thread_id
from kc.kernels.expr import Acc, Contraction, Expr, Index, Load, walk
from kc.schedules.gpu.access import ONE, dim_extent, itemsize
from kc.schedules.gpu.arguments import DeviceArguments
from kc.schedules.gpu.contraction.problem import with_init

if TYPE_CHECKING:
    from kc.schedules.gpu.simt import SimtPlan, SimtSchedule

_RUN = 4  # consecutive rows or columns that a thread owns; the rest of its square lies half a tile away
_PAD = 4  # elements between rows of a shared tile, so that column writes do not meet in one bank


class SimtBody:
    """Emits the kernel at the ambient insertion point."""

    def __init__(
        self, schedule: SimtSchedule, kernel: Contraction, plan: SimtPlan, arguments: DeviceArguments, location: Any
    ) -> None:
        self.schedule, self.kernel, self.plan, self.arguments = schedule, kernel, plan, arguments
        self.ops = Ops(location)
        self.kind = wide(kernel.acc_type)
        self.size = itemsize(self.kind)
        self.accuracy = accuracy_for(output.type for output in plan.outputs)
        self.pitch_a, self.pitch_b = schedule.rows + _PAD, schedule.columns + _PAD
        self.buffer = (self.pitch_a + self.pitch_b) * schedule.depth * self.size

    @property
    def shared_bytes(self) -> int:
        return 2 * self.buffer

    # -- coordinates

    def split(self, role: str, position: Value) -> list[Value]:
        """A position (i32) in the flattened loops of ``role``, as i64 per loop group."""
        sizes = self.plan.spaces[role].sizes
        result: list[Value] = []
        for size in reversed(sizes[1:]):
            length = self.arguments.extent(size, "i32")
            result.insert(0, position % length)
            position = position // length
        return [value.zext("i64") for value in [position, *result]] if sizes else []

    def coordinates(self, **positions: Value) -> list[Value | None]:
        """Per loop group its position; None where the role has none."""
        result: list[Value | None] = []
        for role in ("batch", "m", "n", "k"):
            if role == "batch":
                result += self.batch
            elif role in positions:
                result += self.split(role, positions[role])
            else:
                result += [None] * len(self.plan.spaces[role].groups)
        return result

    def leaf(self, coordinates: Sequence[Value | None], accumulator: Value | None = None) -> Callable[[Expr], Any]:
        def find(node: Expr) -> Any:
            if isinstance(node, Acc):
                assert accumulator is not None
                return accumulator.ssa
            if isinstance(node, Load):
                if node in self.plan.loads:
                    return self.arguments.element(self.plan.loads[node], coordinates).ssa
                return self.arguments.scalar(node.arg).ssa
            assert isinstance(node, Index)
            return self._index(node.dim, coordinates).resize("index").ssa

        return find

    def _index(self, loop: int, coordinates: Sequence[Value | None]) -> Value:
        for number, group in enumerate(self.plan.groups):
            if loop not in group:
                continue
            value = coordinates[number]
            assert value is not None
            for inner in group[group.index(loop) + 1 :]:
                value = value // self.arguments.extent(dim_extent(self.kernel.dims, inner))
            if group[0] != loop:
                value = value % self.arguments.extent(dim_extent(self.kernel.dims, loop))
            return value
        return const(0, "i64")  # a loop of size 1

    # -- the kernel

    def build(self) -> None:
        schedule = self.schedule
        self.thread = thread_id()
        self.shared = shared_memory()
        extent = self.arguments.extent
        self.sizes = {role: extent(self.plan.total(role), "i32") for role in ("m", "n", "k")}
        row_tiles = (self.sizes["m"] + (schedule.rows - 1)) // schedule.rows
        column_tiles = (self.sizes["n"] + (schedule.columns - 1)) // schedule.columns
        tile = block_id()
        plane = row_tiles * column_tiles
        self.batch = self.split("batch", tile // plane)
        inner = tile % plane
        self.starts = {"m": inner // column_tiles * schedule.rows, "n": inner % column_tiles * schedule.columns}
        steps = (self.sizes["k"] + (schedule.depth - 1)) // schedule.depth
        columns = schedule.columns // schedule.thread_columns
        self.thread_row, self.thread_column = self.thread // columns, self.thread % columns
        zero = const(0, self.kind)
        square = schedule.thread_rows * schedule.thread_columns
        first = self.fetch(const(0))

        def step(index: Value, *carried: Value) -> list[Value]:
            fetched, accumulators = list(carried[: len(first)]), list(carried[len(first) :])
            base = (index & 1) * self.buffer
            self.put(fetched, base)
            barrier()
            following = self.fetch((index + 1) * schedule.depth)  # in flight under this step's arithmetic
            return following + self.multiply(accumulators, base)

        results = for_(0, steps, 1, first + [zero] * square, step)
        self.finish(results[len(first) :])

    # -- factors: global memory -> registers -> shared memory

    def shares(self, role: str) -> list[tuple[Value, Value]]:
        """(position across, position in K) within the tile of each element that the thread fetches."""
        schedule = self.schedule
        across = schedule.rows if role == "m" else schedule.columns
        count = across * schedule.depth // schedule.threads
        by_k = self._contiguous_in_k(role)
        fast = schedule.depth if by_k else across
        result = []
        for number in range(count):
            element = self.thread + number * schedule.threads
            quick, slow = element % fast, element // fast
            result.append((slow, quick) if by_k else (quick, slow))
        return result

    def _contiguous_in_k(self, role: str) -> bool:
        """Whether neighbouring threads should walk K: the factor's loads are contiguous there."""
        last_k = len(self.plan.groups) - 1
        root = self.kernel.lhs if role == "m" else self.kernel.rhs
        items = [self.plan.loads[node] for node in walk(root) if isinstance(node, Load) and node in self.plan.loads]
        return bool(self.plan.spaces["k"].groups) and any(item.strides[last_k] == ONE for item in items)

    def fetch(self, start_k: Value) -> list[Value]:
        """The thread's elements of both factors for the K step at ``start_k``; zero outside."""
        result = []
        for role, root in (("m", self.kernel.lhs), ("n", self.kernel.rhs)):
            for across, k in self.shares(role):
                position, depth = self.starts[role] + across, start_k + k
                inside = depth.lt(self.sizes["k"])
                coordinates = self.coordinates(
                    **{role: position.minimum(self.sizes[role] - 1), "k": depth.minimum(self.sizes["k"] - 1)}
                )
                emitter = DeviceEmitter(self.ops, self.leaf(coordinates), self.accuracy)
                value = self.convert(emitter.value(root))
                result.append(inside.select(value, const(0, self.kind)))
        return result

    def convert(self, value: Value) -> Value:
        """A factor in the accumulator's type."""
        if value.kind == self.kind:
            return value
        target = mlir_type(self.kind)
        if self.kind[0] == "f":
            return Value(arith.extf(target, value.ssa) if value.kind[0] == "f" else arith.sitofp(target, value.ssa))
        return Value(arith.extsi(target, value.ssa))

    def put(self, fetched: list[Value], base: Value) -> None:
        number = 0
        for role, pitch, start in (("m", self.pitch_a, 0), ("n", self.pitch_b, self.pitch_a * self.schedule.depth)):
            for across, k in self.shares(role):
                offset = (k * pitch + across) * self.size + base
                store(fetched[number], at(self.shared, offset, start * self.size), self.size)
                number += 1

    # -- arithmetic

    def owned(self, thread: Value, count: int, extent: int) -> list[tuple[Value, int]]:
        """(first position, length) of the runs of rows or columns that a thread owns."""
        run = min(_RUN, count)
        pieces = count // run
        return [(thread * run + piece * (extent // pieces), run) for piece in range(pieces)]

    def read(self, thread: Value, count: int, extent: int, pitch: int, start: int, k: int, base: Value) -> list[Value]:
        values = []
        for position, run in self.owned(thread, count, extent):
            place = at(self.shared, position * self.size + base, (start + k * pitch) * self.size)
            step = min(run, 16 // self.size)
            for offset in range(0, run, step):
                piece = at(place, offset * self.size)
                whole = load(f"vector<{step}x{self.kind}>", piece, step * self.size)
                values += [Value(llvm.extractelement(whole.ssa, const(lane).ssa)) for lane in range(step)]
        return values

    def multiply(self, accumulators: list[Value], base: Value) -> list[Value]:
        schedule = self.schedule
        results = list(accumulators)
        for k in range(schedule.depth):
            a = self.read(self.thread_row, schedule.thread_rows, schedule.rows, self.pitch_a, 0, k, base)
            b = self.read(
                self.thread_column,
                schedule.thread_columns,
                schedule.columns,
                self.pitch_b,
                self.pitch_a * schedule.depth,
                k,
                base,
            )
            for row, left in enumerate(a):
                for column, right in enumerate(b):
                    number = row * schedule.thread_columns + column
                    results[number] = left * right + results[number]
        return results

    # -- results

    def finish(self, accumulators: list[Value]) -> None:
        schedule = self.schedule
        rows = [
            position + lane
            for position, run in self.owned(self.thread_row, schedule.thread_rows, schedule.rows)
            for lane in range(run)
        ]
        columns = [
            position + lane
            for position, run in self.owned(self.thread_column, schedule.thread_columns, schedule.columns)
            for lane in range(run)
        ]
        roots = [with_init(self.kernel, output.expr) for output in self.kernel.outputs]
        for number, row in enumerate(rows):
            m = self.starts["m"] + row
            for other, column in enumerate(columns):
                n = self.starts["n"] + column
                with if_(m.lt(self.sizes["m"]) & n.lt(self.sizes["n"])):
                    coordinates = self.coordinates(m=m, n=n)
                    leaf = self.leaf(coordinates, accumulators[number * schedule.thread_columns + other])
                    emitter = DeviceEmitter(self.ops, leaf, self.accuracy)
                    for root, item in zip(roots, self.plan.outputs, strict=True):
                        store_run(self.arguments.pointer(item, coordinates), item.type, [emitter.value(root)])
