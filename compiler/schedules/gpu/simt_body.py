"""The device side of ``kc.schedules.gpu.simt``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kc.bindings import llvm
from kc.builder.expr import Ops, wide
from kc.builder.gpu import Value, at, const, for_, if_, if_values, load
from kc.builder.gpu_math import DeviceEmitter, accuracy_for
from kc.builder.gpu_memory import store_run
from kc.builder.gpu_ops import barrier, block_id, shared_memory, thread_id
from kc.kernels.expr import Acc, Contraction, Expr, Index, Load
from kc.schedules.gpu.access import dim_extent, itemsize
from kc.schedules.gpu.arguments import DeviceArguments
from kc.schedules.gpu.contraction.problem import with_init
from kc.schedules.gpu.simt_fetch import Fetch

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
        factors = (
            Fetch(self, "m", self.kernel.lhs, schedule.rows, self.pitch_a, 0),
            Fetch(self, "n", self.kernel.rhs, schedule.columns, self.pitch_b, self.pitch_a * schedule.depth),
        )
        first, lengths = self._first(factors)

        def step(index: Value, *carried: Value) -> list[Value]:
            fetched, accumulators = list(carried[: sum(lengths)]), list(carried[sum(lengths) :])
            base = (index & 1) * self.buffer
            factors[0].put(fetched[: lengths[0]], base)
            factors[1].put(fetched[lengths[0] :], base)
            barrier()
            following = [factor.load((index + 1) * schedule.depth) for factor in factors]  # in flight meanwhile
            return following[0] + following[1] + self.multiply(accumulators, base)

        results = for_(0, steps, 1, first + [zero] * square, step)
        self.finish(results[sum(lengths) :])

    def _first(self, factors: tuple[Fetch, ...]) -> tuple[list[Value], list[int]]:
        """What the first step works on, of all factors in a row, and how many values each has.

        Nothing is read when the summed loop may turn out to be empty and is.
        """
        lengths = [factor.count * factor.run for factor in factors]

        def load() -> list[Value]:
            return [value for factor in factors for value in factor.load(const(0))]

        if self.plan.total("k").static is not None:
            return load(), lengths
        count = sum(lengths)
        zeros = [const(0, self.kind)] * count
        return if_values(self.sizes["k"].ne(0), [self.kind] * count, load, lambda: zeros), lengths

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
