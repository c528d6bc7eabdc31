"""Building ``gpu.launch``: one flat index space over blocks of threads, and the index arithmetic for it.

Extents are Python ints where they are known and ``index`` values where they are not. Index arithmetic folds what it
can, so that the code of a static shape holds constants only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

from kc.bindings import ir

Extent = Union[int, Any]  # a known size, or an ir.Value of type index

#: threads of a block where nothing asks for another number
BLOCK = 256
_NARROW = 1 << 31  # index spaces below this are taken apart in 32-bit arithmetic, where division is much cheaper


class Arith:
    """Index and scalar arithmetic at the ambient insertion point; operands may be Python ints."""

    def __init__(self, location: Any) -> None:
        self.location = location
        self.index_type = ir.IndexType.get()

    def op(self, name: str, operands: Sequence[Any], results: Sequence[Any], attributes: Any = None) -> Any:
        """Create an op; returns its only result, its results as a list, or None."""
        made = ir.Operation.create(
            name, results=list(results), operands=list(operands), attributes=attributes or {}, loc=self.location
        )
        return made.results[0] if len(results) == 1 else list(made.results) if results else None

    def constant(self, value: int | float | bool, kind: Any) -> Any:
        """``arith.constant`` of an integer, index or float type."""
        if isinstance(kind, (ir.IndexType, ir.IntegerType)):
            attribute = ir.IntegerAttr.get(kind, int(value))
        else:
            attribute = ir.FloatAttr.get(kind, value, loc=self.location)
        return self.op("arith.constant", [], [kind], {"value": attribute})

    def value(self, extent: Extent) -> Any:
        """``extent`` as an SSA value of type index."""
        return self.constant(extent, self.index_type) if isinstance(extent, int) else extent

    def _binary(self, name: str, a: Extent, b: Extent) -> Any:
        return self.op(name, [self.value(a), self.value(b)], [self.index_type])

    def add(self, a: Extent, b: Extent) -> Extent:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        for x, y in ((a, b), (b, a)):
            if isinstance(x, int) and x == 0:
                return y
        return self._binary("arith.addi", a, b)

    def mul(self, a: Extent, b: Extent) -> Extent:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        for x, y in ((a, b), (b, a)):
            if isinstance(x, int) and x in (0, 1):
                return y if x else 0
        return self._binary("arith.muli", a, b)

    def floordiv(self, a: Extent, b: Extent) -> Extent:
        """Of non-negative values."""
        if isinstance(a, int) and isinstance(b, int):
            return a // b
        if isinstance(b, int) and b == 1:
            return a
        return self._binary("arith.divui", a, b)

    def rem(self, a: Extent, b: Extent) -> Extent:
        """Of non-negative values."""
        if isinstance(a, int) and isinstance(b, int):
            return a % b
        return self._binary("arith.remui", a, b)

    def ceildiv(self, a: Extent, b: int) -> Extent:
        """Of a non-negative value by a positive one."""
        return self.floordiv(self.add(a, b - 1), b)

    def trip_count(self, lower: Extent, upper: Extent, step: Extent) -> Extent:
        """Iterations of a loop from ``lower`` up to ``upper`` by a positive ``step``; never negative."""
        if isinstance(lower, int) and isinstance(upper, int):
            distance: Extent = max(upper - lower, 0)
        elif isinstance(lower, int) and lower == 0:
            distance = self._binary("arith.maxsi", upper, 0)
        else:
            distance = self._binary("arith.maxsi", self._binary("arith.subi", upper, lower), 0)
        if isinstance(step, int):
            return self.ceildiv(distance, step)
        return self.floordiv(self.add(distance, self._binary("arith.subi", step, 1)), step)

    def product(self, extents: Sequence[Extent]) -> Extent:
        result: Extent = 1
        for extent in extents:
            result = self.mul(result, extent)
        return result

    def intrinsic(self, name: str, operands: Sequence[Any]) -> Any:
        """LLVM's ``llvm.NAME.TYPE``, overloaded on the type of the first operand, which is also the result's."""
        kind = operands[0].type
        if isinstance(kind, ir.IndexType):
            i64 = ir.IntegerType.get_signless(64)
            words = [self.op("arith.index_cast", [v], [i64]) if v.type == kind else v for v in operands]
            return self.op("arith.index_cast", [self.intrinsic(name, words)], [kind])
        suffix = f"v{kind.shape[0]}{kind.element_type}" if isinstance(kind, ir.VectorType) else str(kind)
        attributes = {
            "intrin": ir.StringAttr.get(f"llvm.{name}.{suffix}"),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
            "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
        }
        return self.op("llvm.call_intrinsic", list(operands), [kind], attributes)

    def delinearize(self, linear: Any, extents: Sequence[Extent]) -> list[Extent]:
        """Coordinates of the flat index ``linear`` (index) in a space of ``extents``, the last one fastest."""
        coordinates: list[Extent] = [0] * len(extents)
        live = [d for d, e in enumerate(extents) if not (isinstance(e, int) and e == 1)]
        total = self.product(extents) if all(isinstance(e, int) for e in extents) else None
        narrow = isinstance(total, int) and total < _NARROW and len(live) > 1
        kind: Any = ir.IntegerType.get_signless(32) if narrow else self.index_type
        rest = self.op("arith.index_cast", [linear], [kind]) if narrow else linear
        for position, d in enumerate(reversed(live)):
            if position == len(live) - 1:
                coordinate = rest
            else:
                size = self.constant(extents[d], kind) if isinstance(extents[d], int) else extents[d]
                coordinate = self.op("arith.remui", [rest, size], [kind])
                rest = self.op("arith.divui", [rest, size], [kind])
            coordinates[d] = self.op("arith.index_castui", [coordinate], [self.index_type]) if narrow else coordinate
        return coordinates


Body = Callable[[Arith, list[Extent]], None]


def make_launch(a: Arith, grid: Extent, block: int, workgroup: Sequence[Any] = ()) -> tuple[Any, Any]:
    """A one-dimensional ``gpu.launch`` with an empty body and shared memory of the memref types ``workgroup``.

    Returns the op and its body block, whose arguments are: 3 block ids, 3 thread ids, 3 grid sizes, 3 block sizes,
    then one memref per entry of ``workgroup``. The caller fills the block; it ends in ``gpu.terminator`` already.
    """
    one = a.value(1)
    attributes: dict[str, Any] = {
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0]),
    }
    if workgroup:
        attributes["workgroup_attributions"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(workgroup))
    launch = ir.Operation.create(
        "gpu.launch",
        operands=[a.value(grid), one, one, a.value(block), one, one],
        attributes=attributes,
        regions=1,
        loc=a.location,
    )
    types = [a.index_type] * 12 + list(workgroup)
    body = launch.regions[0].blocks.append(*types, arg_locs=[a.location] * len(types))
    with ir.InsertionPoint(body):
        ir.Operation.create("gpu.terminator", loc=a.location)
    return launch, body


def launch_points(location: Any, extents: Sequence[Extent], body: Body, block: int = BLOCK) -> Any:
    """At the ambient insertion point, run ``body`` once per point of a space of ``extents``, one thread each.

    The last extent varies fastest over threads, so it should be the one that is contiguous in memory. Returns the
    ``gpu.launch``, or None when the space is known to be empty. A dynamic extent of zero gives a grid of zero, which
    the runtime does not launch.
    """
    a = Arith(location)
    total = a.product(extents)
    if isinstance(total, int):
        if total == 0:
            return None
        block = min(block, (total + 31) // 32 * 32)
    launch, inside = make_launch(a, a.ceildiv(total, block), block)
    with ir.InsertionPoint.at_block_terminator(inside):
        inner = Arith(location)
        if isinstance(total, int) and total == 1:
            guard = if_block(inner, compare(inner, "eq", inside.arguments[3], 0))
            with ir.InsertionPoint.at_block_terminator(guard):
                body(Arith(location), [0] * len(extents))
            return launch
        linear = inner.add(inner.mul(inside.arguments[0], block), inside.arguments[3])
        if isinstance(total, int) and total % block == 0:
            body(inner, inner.delinearize(linear, extents))
            return launch
        # the product is formed again inside, so that a kernel's arguments are the extents alone
        bound = inner.product(extents)
        guard = if_block(inner, compare(inner, "ult", linear, bound))
        with ir.InsertionPoint.at_block_terminator(guard):
            inside_guard = Arith(location)
            body(inside_guard, inside_guard.delinearize(linear, extents))
    return launch


def launch_single(location: Any, body: Callable[[Arith], None]) -> Any:
    """At the ambient insertion point, run ``body`` in one thread of one block."""
    a = Arith(location)
    launch, inside = make_launch(a, 1, 1)
    with ir.InsertionPoint.at_block_terminator(inside):
        body(Arith(location))
    return launch


def for_loop(a: Arith, lower: Extent, upper: Extent, step: Extent, inits: Sequence[Any]) -> tuple[Any, Any]:
    """An ``scf.for`` at the ambient insertion point without a terminator: (op, body block).

    The block's arguments are the induction variable and one carried value per entry of ``inits``.
    """
    loop = ir.Operation.create(
        "scf.for",
        operands=[a.value(lower), a.value(upper), a.value(step), *inits],
        results=[v.type for v in inits],
        regions=1,
        loc=a.location,
    )
    types = [a.index_type, *(v.type for v in inits)]
    return loop, loop.regions[0].blocks.append(*types, arg_locs=[a.location] * len(types))


def end_loop(a: Arith, block: Any, values: Sequence[Any]) -> None:
    """Close a block of ``scf`` with ``scf.yield``."""
    with ir.InsertionPoint(block):
        ir.Operation.create("scf.yield", operands=list(values), loc=a.location)


def if_block(a: Arith, condition: Any) -> Any:
    """An ``scf.if`` without results at the ambient insertion point; returns its then-block, which is terminated."""
    op = ir.Operation.create("scf.if", operands=[condition], regions=2, loc=a.location)
    block = op.regions[0].blocks.append()
    with ir.InsertionPoint(block):
        ir.Operation.create("scf.yield", loc=a.location)
    return block


def compare(a: Arith, predicate: str, x: Extent, y: Extent) -> Any:
    """``arith.cmpi`` of two index values; ``predicate`` is ``eq`` or ``ult``."""
    code = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), {"eq": 0, "ult": 6}[predicate])
    return a.op("arith.cmpi", [a.value(x), a.value(y)], [ir.IntegerType.get_signless(1)], {"predicate": code})
