"""The schedule of contractions: blocks of k and n packed for the caches, blocks of m over threads."""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from kc.builder.cpu import CpuBuilder, memref_type
from kc.builder.cpu import Index as IndexValue
from kc.builder.expr import wide
from kc.kernels.expr import Contraction, Kernel, Load, Output, walk
from kc.schedules.cpu.contraction.packing import pack_panel
from kc.schedules.cpu.contraction.parts import Part, PartValues
from kc.schedules.cpu.contraction.tile import Sums, TileShape, finish_tile, multiply_panels
from kc.schedules.cpu.machine import Machine
from kc.schedules.cpu.space import argument_types, supported

#: multiplications below which threads do not pay
_MIN_WORK = 1 << 18
#: bytes of a column of k: a panel of 16 such columns takes three quarters of a 32 KiB first-level cache
_DEPTH_BYTES = 1536
#: columns that a thread takes at a time
_COLUMNS = 1024


@dataclasses.dataclass(frozen=True)
class ContractionSchedule:
    """The blocked product of K. Goto and R. van de Geijn, as BLIS arranges it.

    See "Anatomy of high-performance matrix multiplication", ACM TOMS 34, 2008.

    Loops, outermost first: columns in blocks of ``nc``; k in blocks of ``kc``, for each of which the right factor is
    packed into panels of ``tile.columns`` columns; rows in blocks of ``mc`` (over threads, with parts of the columns),
    for each of which the left factor is packed into panels of ``tile.rows`` rows; then tiles, whose sums stay in
    registers over the block of k.
    Sums of earlier blocks of k wait in the destination if it has their type, else in a scratch matrix.
    """

    tile: TileShape
    mc: int
    nc: int
    kc: int
    machine: Machine

    @classmethod
    def pick(cls, kernel: Kernel, features: Machine) -> ContractionSchedule | None:
        """Fits contractions of f32, f64, i32 and i64 sums whose factors come to the type of the sum."""
        if not isinstance(kernel, Contraction):
            return None
        roots = [kernel.lhs, kernel.rhs, kernel.init, *(output.expr for output in kernel.outputs)]
        element = wide(kernel.acc_type)
        order = [*kernel.batch, *kernel.m, *kernel.n, *kernel.k]
        if not supported(kernel, roots, sliding=True) or order != sorted(order):
            return None
        if element not in ("f32", "f64", "i32", "i64") or {wide(kernel.lhs.type), wide(kernel.rhs.type)} != {element}:
            return None
        if not all(part.fits for part in parts_of(kernel)):
            return None
        lanes = features.lanes(element)
        rows = 12 if features.vector_registers >= 32 else 6
        tile = TileShape(rows, 2, lanes, 4, element)
        m, n, k = (static_extent(kernel, group) for group in (kernel.m, kernel.n, kernel.k))
        kc = _blocks(k, _DEPTH_BYTES // (8 if element in ("f64", "i64") else 4))
        mc = 96 if m is None else min(max(-(-m // 4), 4 * rows), 192)
        nc = 2048 if n is None else min(n, 3072)
        return cls(tile, -(-mc // rows) * rows, -(-nc // tile.columns) * tile.columns, kc, features)

    def build(self, kernel: Kernel, module: Any) -> None:
        """See ``kc.schedules.Schedule``."""
        assert isinstance(kernel, Contraction)
        from kc.bindings import ir

        builder = CpuBuilder(module, ir.Location.unknown(), self.machine.vector_bits, self.machine.fma)
        _Build(self, kernel, builder).build()


def static_extent(kernel: Contraction, group: Sequence[int]) -> int | None:
    """The product of a group's extents if known."""
    result = 1
    for dim in group:
        size = kernel.dims[dim].size
        if size is None:
            return None
        result *= size
    return result


def _blocks(k: int | None, target: int) -> int:
    """A block of k near ``target`` that cuts ``k`` evenly (``target`` when ``k`` is unknown)."""
    if k is None:
        return target
    count = max((k + target // 2) // target, 1)
    return max(-(-k // count) + 15 & ~15, 16)


def parts_of(kernel: Contraction) -> tuple[Part, Part, Part]:
    """The left factor, the right factor, the results."""
    outputs = [output.expr for output in kernel.outputs]
    return (Part.of(kernel, [kernel.lhs]), Part.of(kernel, [kernel.rhs]),
            Part.of(kernel, [kernel.init, *outputs], [(output.arg, output.coords) for output in kernel.outputs]))


class _Build:
    """Builds ``@K__impl``, which calls ``@K__product`` (a batch item), which calls ``@K__rows`` (a block of rows)."""

    def __init__(self, schedule: ContractionSchedule, kernel: Contraction, builder: CpuBuilder) -> None:
        self.schedule, self.kernel, self.builder = schedule, kernel, builder
        self.parts = parts_of(kernel)
        self.types = argument_types(kernel)
        self.k = static_extent(kernel, kernel.k)
        self.one_block = self.k is not None and self.k <= schedule.kc
        self.in_place = None if self.one_block else self._accumulator()
        self.waiting = self.in_place is None and not self.one_block
        tile = schedule.tile
        self.right_type = memref_type((None, schedule.kc * tile.columns), tile.element)
        self.sums_type = memref_type((None, None), tile.element)

    def _accumulator(self) -> Output | None:
        """A destination that can hold partial sums: of their type, rows and columns its last two axes, and with an old
        value that nothing reads (``C - A·B`` does, in the place of ``C``)."""
        part, kernel = self.parts[2], self.kernel
        roots = [kernel.lhs, kernel.rhs, kernel.init, *(output.expr for output in kernel.outputs)]
        read = {node.arg for node in walk(*roots) if isinstance(node, Load)}
        for output in self.kernel.outputs:
            if output.arg in read:
                continue
            operand = self.kernel.operands[output.arg]
            view = part.space.views[output.arg, output.coords]
            loops = [coord.dim for coord in view.coords if coord.dim is not None]
            wanted = [loop for group in "mn" for loop in part.groups[group]]
            if (operand.type == self.schedule.tile.element and loops[-2:] == wanted and len(wanted) == 2
                    and view.coords[-1].dim == wanted[-1]):
                return output
        return None

    # -- the three levels of functions

    def build(self) -> None:
        builder, name = self.builder, self.kernel.name
        self._rows_function()
        variants = [False, True] if self.schedule.machine.parallel else [False]
        for parallel in variants:
            self._product_function(parallel)
        with builder.function(f"{name}__impl", self.types) as arguments:
            result = PartValues(builder, self.kernel, self.parts[2], arguments)
            batch = result.size("b")
            m, n = result.size("m"), result.size("n")
            k = self._k(arguments)
            work = builder.product([m, n, k])

            def product(parallel: bool) -> None:
                function = f"{name}__threads" if parallel else f"{name}__product"
                if isinstance(batch, int) and batch == 1:
                    builder.call(function, [*arguments, builder.index(0)])
                else:
                    builder.loop(0, batch, 1, lambda b: builder.call(function, [*arguments, b]))

            def over_batch() -> None:
                builder.parallel(batch, lambda b: builder.call(f"{name}__product", [*arguments, builder.index(b)]))

            if len(variants) == 1:
                product(False)
                return
            small = self._known(builder.mul(work, batch), lambda total: total < _MIN_WORK)
            many = self._known(batch, lambda count: count >= 8)
            builder_if(builder, small, "ult", builder.mul(work, batch), _MIN_WORK, lambda: product(False),
                       lambda: builder_if(builder, many, "uge", batch, 8, over_batch, lambda: product(True)))

    @staticmethod
    def _known(value: IndexValue, test: Any) -> bool | None:
        return bool(test(value)) if isinstance(value, int) else None

    def _k(self, arguments: Sequence[Any]) -> IndexValue:
        return PartValues(self.builder, self.kernel, self.parts[0], arguments).size("k")

    def _product_function(self, parallel: bool) -> None:
        """One item of the batch."""
        schedule, builder, tile = self.schedule, self.builder, self.schedule.tile
        name = f"{self.kernel.name}__{'threads' if parallel else 'product'}"
        with builder.function(name, [*self.types, "index"]) as arguments:
            batch = arguments[-1]
            right = PartValues(builder, self.kernel, self.parts[1], arguments)
            result = PartValues(builder, self.kernel, self.parts[2], arguments)
            m, n, k = result.size("m"), result.size("n"), self._k(arguments[:-1])
            nc = builder.min(n, schedule.nc)
            panels = builder.ceildiv(nc, tile.columns)
            packed = builder.allocate([panels, schedule.kc * tile.columns], tile.element)
            flexible = builder.cast(packed, self.right_type)
            sums = [builder.allocate([m, n], tile.element)] if self.waiting else []
            passed = [flexible, *(builder.cast(memref, self.sums_type) for memref in sums)]

            def many(count: IndexValue, body: Any) -> None:
                if parallel:
                    builder.parallel(count, body)
                else:
                    builder.loop(0, count, 1, body)

            def columns(j0: Any) -> None:
                width = builder.min(builder.sub(n, j0), schedule.nc)

                def depths(k0: Any) -> None:
                    depth = builder.min(builder.sub(k, k0), schedule.kc)
                    many(builder.ceildiv(width, tile.columns), lambda j: pack_panel(
                        right, flexible, [j], "n", tile.columns, tile.lanes, batch,
                        builder.add(j0, builder.mul(j, tile.columns)), n, k0, depth))
                    rows = builder.ceildiv(m, schedule.mc)
                    step = _COLUMNS if parallel else schedule.nc
                    parts = builder.ceildiv(width, step)

                    def item(number: Any) -> None:
                        first = builder.mul(builder.rem(number, parts), step)
                        row = builder.mul(builder.div(number, parts), schedule.mc)
                        builder.call(f"{self.kernel.name}__rows", [*arguments[:-1], *passed, *map(builder.index, (
                            batch, row, j0, first, builder.min(builder.add(first, step), width), k0, depth))])

                    many(builder.mul(rows, parts), item)

                # k = 0 still has results: the initial value
                steps = builder.max(builder.ceildiv(k, schedule.kc), 1)
                builder.loop(0, steps, 1, lambda step: depths(builder.mul(step, schedule.kc)))

            builder.loop(0, n, schedule.nc, columns)
            for memref in [*sums, packed]:
                builder.free(memref)

    def _rows_function(self) -> None:
        """One block of rows against columns ``first .. end`` of the packed block of the right factor at ``j0``."""
        schedule, builder, tile = self.schedule, self.builder, self.schedule.tile
        scratch_types = [self.right_type, *([self.sums_type] if self.waiting else [])]
        with builder.function(f"{self.kernel.name}__rows", [*self.types, *scratch_types, *["index"] * 7]) as every:
            arguments, (packed, *waiting) = every[:len(self.types)], every[len(self.types):-7]
            batch, row0, j0, first, end, k0, depth = every[-7:]
            left = PartValues(builder, self.kernel, self.parts[0], arguments)
            result = PartValues(builder, self.kernel, self.parts[2], arguments)
            m, n, k = result.size("m"), result.size("n"), left.size("k")
            if self.one_block:
                k0, depth = 0, self.k
            count = builder.ceildiv(builder.min(builder.sub(m, row0), schedule.mc), tile.rows)
            stride = schedule.kc * tile.rows + 2 * tile.lanes
            panels = builder.allocate([schedule.mc // tile.rows, stride], tile.element)
            scratch = builder.stack([tile.rows, tile.columns], tile.element)
            builder.loop(0, count, 1, lambda i: pack_panel(
                left, panels, [i], "m", tile.rows, tile.lanes, batch, builder.add(row0, builder.mul(i, tile.rows)), m,
                k0, depth))
            sums = Sums(None, True, True)
            if not self.one_block:
                last = builder.compare("uge", builder.add(k0, schedule.kc), k)
                memref = waiting[0] if waiting else self._destination(result, batch)
                sums = Sums(memref, builder.compare("eq", k0, 0), last)

            def one(j: Any, i: Any) -> None:
                values = multiply_panels(builder, tile, panels, [i], packed, [j], depth)
                for r in range(tile.rows):
                    for v in range(tile.vectors):
                        builder.vector_store(values[r * tile.vectors + v], scratch, [r, v * tile.lanes], tile.lanes)
                finish_tile(self.kernel, result, tile, scratch, sums, batch,
                            builder.add(row0, builder.mul(i, tile.rows)), m,
                            builder.add(j0, builder.mul(j, tile.columns)), n)

            def panel(j: Any) -> None:
                builder.loop(0, count, 1, lambda i: one(j, i))

            builder.loop(builder.div(first, tile.columns), builder.ceildiv(end, tile.columns), 1, panel)
            builder.free(panels)

    def _destination(self, result: PartValues, batch: IndexValue) -> Any:
        """The destination that holds partial sums as a matrix of m by n."""
        assert self.in_place is not None
        access = (self.in_place.arg, self.in_place.coords)
        point = result.point(b=batch, m=0, n=0)
        return self.builder.matrix(result.operands.memref(access),
                                   result.operands.indices(result.operands.view(access), point))


def builder_if(builder: CpuBuilder, known: bool | None, predicate: str, a: IndexValue, b: IndexValue, then: Any,
               otherwise: Any) -> None:
    """``then`` or ``otherwise``: decided now if ``known``, else by comparing ``a`` and ``b`` at run time."""
    if known is None:
        builder.when(builder.compare(predicate, a, b), then, otherwise)
    elif known:
        then()
    else:
        otherwise()

