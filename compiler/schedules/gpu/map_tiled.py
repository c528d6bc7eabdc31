"""Elementwise kernels with a transposed operand: tiles go through shared memory, so that reads and writes are
contiguous."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from kc.builder.expr import Ops
from kc.builder.gpu import Value, at, const, for_, if_, load, store
from kc.builder.gpu_math import DeviceEmitter, accuracy_for
from kc.builder.gpu_memory import from_memory, memory_kind, store_run
from kc.builder.gpu_module import Device, Host
from kc.builder.gpu_ops import barrier, block_id, shared_memory, thread_id
from kc.kernels.expr import Expr, Index, Kernel, Load, Map, walk
from kc.schedules.gpu.access import ONE, ZERO, Access, aligned, extents_of, itemsize, supported
from kc.schedules.gpu.arguments import Arguments, DeviceArguments
from kc.schedules.gpu.features import Features
from kc.schedules.gpu.map import MapPlan, loop_index

_TILE = 64
_THREADS = 256
_PITCH = _TILE + 1  # columns of a tile then start in different banks
_LEAST = 16  # extent of a loop that is worth a tile
_MOST_NODES = 64


@dataclasses.dataclass(frozen=True)
class MapTiledSchedule:
    """64 x 64 tiles over the output's innermost loop group and group ``across``, along which transposed operands are
    contiguous; ``vector`` elements a store."""

    across: int
    vector: int

    @classmethod
    def pick(cls, kernel: Kernel, features: Features) -> MapTiledSchedule | None:
        """None unless some operand is contiguous along another loop than the outputs, which are along one and the
        same."""
        if not isinstance(kernel, Map) or not supported(kernel.operands) or not kernel.outputs:
            return None
        plan = MapPlan.of(kernel)
        if plan is None or len(plan.space.groups) < 2 or any(item.strides[plan.inner] != ONE for item in plan.outputs):
            return None
        found = next(
            (group for item in plan.loads.values() if (group := _transposed(item, plan.inner)) is not None), None
        )
        sizes = [plan.space.sizes[group].static for group in (plan.inner, found) if group is not None]
        if found is None or any(size is not None and size < _LEAST for size in sizes):
            return None
        if sum(1 for output in kernel.outputs for _ in walk(output.expr)) > _MOST_NODES:
            return None
        bytes_a_tile = sum(_tile_bytes(item) for item in plan.loads.values() if _transposed(item, plan.inner) == found)
        if bytes_a_tile > 48 << 10:
            return None
        narrow = max(itemsize(item.type) for item in plan.outputs) == 2
        pairs = narrow and plan.space.sizes[-1].multiple_of(2) and all(aligned(i, 2, plan.inner) for i in plan.outputs)
        return cls(found, 2 if pairs else 1)

    def build(self, kernel: Map, module: Any) -> None:
        """Inserts ``@K_device`` and ``@K__impl`` into ``module``."""
        plan = MapPlan.of(kernel)
        assert plan is not None
        arguments = Arguments(kernel, kernel.dims, extents_of([*plan.loads.values(), *plan.outputs], plan.space))
        with module.location:
            device = Device(module, kernel, arguments.parameters, _THREADS)
            with device.body:
                body = _TiledBody(self, kernel, plan, DeviceArguments(arguments, device), module.location)
                body.build()
            host = Host(module, kernel)
            with host.body:
                blocks = const(1, "i64")
                for number, size in enumerate(plan.space.sizes):
                    extent = arguments.host_extent(host, size)
                    tiled = number in (self.across, plan.inner)
                    blocks = blocks * ((extent + (_TILE - 1)) // _TILE if tiled else extent)
                with if_(blocks.ne(0)):
                    host.launch(device, blocks, arguments.host_values(host), body.shared_bytes)


def _transposed(item: Access, inner: int) -> int | None:
    """The loop group along which ``item`` is contiguous, if that is not ``inner`` and it varies along both."""
    if item.strides[inner] in (ZERO, ONE):
        return None
    return next((number for number, stride in enumerate(item.strides) if stride == ONE and number != inner), None)


def _tile_bytes(item: Access) -> int:
    return _TILE * _PITCH * itemsize(item.type)


class _TiledBody:
    def __init__(
        self, schedule: MapTiledSchedule, kernel: Map, plan: MapPlan, arguments: DeviceArguments, location: Any
    ) -> None:
        self.schedule, self.kernel, self.plan, self.arguments = schedule, kernel, plan, arguments
        self.ops = Ops(location)
        self.accuracy = accuracy_for(item.type for item in plan.outputs)
        self.offsets: dict[Load, int] = {}
        self.shared_bytes = 0
        for node, item in plan.loads.items():
            if _transposed(item, plan.inner) == schedule.across:
                self.offsets[node] = self.shared_bytes
                self.shared_bytes += -(-_tile_bytes(item) // 16) * 16

    def build(self) -> None:
        across, inner = self.schedule.across, self.plan.inner
        self.thread, self.memory = thread_id(), shared_memory()
        self.limits = {group: self.arguments.extent(self.plan.space.sizes[group]) for group in (across, inner)}
        block = block_id().zext("i64")
        self.starts: dict[int, Value] = {}
        self.position: list[Value] = [const(0, "i64")] * len(self.plan.space.groups)
        for group in (inner, across):
            tiles = (self.limits[group] + (_TILE - 1)) // _TILE
            rest = block // tiles
            self.starts[group] = (block - rest * tiles) * _TILE
            block = rest
        for number in reversed([n for n in range(len(self.plan.space.groups)) if n not in (across, inner)]):
            length = self.arguments.extent(self.plan.space.sizes[number])
            rest = block // length
            self.position[number] = block - rest * length
            block = rest
        for node in self.offsets:
            self._fetch(node)
        barrier()
        vector = self.schedule.vector
        columns = _TILE // vector
        rows = _THREADS // columns
        column, row = self.thread % columns * vector, self.thread // columns

        def step(number: Value) -> list[Value]:
            self._write(row + number * rows, column)
            return []

        for_(0, _TILE // rows, 1, [], step)

    def _at(self, across: Value, inner: Value) -> list[Value]:
        """Coordinates of a place in the tile (i32), kept inside the space."""
        result = list(self.position)
        for group, offset in ((self.schedule.across, across), (self.plan.inner, inner)):
            result[group] = (self.starts[group] + offset.zext("i64")).minimum(self.limits[group] - 1)
        return result

    def _fetch(self, node: Load) -> None:
        """A transposed operand's tile, read along ``across``, into shared memory: ``inner`` by ``across``."""
        item, size = self.plan.loads[node], itemsize(self.plan.loads[node].type)
        across, first = self.thread % _TILE, self.thread // _TILE
        rows = _THREADS // _TILE
        kind, invariant = memory_kind(item.type), self.arguments.invariant(item.arg)
        values = []
        for number in range(_TILE // rows):  # all loads before the first store: they wait together
            place = self.arguments.pointer(item, self._at(across, first + number * rows))
            values.append(load(kind, place, size, invariant))
        for number, value in enumerate(values):
            offset = ((first + number * rows) * _PITCH + across) * size
            store(value, at(self.memory, offset, self.offsets[node]), size)

    def _write(self, across: Value, inner: Value) -> None:
        """Computes and stores ``vector`` neighbouring elements."""
        results: list[list[Value]] = [[] for _ in self.kernel.outputs]
        for lane in range(self.schedule.vector):
            coordinates = self._at(across, inner + lane)
            emitter = DeviceEmitter(self.ops, self._leaf(coordinates, across, inner + lane), self.accuracy)
            for number, output in enumerate(self.kernel.outputs):
                results[number].append(emitter.value(output.expr))
        inside = (self.starts[self.schedule.across] + across.zext("i64")).lt(self.limits[self.schedule.across])
        inside = inside & (self.starts[self.plan.inner] + inner.zext("i64")).lt(self.limits[self.plan.inner])
        with if_(inside):
            place = self._at(across, inner)
            for item, values in zip(self.plan.outputs, results, strict=True):
                store_run(self.arguments.pointer(item, place), item.type, values)

    def _leaf(self, coordinates: list[Value], across: Value, inner: Value) -> Callable[[Expr], Any]:
        def find(node: Expr) -> Any:
            if isinstance(node, Load):
                if node in self.offsets:
                    kind, size = self.plan.loads[node].type, itemsize(self.plan.loads[node].type)
                    place = at(self.memory, (inner * _PITCH + across) * size, self.offsets[node])
                    return from_memory(load(memory_kind(kind), place, size), kind).ssa
                if node in self.plan.loads:
                    return self.arguments.element(self.plan.loads[node], coordinates).ssa
                return self.arguments.scalar(node.arg).ssa
            assert isinstance(node, Index)
            return loop_index(self.arguments, self.kernel, self.plan, node.dim, coordinates).resize("index").ssa

        return find
