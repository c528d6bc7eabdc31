"""Where a kernel's results are written, and how its body is made to write there."""
from __future__ import annotations

import dataclasses

from kc.bindings import ir
from kc.kernels import named
from kc.kernels.closure import Closure
from kc.kernels.graph import BlockGraph
from kc.kernels.shapes import DYNAMIC


@dataclasses.dataclass(frozen=True)
class Destination:
    """Where result ``result`` of a kernel is written.

    ``init``: number of the operand of the result's op that the destination replaces (through ``fills``, outermost
    last), None if the op has no such operand and the kernel ends with a copy. ``caller``: the value that the caller
    passes, None for a fresh tensor like the one ``empty`` makes, or of the shape of ``like``, a value from outside of
    the cluster (both None: like the result itself, whose shape is static). """

    result: ir.Value
    init: int | None
    fills: tuple[ir.Operation, ...] = ()
    caller: ir.Value | None = None
    empty: ir.Operation | None = None
    like: ir.Value | None = None


def definer(value: ir.Value) -> ir.Operation | None:
    return None if isinstance(value.owner, ir.Block) else value.owner.operation


def _init_operand(op: ir.Operation, result: int) -> int | None:
    """The operand that result number ``result`` of a destination-style op is tied to."""
    if op.name.startswith("linalg."):
        return len(op.operands) - len(op.results) + result
    if op.name == "scf.for":
        return 3 + result
    if op.name == "scf.while" and len(op.operands) == len(op.results):
        return result if op.operands[result].type == op.results[result].type else None
    if op.name in ("tensor.insert", "tensor.insert_slice"):
        return 1
    return None


def destinations_of(graph: BlockGraph, closure: Closure) -> tuple[Destination, ...]:
    """The destination of each of the closure's results; raises Undestined if a size is not known."""
    inside = {id_value for number in closure.ops for id_value in graph.ops[number].results}
    taken: set[ir.Value] = set()
    found = []
    for result in closure.results:
        op = graph.ops[graph.definition[result]]
        position = next(i for i, item in enumerate(op.results) if item == result)
        init = _init_operand(op, position)
        sized = _like(result, inside)
        if isinstance(sized, ir.Value):
            destination = Destination(result, None, like=sized)
        else:
            destination = Destination(result, None, empty=sized)
        if init is not None:
            value, fills = op.operands[init], []
            while value in inside and (source := definer(value)) is not None and source.name == "linalg.fill":
                fills.append(source)
                value = source.operands[1]
            source = definer(value)
            if source is not None and source.name == "tensor.empty":
                destination = Destination(result, init, tuple(fills), empty=source)
            elif value not in inside and value not in taken and not fills:
                taken.add(value)
                destination = Destination(result, init, caller=value)
        found.append(destination)
    return tuple(found)


def _like(value: ir.Value, inside: set[ir.Value]) -> ir.Operation | ir.Value | None:
    """What has the shape of ``value`` on the chain of inits: a tensor.empty, or a value of the same type from
    outside of the cluster; None if the shape is static."""
    if ir.RankedTensorType(value.type).has_static_shape:
        return None
    seen, result = 0, value
    while (op := definer(value)) is not None and seen < 64:
        seen += 1
        if op.name == "tensor.empty":
            return op
        position = next(i for i, item in enumerate(op.results) if item == value)
        init = _init_operand(op, position)
        if init is None:
            break
        value = op.operands[init]
        if value not in inside and value.type == result.type and (
            (source := definer(value)) is None or source.name != "tensor.empty"
        ):
            return value
    raise Undestined(value)


def separate_fills(ops: list[ir.Operation]) -> None:
    """Gives each op that overwrites a fill a fill of its own: bufferization would copy a shared one."""
    for op in list(ops):
        if not op.name.startswith("linalg.") or op.name == "linalg.fill":
            continue
        for number in range(len(op.operands) - len(op.results), len(op.operands)):
            fill = definer(op.operands[number])
            if fill is None or fill.name != "linalg.fill" or len(list(fill.results[0].uses)) < 2:
                continue
            empty = definer(fill.operands[1])
            again = fill.clone(ip=ir.InsertionPoint(op)).operation
            if empty is not None and empty.name == "tensor.empty":
                again.operands[1] = empty.clone(ip=ir.InsertionPoint(again)).operation.results[0]
            op.operands[number] = again.results[0]


def copy_into_slice(op: ir.Operation) -> ir.Operation:
    """Gives an insert_slice its source through ``linalg.copy`` into the slice: loops, not a strided copy call."""
    from kc.bindings import tensor

    source, into = op.operands[0], op.operands[1]
    names = ("static_offsets", "static_sizes", "static_strides")
    static = [[int(item) for item in ir.DenseI64ArrayAttr(op.attributes[name])] for name in names]
    dynamic = list(op.operands)[2:]
    counts = [sum(item == DYNAMIC for item in items) for items in static]
    parts = [dynamic[sum(counts[:i]) : sum(counts[: i + 1])] for i in range(3)]
    with ir.InsertionPoint(op), op.location:
        piece = tensor.extract_slice(source.type, into, *parts, *static)
        copied = named.copy(source, piece)
    op.operands[0] = copied
    return piece.owner.operation


class Undestined(Exception):
    """No size is known for a result of dynamic shape; carries the value."""

    def __init__(self, value: ir.Value) -> None:
        super().__init__("cannot tell the size of a result of dynamic shape")
        self.value = value
