"""Row kernels: a row lives in the registers of a few threads, loaded once, 16 bytes at a time, reduced as often as
needed.

The plainest structure is the fastest on an H200 (96-104 % of a device copy): one block per row, or a few small rows
side by side, about 64 input bytes a thread, no persistence, no prefetch. The kernel's expressions are evaluated per
element; every ``Reduce`` is folded over the thread's elements, then over the row's threads.

Long rows: values unpacked from bf16 that live across a reduction would take so many registers that one block a
multiprocessor is left (54 % of copy at 12288 columns). ``remat`` keeps rows packed, unpacks them again after each
reduction, recomputes what the next one needs, and bounds registers (97 %).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from kc.builder.expr import HALF
from kc.builder.gpu import if_
from kc.builder.gpu_module import Device, Host
from kc.kernels.expr import Apply, Expr, Index, Kernel, Load, Reduce, Rows, walk
from kc.schedules.gpu.access import (
    ONE,
    ZERO,
    Access,
    Space,
    access,
    aligned,
    collapse,
    extents_of,
    grouped,
    itemsize,
    supported,
)
from kc.schedules.gpu.arguments import Arguments, DeviceArguments, inner_vector
from kc.schedules.gpu.features import Features
from kc.schedules.gpu.reduction import neutral
from kc.schedules.gpu.rows_body import RowsBody

_INPUT_BYTES = 64  # a thread's share of a row
_BLOCK = 128  # small rows stand side by side until a block has this many threads
_MOST_THREADS = 512
_MOST_WORDS = 128  # 32-bit registers that hold a row's inputs, per thread
_REGISTERS = 65536  # of a multiprocessor


@dataclasses.dataclass(frozen=True)
class RowsSchedule:
    """``vector`` consecutive elements a run; ``threads`` a row; ``rows`` side by side in a block; ``remat`` keeps
    inputs packed and recomputes after each reduction; ``min_blocks`` a multiprocessor must hold (bounds registers)."""

    vector: int = 8
    threads: int = 128
    rows: int = 1
    remat: bool = False
    min_blocks: int = 1

    @classmethod
    def pick(cls, kernel: Kernel, features: Features) -> RowsSchedule | None:
        """None if columns are dynamic, too many for registers, or nothing walks them with stride 1."""
        if not isinstance(kernel, Rows) or not supported(kernel.operands):
            return None
        plan = RowsPlan.of(kernel)
        if plan is None or not plan.reducible(kernel) or not plan.static_columns:
            return None
        vector = plan.vector()
        if vector is None:
            return None
        runs = plan.columns // vector
        bytes_per_column = max(1, sum(itemsize(item.type) for item in plan.row_inputs()))
        share = max(1, _INPUT_BYTES // bytes_per_column // vector)  # runs a thread
        threads = -(-runs // share)
        if vector * min(itemsize(item.type) for item in plan.streams() or plan.outputs) < 16:
            threads = max(threads, min(32, runs))  # narrow accesses: neighbouring lanes on neighbouring elements
        if threads <= 32:
            threads = 1 << (threads - 1).bit_length()
        else:
            threads = min(_MOST_THREADS, -(-threads // 32) * 32)
        rows = 1
        while threads * rows * 2 <= _BLOCK and (threads <= 32 or rows < 8):
            rows *= 2
        per_thread = -(-runs // threads) * vector
        packs = vector > 1  # else every element takes a register
        words = sum(
            per_thread * itemsize(item.type) // 4 if packs or itemsize(item.type) > 4 else per_thread
            for item in plan.row_inputs()
        )
        if words > _MOST_WORDS:
            return None
        live = 2 * per_thread * max(1, len(plan.row_inputs())) + 24
        if live * threads * 2 <= _REGISTERS or threads < 256 or not plan.rematerialises(kernel):
            return cls(vector, threads, rows)
        # the row in fewer, fuller threads while its packed words leave room
        if threads > 256 and words * threads // 256 <= 48:
            return cls(vector, 256, 1, True, 3)
        return cls(vector, 512, 1, True, 2 if words <= 36 else 1)

    def build(self, kernel: Rows, module: Any) -> None:
        """Inserts ``@K_device`` and ``@K__impl`` into ``module``."""
        location = module.location
        plan = RowsPlan.of(kernel)
        assert plan is not None
        items = [*plan.loads.values(), *plan.outputs]
        arguments = Arguments(kernel, kernel.dims, extents_of(items, plan.space))
        with location:
            device = Device(module, kernel, arguments.parameters, self.threads * self.rows, self.min_blocks)
            with device.body:
                body = RowsBody(self, kernel, plan, DeviceArguments(arguments, device), location)
                body.build()
            host = Host(module, kernel)
            with host.body:
                count = arguments.host_extent(host, plan.row_count)
                blocks = (count + (self.rows - 1)) // self.rows
                if plan.row_count.static is not None:
                    host.launch(device, blocks, arguments.host_values(host), body.shared_bytes)
                else:
                    with if_(blocks.ne(0)):
                        host.launch(device, blocks, arguments.host_values(host), body.shared_bytes)


@dataclasses.dataclass(frozen=True)
class RowsPlan:
    """Loop groups: the first ``row_groups`` number the rows, the others the columns; accesses have a stride per
    group."""

    space: Space
    row_groups: int
    loads: dict[Load, Access]
    outputs: list[Access]

    @property
    def row_count(self) -> Any:
        return Space(self.space.groups[: self.row_groups], self.space.sizes[: self.row_groups]).total

    @property
    def static_columns(self) -> bool:
        return all(size.static is not None for size in self.space.sizes[self.row_groups :])

    @property
    def column_sizes(self) -> list[int]:
        """Sizes of the column groups, where they are static."""
        return [size.static or 0 for size in self.space.sizes[self.row_groups :]]

    @property
    def columns(self) -> int:
        result = 1
        for size in self.column_sizes:
            result *= size
        return result

    def by_column(self, item: Access) -> bool:
        """Whether ``item`` changes along the row."""
        return any(stride != ZERO for stride in item.strides[self.row_groups :])

    def varying(self, kernel: Rows) -> dict[Expr, bool]:
        """For every node of the outputs, whether it differs along the row."""
        first_column = len(kernel.dims) - kernel.ncols
        found: dict[Expr, bool] = {}
        for node in walk(*(output.expr for output in kernel.outputs)):
            if isinstance(node, Load):
                found[node] = node in self.loads and self.by_column(self.loads[node])
            elif isinstance(node, Index):
                found[node] = node.dim >= first_column
            else:
                found[node] = isinstance(node, Apply) and any(found[arg] for arg in node.args)
        return found

    def row_inputs(self) -> list[Access]:
        """Inputs that differ from row to row and along the row: what bandwidth is spent on."""
        return [
            item
            for item in self.loads.values()
            if self.by_column(item) and any(stride != ZERO for stride in item.strides[: self.row_groups])
        ]

    def streams(self) -> list[Access]:
        """Accesses that walk the columns in memory order."""
        inner = len(self.space.groups) - 1
        items = [item for item in [*self.loads.values(), *self.outputs] if self.by_column(item)]
        return [item for item in items if item.strides[inner].static == 1]

    def vector(self) -> int | None:
        """Elements a run; None if no access walks the columns in memory order."""
        inner = len(self.space.groups) - 1
        streams = self.streams()
        if len(self.space.groups) == self.row_groups or not any(
            self.by_column(item) for item in [*self.loads.values(), *self.outputs]
        ):
            return 1
        if not streams:
            return None
        vector = inner_vector(streams, inner, 8)
        while vector > 1 and (
            not self.space.sizes[-1].multiple_of(vector) or not all(aligned(item, vector, inner) for item in streams)
        ):
            vector //= 2
        return vector

    def rematerialises(self, kernel: Rows) -> bool:
        """Whether inputs can be kept packed and everything else recomputed: half-type rows, no dear function twice."""
        return any(item.type in HALF for item in self.row_inputs())

    def reducible(self, kernel: Rows) -> bool:
        """Whether every reduction has a known neutral element and folds all columns."""
        columns = set(range(len(kernel.dims) - kernel.ncols, len(kernel.dims)))
        reductions = [node for output in kernel.outputs for node in walk(output.expr) if isinstance(node, Reduce)]
        return all(set(node.dims) == columns and neutral(node.op, node.type) is not None for node in reductions)

    @classmethod
    def of(cls, kernel: Rows) -> RowsPlan | None:
        first = len(kernel.dims) - kernel.ncols
        if any(dim.size == 0 for dim in kernel.dims):
            return None
        nodes = {node: None for output in kernel.outputs for node in walk(output.expr) if isinstance(node, Load)}
        try:
            reads = {
                node: access(kernel, kernel.dims, node) for node in nodes if kernel.operands[node.arg].shape is not None
            }
            writes = [access(kernel, kernel.dims, output) for output in kernel.outputs]
        except NotImplementedError:
            return None
        items = [*reads.values(), *writes]
        moving = [item for item in reads.values() if any(stride != ZERO for stride in item.strides[first:])]
        rows = collapse(kernel.dims, _row_order(moving, first), items)
        # columns may be walked in any order: prefer that of the first operand that has them all
        columns = collapse(kernel.dims, _column_order(kernel, items, first), items)
        space = Space(rows.groups + columns.groups, rows.sizes + columns.sizes)
        return cls(
            space,
            len(rows.groups),
            {node: grouped(item, space) for node, item in reads.items()},
            [grouped(item, space) for item in writes],
        )


def _row_order(items: list[Access], first: int) -> list[int]:
    """Row loops as they come; one that is contiguous in memory goes last where no column loop is."""
    loops = list(range(first))
    if any(ONE in item.strides[first:] for item in items):
        return loops
    inner = next((loop for loop in reversed(loops) if any(item.strides[loop] == ONE for item in items)), None)
    return loops if inner is None else [loop for loop in loops if loop != inner] + [inner]


def _column_order(kernel: Rows, items: list[Access], first: int) -> list[int]:
    loops = list(range(first, len(kernel.dims)))
    for item in items:
        strides = [item.strides[loop].static for loop in loops]
        if all(stride is not None and stride > 0 for stride in strides):
            return sorted(loops, key=lambda loop: -(item.strides[loop].static or 0))
    return loops
