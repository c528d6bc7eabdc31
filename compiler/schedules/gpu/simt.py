"""Contractions without tensor cores: any element type, strides, shapes and prologues; sm_80 and later.

A block computes a tile of the result from tiles of both factors in shared memory (two buffers), every thread a small
square of it in registers. Factors are evaluated element by element when they are fetched, so casts and dequantisation
are free to be there. Ragged edges are read at clamped positions and count as zero.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from kc.builder.gpu import if_
from kc.builder.gpu_module import Device, Host
from kc.kernels.expr import Contraction, Kernel, Load, walk
from kc.schedules.gpu.access import Access, Extent, Space, access, collapse, extents_of, grouped, itemsize, supported
from kc.schedules.gpu.arguments import Arguments, DeviceArguments
from kc.schedules.gpu.features import Features
from kc.schedules.gpu.simt_body import SimtBody

_ASSUMED = 4096  # of an extent that is only known at run time
_TILES = ((128, 128, 8, 8, 8), (64, 64, 16, 4, 4), (32, 32, 32, 2, 2))
ROLES = ("batch", "m", "n", "k")


@dataclasses.dataclass(frozen=True)
class SimtSchedule:
    """``rows`` x ``columns`` of the result a block of 256 threads, ``depth`` of K a step; ``thread_rows`` x
    ``thread_columns`` a thread."""

    rows: int = 64
    columns: int = 64
    depth: int = 16
    thread_rows: int = 4
    thread_columns: int = 4

    @property
    def threads(self) -> int:
        return self.rows // self.thread_rows * (self.columns // self.thread_columns)

    @classmethod
    def pick(cls, kernel: Kernel, features: Features) -> SimtSchedule | None:
        """None for element types that it cannot multiply (i1, complex) and extents of zero."""
        if not isinstance(kernel, Contraction) or not supported(kernel.operands) or not kernel.outputs:
            return None
        if kernel.acc_type in ("i1", "index") or any(dim.size == 0 for dim in kernel.dims):
            return None
        plan = SimtPlan.of(kernel)
        if plan is None:
            return None
        batch, m, n, _ = (plan.static(role) for role in ROLES)
        wide = 2 if itemsize(kernel.acc_type) == 8 else 1
        best = _TILES[-1]
        for tile in _TILES[1 if wide == 2 else 0 :]:
            blocks = -(-m // tile[0]) * -(-n // tile[1]) * batch
            if blocks >= features.multiprocessors and m >= tile[0] // 2 and n >= tile[1] // 2:
                best = tile
                break
        return cls(*best)

    def build(self, kernel: Contraction, module: Any) -> None:
        """Inserts ``@K_device`` and ``@K__impl`` into ``module``."""
        location = module.location
        plan = SimtPlan.of(kernel)
        assert plan is not None
        arguments = Arguments(kernel, kernel.dims, plan.extents)
        with location:
            device = Device(module, kernel, arguments.parameters, self.threads)
            with device.body:
                body = SimtBody(self, kernel, plan, DeviceArguments(arguments, device), location)
                body.build()
            host = Host(module, kernel)
            with host.body:
                rows = (arguments.host_extent(host, plan.total("m")) + (self.rows - 1)) // self.rows
                columns = (arguments.host_extent(host, plan.total("n")) + (self.columns - 1)) // self.columns
                blocks = rows * columns * arguments.host_extent(host, plan.total("batch"))
                with if_(blocks.ne(0)):
                    host.launch(device, blocks, arguments.host_values(host), body.shared_bytes)


@dataclasses.dataclass(frozen=True)
class SimtPlan:
    """Loop groups per role, in the order batch, m, n, k; accesses have one stride per group."""

    spaces: dict[str, Space]
    loads: dict[Load, Access]
    outputs: tuple[Access, ...]

    def total(self, role: str) -> Extent:
        return self.spaces[role].total

    def static(self, role: str) -> int:
        return math.prod(size.static or _ASSUMED for size in self.spaces[role].sizes)

    @property
    def groups(self) -> list[tuple[int, ...]]:
        return [group for role in ROLES for group in self.spaces[role].groups]

    @property
    def extents(self) -> list[Extent]:
        result = extents_of([*self.loads.values(), *self.outputs])
        return result + [size for role in ROLES for size in self.spaces[role].sizes]

    @classmethod
    def of(cls, kernel: Contraction) -> SimtPlan | None:
        roots = [kernel.lhs, kernel.rhs, kernel.init, *(output.expr for output in kernel.outputs)]
        nodes = {
            node: None
            for root in roots
            for node in walk(root)
            if isinstance(node, Load) and kernel.operands[node.arg].shape is not None
        }
        try:
            reads = {node: access(kernel, kernel.dims, node) for node in nodes}
            writes = [access(kernel, kernel.dims, output) for output in kernel.outputs]
        except NotImplementedError:
            return None
        items = [*reads.values(), *writes]
        spaces = {role: collapse(kernel.dims, getattr(kernel, role), items) for role in ROLES}
        whole = Space(
            tuple(group for role in ROLES for group in spaces[role].groups),
            tuple(size for role in ROLES for size in spaces[role].sizes),
        )
        return cls(
            spaces,
            {node: grouped(item, whole) for node, item in reads.items()},
            tuple(grouped(item, whole) for item in writes),
        )
