"""What all calls of a function agree on: which of its arguments' extents are equal in every run."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from kc.agents.regions.symbols import is_public, lookup, symbol
from kc.bindings import ir
from kc.rewrite import walk_ops

#: in the place of an axis: the value itself, an ``index``
SCALAR = -1
Axis = tuple[ir.Value, int]
_LIKE = frozenset({"tensor.cast", "memref.cast", "linalg.copy"})


def equal_in_calls(function: ir.Operation, module: ir.Operation) -> Iterator[tuple[Axis, Axis]]:
    """Pairs of open extents of arguments of a private function, or ``index`` arguments, that are equal in every call.

    Nothing follows for a function that is called from outside, or by no ``func.call``.
    """
    if function.name != "func.func" or is_public(function):
        return
    name = symbol(function)
    calls = [c for c in walk_ops(module, "func.call") if ir.FlatSymbolRefAttr(c.attributes["callee"]).value == name]
    arguments = list(function.regions[0].blocks[0].arguments)
    places = [(number, axis) for number, argument in enumerate(arguments) for axis in _open(argument)]
    if not calls or len(places) < 2:
        return
    seen: dict[tuple[Hashable, ...], tuple[int, int]] = {}
    for place in places:
        told = tuple(_extent(call.operands[place[0]], place[1], module) for call in calls)
        first = seen.setdefault(told, place)
        if first != place:
            yield (arguments[first[0]], first[1]), (arguments[place[0]], place[1])


def _open(value: ir.Value) -> list[int]:
    """The axes of ``value`` that are not static; for an ``index``, itself."""
    kind = value.type
    if isinstance(kind, ir.IndexType):
        return [SCALAR]
    if isinstance(kind, (ir.RankedTensorType, ir.MemRefType)):
        return [axis for axis in range(kind.rank) if kind.is_dynamic_dim(axis)]
    return []


def _extent(value: ir.Value, axis: int, module: ir.Operation) -> Hashable:
    """A key for an extent, equal for equal ones: a number, a value with an axis of it, or an ``index`` value."""
    while True:
        if axis == SCALAR:
            op = _owner(value)
            if op is None:
                return (value, SCALAR)
            if op.name == "arith.constant":
                return int(ir.IntegerAttr(op.attributes["value"]).value)
            if op.name == "arith.maxsi" and _is_zero(op.operands[1]):  # an extent is not negative
                value = op.operands[0]
                continue
            place = _owner(op.operands[1]) if op.name in ("tensor.dim", "memref.dim") else None
            if place is None or place.name != "arith.constant":
                return (value, SCALAR)
            value, axis = op.operands[0], int(ir.IntegerAttr(place.attributes["value"]).value)
            continue
        kind = value.type
        assert isinstance(kind, (ir.RankedTensorType, ir.MemRefType))
        if not kind.is_dynamic_dim(axis):
            return int(kind.get_dim_size(axis))
        op = _owner(value)
        if op is None:
            return (value, axis)
        if op.name in ("tensor.empty", "memref.alloc", "memref.alloca", "bufferization.alloc_tensor"):
            value, axis = op.operands[sum(kind.is_dynamic_dim(before) for before in range(axis))], SCALAR
        elif op.name in _LIKE:
            value = op.operands[-1] if op.name == "linalg.copy" else op.operands[0]
        elif op.name.startswith("linalg.") or op.name == "func.call":
            position = next(number for number, result in enumerate(op.results) if result == value)
            if op.name == "func.call" and not _passes_destinations(op, module):
                return (value, axis)
            value = op.operands[len(op.operands) - len(op.results) + position]
        elif op.name in ("memref.subview", "tensor.extract_slice") and op.operands[0].type.rank == kind.rank:
            value, axis = _size_of_slice(op, axis), SCALAR
        elif op.name == "tensor.insert_slice":
            value = op.operands[1]
        else:
            return (value, axis)


def _size_of_slice(op: ir.Operation, axis: int) -> ir.Value:
    """The operand that is the extent of a slice along an axis that is not static."""
    open_ = [
        [int(item) == ir.ShapedType.get_dynamic_size() for item in ir.DenseI64ArrayAttr(op.attributes[name])]
        for name in ("static_offsets", "static_sizes")
    ]
    return op.operands[1 + sum(open_[0]) + sum(open_[1][:axis])]


def _is_zero(value: ir.Value) -> bool:
    op = _owner(value)
    return op is not None and op.name == "arith.constant" and ir.IntegerAttr(op.attributes["value"]).value == 0


def _owner(value: ir.Value) -> ir.Operation | None:
    return None if isinstance(value.owner, ir.Block) else value.owner.operation


def _passes_destinations(call: ir.Operation, module: ir.Operation) -> bool:
    """Whether what is called is a kernel: its last arguments have the shapes of its results."""
    callee = lookup(module, ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
    return callee is not None and "kc.kernel" in callee.attributes
