"""Vector ops under ``kc-instrument-accesses``: which elements each lane touches."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kc.bindings import ir
from kc.passes.loops import _shadow as shadow
from kc.passes.loops._shadow import READ, WRITE

if TYPE_CHECKING:
    from kc.passes.loops.instrument_accesses import _Work

_DYNAMIC = -(1 << 63)


class Lanes:
    """One vector op; ``emit`` tells of what it touches."""

    def __init__(self, work: _Work, op: ir.Operation):
        self.work, self.op = work, op

    def emit(self) -> None:
        """Build the calls at the insertion point."""
        VECTORS[self.op.name](self)

    # ------------------------------------------------------------------------------------------------ the parts

    def segments(self) -> list[list[ir.Value]]:
        """Operands by their groups."""
        sizes = list(ir.DenseI32ArrayAttr(self.op.attributes["operandSegmentSizes"]))
        operands, groups = list(self.op.operands), []
        for size in sizes:
            groups.append(operands[:size])
            operands = operands[size:]
        return groups

    def access(self, mode: int, base: ir.Value, indices: list[ir.Value], lanes: int = 1) -> None:
        """One access."""
        self.work.access(self.op, mode, base, indices, lanes)

    def loop(self, count: int, body: Callable[[ir.Value], None]) -> None:
        """``scf.for`` over ``count`` lanes."""
        shadow.loop(shadow.index(count), body)

    def when(self, condition: ir.Value | None, body: Callable[[], None]) -> None:
        """``scf.if``; nothing round ``body`` without a condition."""
        if condition is None:
            body()
            return
        made = shadow.emit("scf.if", [condition], [], 2)
        with ir.InsertionPoint(made.regions[0].blocks.append()):
            body()
            shadow.emit("scf.yield")

    def extract(self, vector: ir.Value, lane: ir.Value) -> ir.Value:
        """Element ``lane`` of a 1-D vector."""
        position = ir.DenseI64ArrayAttr.get([_DYNAMIC])
        kind = ir.VectorType(vector.type).element_type
        return shadow.emit("vector.extract", (vector, lane), [kind], static_position=position)

    def flat(self, vector: ir.Value) -> ir.Value:
        """A vector of any rank as one of rank 1."""
        kind = ir.VectorType(vector.type)
        if kind.rank == 1:
            return vector
        shape = [_count(kind)]
        return shadow.emit("vector.shape_cast", [vector], [ir.VectorType.get(shape, kind.element_type)])


def _count(kind: ir.VectorType) -> int:
    if kind.scalable:
        raise ValueError("vectors of scalable length cannot be watched")
    count = 1
    for extent in kind.shape:
        count *= extent
    return count


def _lanes_of(base: ir.Value, vector: ir.VectorType) -> int:
    element = ir.MemRefType(base.type).element_type
    if isinstance(element, ir.VectorType):
        return 1
    if vector.rank > 1:
        raise ValueError("a vector of more than one dimension in one access cannot be watched")
    return _count(vector)


def _load(lanes: Lanes) -> None:
    base, *indices = lanes.op.operands
    lanes.access(READ, base, indices, _lanes_of(base, ir.VectorType(lanes.op.results[0].type)))


def _store(lanes: Lanes) -> None:
    value, base, *indices = lanes.op.operands
    lanes.access(WRITE, base, indices, _lanes_of(base, ir.VectorType(value.type)))


def _masked(mode: int, compressed: bool) -> Callable[[Lanes], None]:
    """maskedload, maskedstore (a lane at its place); expandload, compressstore (lanes close up)."""

    def tell(lanes: Lanes) -> None:
        operands = list(lanes.op.operands)
        mask = operands[-2]
        base, indices = operands[0], operands[1:-2]
        if not compressed:
            count = _lanes_of(base, ir.VectorType(mask.type))
            lanes.loop(count, lambda lane: lanes.when(
                lanes.extract(mask, lane),
                lambda: lanes.access(mode, base, [*indices[:-1], shadow.add(indices[-1], lane)]),
            ))
            return
        position = indices[-1]
        for number in range(_lanes_of(base, ir.VectorType(mask.type))):
            taken = lanes.extract(mask, shadow.index(number))
            at = position
            lanes.when(taken, lambda at=at: lanes.access(mode, base, [*indices[:-1], at]))  # type: ignore[misc]
            step = shadow.emit("arith.extui", [taken], [ir.IntegerType.get_signless(64)])
            position = shadow.add(position, shadow.emit("arith.index_cast", [step], [ir.IndexType.get()]))

    return tell


def _indexed(mode: int) -> Callable[[Lanes], None]:
    """gather, scatter: an element per lane."""

    def tell(lanes: Lanes) -> None:
        operands = list(lanes.op.operands)
        base, offsets = operands[0], operands[1:-3]
        numbers, mask = lanes.flat(operands[-3]), lanes.flat(operands[-2])

        def one(lane: ir.Value) -> None:
            number = lanes.extract(numbers, lane)
            if not isinstance(number.type, ir.IndexType):
                number = shadow.emit("arith.index_cast", [number], [ir.IndexType.get()])
            lanes.access(mode, base, [*offsets[:-1], shadow.add(offsets[-1], number)])

        count = _count(ir.VectorType(numbers.type))
        lanes.loop(count, lambda lane: lanes.when(lanes.extract(mask, lane), lambda: one(lane)))

    return tell


def _transfer(mode: int) -> Callable[[Lanes], None]:
    """transfer_read, transfer_write: a loop per vector dimension; lanes that are cut off touch nothing."""

    def tell(lanes: Lanes) -> None:
        op, groups = lanes.op, lanes.segments()
        if mode == READ:
            (base,), indices, _padding, masks = groups
            vector = ir.VectorType(op.results[0].type)
        else:
            (value,), (base,), indices, masks = groups
            vector = ir.VectorType(value.type)
        parent = op.parent
        if parent is not None and parent.name == "vector.mask":
            masks = [parent.operation.operands[0]]
        if not isinstance(base.type, ir.MemRefType):
            raise ValueError("transfers of tensors cannot be watched; bufferize first")
        if isinstance(ir.MemRefType(base.type).element_type, ir.VectorType):
            raise ValueError("transfers from memrefs of vectors cannot be watched")
        axes = _axes(ir.AffineMapAttr(op.attributes["permutation_map"]).value)
        bounded = [ir.BoolAttr(b).value for b in ir.ArrayAttr(op.attributes["in_bounds"])]
        shape = list(vector.shape)
        _count(vector)
        mask = None
        if masks:
            if axes != sorted(a for a in axes if a is not None):
                raise ValueError("a mask on a transfer that transposes or broadcasts cannot be watched")
            mask = lanes.flat(masks[0])
        view = lanes.work.view(base)

        def level(axis: int, at: list[ir.Value], linear: ir.Value | None) -> None:
            if axis == len(shape):
                condition = lanes.extract(mask, linear) if mask is not None and linear is not None else None
                lanes.when(condition, lambda: lanes.access(mode, base, at))
                return

            def one(lane: ir.Value) -> None:
                place = axes[axis]
                number = None
                if mask is not None:
                    number = lane if linear is None else shadow.add(
                        shadow.emit("arith.muli", (linear, shadow.index(shape[axis])), [lane.type]), lane
                    )
                if place is None:
                    level(axis + 1, at, number)
                    return
                moved = [*at]
                moved[place] = shadow.add(moved[place], lane)
                condition = None if bounded[axis] else shadow.compare("slt", moved[place], view.sizes[place])
                lanes.when(condition, lambda: level(axis + 1, moved, number))

            lanes.loop(shape[axis], one)

        level(0, list(indices), None)

    return tell


def _axes(permutation: ir.AffineMap) -> list[int | None]:
    """For each vector dimension the memref dimension that it walks along; None: broadcast."""
    found: list[int | None] = []
    for result in permutation.results:
        found.append(ir.AffineDimExpr(result).position if isinstance(result, ir.AffineDimExpr) else None)
    return found


VECTORS: dict[str, Any] = {
    "vector.load": _load,
    "vector.store": _store,
    "vector.maskedload": _masked(READ, False),
    "vector.maskedstore": _masked(WRITE, False),
    "vector.expandload": _masked(READ, True),
    "vector.compressstore": _masked(WRITE, True),
    "vector.gather": _indexed(READ),
    "vector.scatter": _indexed(WRITE),
    "vector.transfer_read": _transfer(READ),
    "vector.transfer_write": _transfer(WRITE),
}
