"""How a SIMT contraction brings one factor's tile from global memory through registers into shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kc.bindings import arith, vector
from kc.builder.gpu import Value, at, const, mlir_type, store
from kc.builder.gpu_math import DeviceEmitter
from kc.builder.gpu_memory import load_raw
from kc.kernels.expr import Expr, Load, walk
from kc.schedules.gpu.access import ONE, aligned
from kc.schedules.gpu.contraction.problem import plain_load

if TYPE_CHECKING:
    from kc.schedules.gpu.simt_body import SimtBody


class Fetch:
    """One factor: ``root`` over the loops of ``role`` ("m" or "n") and k.

    The tile stands in shared memory K first, ``pitch`` elements from one K to the next, ``start`` elements from the
    buffer's beginning. Neighbouring threads read along the loop in which the factor is contiguous, ``run`` elements at
    a time where 16-byte accesses allow it.
    """

    def __init__(self, body: SimtBody, role: str, root: Expr, across: int, pitch: int, start: int) -> None:
        self.body, self.role, self.root = body, role, root
        self.across, self.pitch, self.start = across, pitch, start
        spaces, last = body.plan.spaces, len(body.plan.groups) - 1
        self.k_group = last if spaces["k"].groups else None
        own = (
            len(spaces["batch"].groups) + (len(spaces["m"].groups) if role == "n" else 0) + len(spaces[role].groups) - 1
        )
        self.own_group = own if spaces[role].groups else None
        loads = [body.plan.loads[node] for node in walk(root) if isinstance(node, Load) and node in body.plan.loads]
        self.by_k = self.k_group is not None and any(item.strides[self.k_group] == ONE for item in loads)
        self.run = self._run()
        self.count = across * body.schedule.depth // body.schedule.threads // self.run

    def _run(self) -> int:
        """Elements that one access may bring: the factor is a load whose inner extent never cuts a run."""
        node, plan = plain_load(self.root), self.body.plan
        group = self.k_group if self.by_k else self.own_group
        if node is None or node not in plan.loads or group is None:
            return 1
        item = plan.loads[node]
        run = 4 if self.body.size == 4 else 2
        space = plan.spaces["k" if self.by_k else self.role]
        fits = aligned(item, run, group) and space.sizes[-1].multiple_of(run)
        return run if fits and self.across * self.body.schedule.depth // self.body.schedule.threads % run == 0 else 1

    def places(self) -> list[tuple[Value, Value]]:
        """(position across, position in K) within the tile of each run that the thread brings."""
        threads = self.body.schedule.threads
        fast = (self.body.schedule.depth if self.by_k else self.across) // self.run
        result = []
        for number in range(self.count):
            element = self.body.thread + number * threads
            quick, slow = element % fast * self.run, element // fast
            result.append((slow, quick) if self.by_k else (quick, slow))
        return result

    def load(self, first_k: Value) -> list[Value]:
        """The thread's elements for the K step at ``first_k``: read at clamped positions, zero beyond the last K."""
        body = self.body
        size, depth_size = body.sizes[self.role], body.sizes["k"]
        whole = body.plan.total(self.role).multiple_of(self.across)
        result: list[Value] = []
        for across, k in self.places():
            position, depth = body.starts[self.role] + across, first_k + k
            inside = depth.lt(depth_size)
            if not whole:
                position = position.minimum(size - (1 if self.by_k else self.run))
            depth = depth.minimum(depth_size - (self.run if self.by_k else 1))
            coordinates = body.coordinates(**{self.role: position, "k": depth})
            zero = const(0, body.kind)
            result += [inside.select(self._convert(value), zero) for value in self._values(coordinates)]
        return result

    def _values(self, coordinates: list[Value | None]) -> list[Value]:
        body = self.body
        if self.run > 1:
            node = plain_load(self.root)
            assert node is not None
            item = body.plan.loads[node]
            pointer = body.arguments.pointer(item, coordinates)
            return load_raw(pointer, item.type, self.run, body.arguments.invariant(item.arg)).unpack()
        return [DeviceEmitter(body.ops, body.leaf(coordinates), body.accuracy).value(self.root)]

    def _convert(self, value: Value) -> Value:
        """A factor in the accumulator's type."""
        kind = self.body.kind
        if value.kind == kind:
            return value
        target = mlir_type(kind)
        if kind[0] == "f":
            return Value(arith.extf(target, value.ssa) if value.kind[0] == "f" else arith.sitofp(target, value.ssa))
        return Value(arith.extsi(target, value.ssa))

    def put(self, values: list[Value], base: Value) -> None:
        """Writes what ``load`` gave into the buffer at ``base`` (bytes)."""
        body, size = self.body, self.body.size
        for number, (across, k) in enumerate(self.places()):
            run = values[number * self.run : (number + 1) * self.run]
            place = at(body.shared, (k * self.pitch + across) * size + base, self.start * size)
            if self.run > 1 and not self.by_k:
                kind = mlir_type(f"vector<{self.run}x{body.kind}>")
                store(Value(vector.from_elements(kind, [value.ssa for value in run])), place, size * self.run)
                continue
            for lane, value in enumerate(run):
                store(value, at(place, lane * self.pitch * size), size)
