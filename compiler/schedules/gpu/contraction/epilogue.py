"""From accumulators to results: the kernel's expressions on register fragments, then the way to memory.

Of a 64-row block thread t holds rows ``16 * (t / 32) + t % 32 / 4`` and that plus 8, and of every 8 columns the pair
``2 * (t % 4)``: accumulator ``4 j + 2 r + e`` is column ``8 j + pair + e`` of row ``r``.

Half-type outputs with 16-byte pitches leave 64 columns at a time through swizzled shared memory and bulk tensor
stores, which run under the next tile. Other outputs are written from registers, guarded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kc.builder.expr import HALF, Ops
from kc.builder.gpu import Value, asm, at, const, if_
from kc.builder.gpu_math import DeviceEmitter, accuracy_for
from kc.builder.gpu_memory import Raw, load_raw, store_run
from kc.builder.gpu_ops import async_fence, barrier, pack_half, store_matrix, store_wait, tensor_store
from kc.kernels.expr import Acc, Expr, Index, Load
from kc.schedules.gpu.access import ONE, ZERO, Access, dim_extent
from kc.schedules.gpu.contraction.maps import output_batches
from kc.schedules.gpu.contraction.problem import with_init

if TYPE_CHECKING:
    from kc.schedules.gpu.contraction.consumer import Consumer
    from kc.schedules.gpu.contraction.kernel import Place

_CHUNK = 64  # columns a staging buffer holds
_PREFETCH_WORDS = 48  # registers that column operands may take while the accumulators are live


class Epilogue:
    """Emits the epilogue of one consumer warpgroup."""

    def __init__(self, consumer: Consumer) -> None:
        self.consumer, self.tile = consumer, consumer.tile
        self.problem, self.kernel = consumer.problem, consumer.body.kernel
        self.arguments = consumer.body.arguments
        self.ops = Ops(consumer.body.location)
        self.accuracy = accuracy_for((output.type for output in self.problem.outputs), arithmetic_bound=True)
        thread = consumer.thread
        lane, self.warp = thread & 31, thread >> 5
        self.pair = (lane & 3) * 2
        self.fragment_row = self.warp * 16 + (lane >> 2)
        matrix_row = self.warp * 16 + ((lane >> 3) & 1) * 8 + (lane & 7)
        self.store_base = consumer.number * (self.tile.staging * self.tile.staging_bytes) + matrix_row * 128
        self.store_swizzle = (lane >> 4) ^ (lane & 7)
        self.chunk_number = 0
        self.roots = [with_init(self.kernel, output.expr) for output in self.kernel.outputs]

    # -- operands

    def prefetch(self, place: Place, number: Value) -> None:
        """Sets the tile, and loads what depends on columns only or on rows only."""
        self.place = place
        body = self.consumer.body
        self.first_row = place.row + number * self.tile.warpgroup_rows
        self.batch = [value.zext("i64") for value in place.batch]
        self.whole_columns = self.problem.n.multiple_of(self.tile.columns)
        self.last_row, self.last_column = body.size_m - 1, body.size_n - 1
        self.columns: dict[Load, list[Raw]] = {}
        self.rows: dict[Load, list[Value]] = {}
        budget = _PREFETCH_WORDS
        groups = self.tile.columns // 8
        for node, item in self.problem.loads.items():
            by_row, by_column = item.strides[-2] != ZERO, item.strides[-1] != ZERO
            if by_row and not by_column:
                self.rows[node] = [
                    self.arguments.element(item, [*self.batch, self._row(block, half).zext("i64"), None])
                    for block in range(self.consumer.blocks)
                    for half in range(2)
                ]
            elif by_column and not by_row:
                words = groups * (1 if item.type in HALF else 2)
                if words <= budget and item.type in (*HALF, "f32") and self._paired(item):
                    budget -= words
                    runs = [self._column_pair(item, group) for group in range(groups)]
                    for raw in runs:  # LLVM would sink the loads to their uses otherwise
                        raw.values = [asm("i32", [word], "", "=r,0") for word in raw.values]
                    self.columns[node] = runs
            elif not by_row:
                self.rows[node] = [self.arguments.element(item, [*self.batch, None, None])] * (2 * self.consumer.blocks)

    def _row(self, block: int, half: int) -> Value:
        """The thread's row (i32), kept inside the matrix."""
        row = self.first_row + self.fragment_row + (block * 64 + half * 8)
        return row if self.problem.m.multiple_of(self.tile.rows) else row.minimum(self.last_row)

    def _column(self, group: int) -> Value:
        return self.place.column + self.pair + group * 8

    def _paired(self, item: Access) -> bool:
        """Whether two neighbouring columns can be read at once, and a ragged N clipped by pairs."""
        return (
            item.strides[-1] == ONE
            and all(stride.multiple_of(2) for stride in item.strides[:-1])
            and all(count * stride.coefficient % 2 == 0 for count, stride in item.constants)
            and self.problem.n.multiple_of(2)
        )

    def _column_pair(self, item: Access, group: int, row: Value | None = None) -> Raw:
        invariant = self.arguments.invariant(item.arg)
        column = self._column(group)
        if self._paired(item):
            if not self.whole_columns:
                column = column.minimum(self.last_column - 1)
            place = self.arguments.pointer(item, [*self.batch, row, column.zext("i64")])
            return load_raw(place, item.type, 2, invariant)
        values = []
        for lane in range(2):
            single = column + lane
            if not self.whole_columns:
                single = single.minimum(self.last_column)
            values.append(self.arguments.element(item, [*self.batch, row, single.zext("i64")]))
        return Raw(item.type, 2, values, False)

    def _operands(self, block: int, group: int) -> dict[Load, list[Value]]:
        """Values of every load for accumulators 4 * group .. + 3."""
        found: dict[Load, list[Value]] = {}
        for node, item in self.problem.loads.items():
            if node in self.columns:
                found[node] = self.columns[node][group].unpack() * 2
            elif node in self.rows:
                found[node] = [self.rows[node][2 * block + half] for half in (0, 0, 1, 1)]
            elif item.strides[-2] == ZERO:
                found[node] = self._column_pair(item, group).unpack() * 2
            else:
                found[node] = [
                    value
                    for half in range(2)
                    for value in self._column_pair(item, group, self._row(block, half).zext("i64")).unpack()
                ]
        return found

    # -- results

    def _evaluate(self, accumulators: list[Value], block: int, group: int) -> list[list[Value]]:
        """Per output the values at accumulators 4 * group .. + 3."""
        operands = self._operands(block, group)
        results: list[list[Value]] = [[] for _ in self.roots]
        for position in range(4):
            leaf = self._leaf(accumulators[4 * group + position], operands, block, group, position)
            emitter = DeviceEmitter(self.ops, leaf, self.accuracy)
            for number, root in enumerate(self.roots):
                results[number].append(emitter.value(root))
        return results

    def _leaf(
        self, accumulator: Value, operands: dict[Load, list[Value]], block: int, group: int, position: int
    ) -> Callable[[Expr], Any]:
        def find(node: Expr) -> Any:
            if isinstance(node, Acc):
                return accumulator.ssa
            if isinstance(node, Load):
                return (operands[node][position] if node in operands else self.arguments.scalar(node.arg)).ssa
            assert isinstance(node, Index)
            return self._index(node.dim, block, group, position).resize("index").ssa

        return find

    def _index(self, loop: int, block: int, group: int, position: int) -> Value:
        coordinates = [
            *self.batch,
            self._row(block, position // 2).zext("i64"),
            (self._column(group) + position % 2).zext("i64"),
        ]
        for number, loops in enumerate(self.problem.groups):
            if loop not in loops:
                continue
            value = coordinates[number]
            for inner in reversed(loops[loops.index(loop) + 1 :]):
                value = value // self.arguments.extent(dim_extent(self.kernel.dims, inner))
            if loops[0] != loop:
                value = value % self.arguments.extent(dim_extent(self.kernel.dims, loop))
            return value
        return const(0, "i64")  # a loop of size 1

    def store(self, blocks: list[list[Value]]) -> None:
        """Computes and writes the tile from the accumulators of its 64-row blocks."""
        groups = min(_CHUNK, self.tile.columns) // 8
        for chunk in range(max(1, self.tile.columns // _CHUNK)):
            words: dict[int, list[list[Value]]] = {}
            for block, accumulators in enumerate(blocks):
                for group in range(chunk * groups, chunk * groups + groups):
                    for number, values in enumerate(self._evaluate(accumulators, block, group)):
                        if self.problem.tensor_outputs[number]:
                            words.setdefault(number, []).append(values)
                        else:
                            self._store_direct(self.problem.outputs[number], values, block, group)
            for number, tile in words.items():
                self._store_staged(number, tile, chunk)

    def _store_direct(self, output: Access, values: list[Value], block: int, group: int) -> None:
        column = self._column(group)
        paired = self._paired(output)
        for half in range(2):
            row = self.first_row + self.fragment_row + (block * 64 + half * 8)
            inside = row.compare("ule", self.last_row)
            coordinates = [*self.batch, row.zext("i64"), column.zext("i64")]
            if paired:
                with if_(inside & column.compare("ule", self.last_column)):
                    store_run(self.arguments.pointer(output, coordinates), output.type, values[2 * half : 2 * half + 2])
                continue
            for lane in range(2):
                with if_(inside & (column + lane).compare("ule", self.last_column)):
                    place = self.arguments.pointer(output, [*self.batch, row.zext("i64"), (column + lane).zext("i64")])
                    store_run(place, output.type, [values[2 * half + lane]])

    def _store_staged(self, number: int, values: list[list[Value]], chunk: int) -> None:
        output, consumer = self.problem.outputs[number], self.consumer
        buffer = self.chunk_number % self.tile.staging
        self.chunk_number += 1
        leads, group_id = consumer.thread.eq(0), consumer.number + 1
        base = self.tile.staging_offset + buffer * self.tile.staging_bytes
        with if_(leads):
            store_wait(self.tile.staging - 1, read=True)
        barrier(group_id, 128)
        for block in range(consumer.blocks):
            for pair in range(4):
                sources = []
                for item in values[block * 8 + 2 * pair : block * 8 + 2 * pair + 2]:
                    sources += [pack_half(item[0], item[1], output.type), pack_half(item[2], item[3], output.type)]
                offset = self.store_base + ((self.store_swizzle ^ (2 * pair)) << 4)
                store_matrix(at(consumer.body.shared, offset, base + block * 64 * 128), sources)
        async_fence()
        barrier(group_id, 128)
        with if_(leads):
            source = at(consumer.body.shared, consumer.number * (self.tile.staging * self.tile.staging_bytes), base)
            batch = [self.place.batch[position] for position in output_batches(output)]
            tensor_store(
                self.arguments.device[f"map_out{number}"],
                source,
                [self.place.column + chunk * _CHUNK, self.first_row, *batch],
            )
