"""Elementwise kernels: a flat grid, one run of consecutive elements a thread, 16-byte accesses where operands allow
them.

Loops are put in the order of the first output's memory and merged where all operands walk them as one; what is left
over (a bias over columns, a transposed operand) is found by dividing the element's number. Measured on an H200:
101-104 % of a device copy for relu(x*a+b) on 1e8 elements; persistent grids and several runs a thread were slower.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from kc.builder.expr import Ops, loads
from kc.builder.gpu import Value, const, for_, if_, if_else, if_values
from kc.builder.gpu_math import DeviceEmitter, accuracy_for
from kc.builder.gpu_memory import load_raw, store_run
from kc.builder.gpu_module import Device, Host
from kc.builder.gpu_ops import block_id, thread_id
from kc.kernels.expr import Expr, Index, Kernel, Load, Map
from kc.schedules.gpu.access import (
    ONE,
    ZERO,
    Access,
    Space,
    access,
    aligned,
    collapse,
    dim_extent,
    extents_of,
    grouped,
    supported,
)
from kc.schedules.gpu.arguments import Arguments, DeviceArguments, inner_vector
from kc.schedules.gpu.features import Features

_SMALL = 1 << 31  # element numbers below this are divided in 32 bits


@dataclasses.dataclass(frozen=True)
class MapSchedule:
    """``vector``: consecutive elements a thread; ``threads``: a block's size."""

    vector: int = 4
    threads: int = 256

    @classmethod
    def pick(cls, kernel: Kernel, features: Features) -> MapSchedule | None:
        if not isinstance(kernel, Map) or not supported(kernel.operands) or not kernel.outputs:
            return None
        plan = MapPlan.of(kernel)
        if plan is None:
            return None
        vector = inner_vector([*plan.loads.values(), *plan.outputs], plan.inner, 8)
        if len(plan.space.groups) > 1:
            while vector > 1 and not plan.space.sizes[-1].multiple_of(vector):
                vector //= 2
        while vector > 1 and not all(aligned(item, vector, plan.inner) for item in plan.outputs):
            vector //= 2
        return cls(vector)

    def build(self, kernel: Map, module: Any) -> None:
        """Inserts ``@K_device`` and ``@K__impl`` into ``module``."""
        location = module.location
        plan = MapPlan.of(kernel)
        assert plan is not None
        items = [*plan.loads.values(), *plan.outputs]
        arguments = Arguments(kernel, kernel.dims, extents_of(items, plan.space))
        with location:
            device = Device(module, kernel, arguments.parameters, self.threads)
            with device.body:
                _MapBody(self, kernel, plan, DeviceArguments(arguments, device), location).build()
            host = Host(module, kernel)
            with host.body:
                span = self.vector * self.threads
                total = arguments.host_extent(host, plan.space.total)
                blocks = (total + (span - 1)) // span

                def launch() -> None:
                    host.launch(device, blocks, arguments.host_values(host))

                if plan.space.total.static is not None:
                    launch()
                else:
                    with if_(blocks.ne(0)):
                        launch()


@dataclasses.dataclass(frozen=True)
class MapPlan:
    space: Space
    loads: dict[Load, Access]
    outputs: list[Access]

    @property
    def inner(self) -> int:
        return len(self.space.groups) - 1

    @classmethod
    def of(cls, kernel: Map) -> MapPlan | None:
        if any(dim.size == 0 for dim in kernel.dims):
            return None
        try:
            nodes = loads(*(output.expr for output in kernel.outputs))
            reads = {
                node: access(kernel, kernel.dims, node) for node in nodes if kernel.operands[node.arg].shape is not None
            }
            writes = [access(kernel, kernel.dims, output) for output in kernel.outputs]
        except NotImplementedError:
            return None
        order = [coord.dim for coord in kernel.outputs[0].coords if coord.dim is not None]
        order = [loop for loop in range(len(kernel.dims)) if loop not in order] + order
        space = collapse(kernel.dims, order, [*reads.values(), *writes])
        if not space.groups:  # one element
            space = Space((tuple(order[-1:]),), (ONE,))
        if not space.groups[0]:  # a kernel without loops
            reads = {node: dataclasses.replace(item, strides=(ZERO,)) for node, item in reads.items()}
            writes = [dataclasses.replace(item, strides=(ZERO,)) for item in writes]
            return cls(space, reads, writes)
        return cls(
            space,
            {node: grouped(item, space) for node, item in reads.items()},
            [grouped(item, space) for item in writes],
        )


class _MapBody:
    def __init__(
        self, schedule: MapSchedule, kernel: Map, plan: MapPlan, arguments: DeviceArguments, location: Any
    ) -> None:
        self.schedule, self.kernel, self.plan, self.arguments = schedule, kernel, plan, arguments
        self.ops = Ops(location)
        self.accuracy = accuracy_for(item.type for item in plan.outputs)

    def build(self) -> None:
        vector = self.schedule.vector
        number = block_id().zext("i64") * self.schedule.threads + thread_id().zext("i64")
        first = number * vector
        total = self.arguments.extent(self.plan.space.total)
        if self.plan.space.total.multiple_of(vector):
            with if_(first.lt(total)):
                self.run(first, vector)
            return

        def tail() -> None:
            end = (first + vector).minimum(total)
            for_(first, end, const(1, "i64"), [], lambda element: self.run(element, 1), kind="i64")

        if_else((first + vector).compare("ule", total), lambda: self.run(first, vector), tail)

    def coordinates(self, element: Value) -> list[Value]:
        """The position in each loop group (i64) of element number ``element``."""
        sizes = self.plan.space.sizes
        if len(sizes) == 1:
            return [element]

        def split(kind: str) -> list[Value]:
            rest = element.resize(kind)
            result: list[Value] = []
            for size in reversed(sizes[1:]):
                length = self.arguments.extent(size, kind)
                quotient = rest // length
                result.insert(0, rest - quotient * length)
                rest = quotient
            return [value.zext("i64") for value in [rest, *result]]

        total = self.plan.space.total.static
        if total is not None:
            return split("i32" if total < _SMALL else "i64")
        small = self.arguments.extent(self.plan.space.total).lt(_SMALL)
        return if_values(small, ["i64"] * len(sizes), lambda: split("i32"), lambda: split("i64"))

    def run(self, element: Value, count: int) -> None:
        """Computes and stores ``count`` consecutive elements."""
        coordinates = self.coordinates(element)
        inner = self.plan.inner
        values: dict[Load, list[Value]] = {}
        for node, item in self.plan.loads.items():
            values[node] = self.read(item, coordinates, count)
        lanes = []
        for lane in range(count):
            emitter = DeviceEmitter(self.ops, self.leaf(values, coordinates, lane), self.accuracy)
            lanes.append([emitter.value(output.expr) for output in self.kernel.outputs])
        for position, item in enumerate(self.plan.outputs):
            results = [row[position] for row in lanes]
            if count == 1 or aligned(item, count, inner):
                store_run(self.arguments.pointer(item, coordinates), item.type, results)
                continue
            for lane, value in enumerate(results):
                store_run(self.arguments.pointer(item, self.moved(coordinates, lane)), item.type, [value])

    def moved(self, coordinates: Sequence[Value], lane: int) -> list[Value]:
        return [*coordinates[:-1], coordinates[-1] + lane]

    def read(self, item: Access, coordinates: list[Value], count: int) -> list[Value]:
        stride = item.strides[self.plan.inner]
        if stride == ZERO:
            return [self.arguments.element(item, coordinates)] * count
        if count == 1 or aligned(item, count, self.plan.inner):
            pointer = self.arguments.pointer(item, coordinates)
            return load_raw(pointer, item.type, count, self.arguments.invariant(item.arg)).unpack()
        return [self.arguments.element(item, self.moved(coordinates, lane)) for lane in range(count)]

    def leaf(self, values: dict[Load, list[Value]], coordinates: Sequence[Value], lane: int) -> Callable[[Expr], Any]:
        def find(node: Expr) -> Any:
            if isinstance(node, Load):
                return (values[node][lane] if node in values else self.arguments.scalar(node.arg)).ssa
            assert isinstance(node, Index)
            place = self.moved(coordinates, lane)
            return loop_index(self.arguments, self.kernel, self.plan, node.dim, place).resize("index").ssa

        return find


def loop_index(
    arguments: DeviceArguments, kernel: Map, plan: MapPlan, loop: int, coordinates: Sequence[Value]
) -> Value:
    """Position (i64) in the original loop ``loop`` at ``coordinates`` (one per loop group)."""
    for position, group in zip(coordinates, plan.space.groups, strict=True):
        if loop not in group:
            continue
        for inner in group[group.index(loop) + 1 :]:
            position = position // arguments.extent(dim_extent(kernel.dims, inner))
        return position if group[0] == loop else position % arguments.extent(dim_extent(kernel.dims, loop))
    return const(0, "i64")  # a loop of size 1
