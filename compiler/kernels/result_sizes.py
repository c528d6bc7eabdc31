"""The sizes of a function's results, computed where it is called."""

from __future__ import annotations

from collections.abc import Sequence

from kc.bindings import ir
from kc.kernels.graph import outer_values
from kc.kernels.shapes import static_size
from kc.kernels.sizes import trace_size


def result_sizes(function: ir.Operation, number: int, operands: Sequence[ir.Value]) -> list[ir.Value]:
    """The unknown extents of result ``number`` of ``function`` (one block) for a call with ``operands``.

    Index values, emitted at the ambient insertion point: what the sizes depend on in the function's body is repeated
    there, and most of it is sizes of arguments.
    """
    block = function.regions[0].blocks[0]
    returned = block.operations[len(block.operations) - 1].operation.operands[number]
    copies: dict[ir.Value, ir.Value] = dict(zip(block.arguments, operands, strict=True))
    found = []
    for axis in range(ir.RankedTensorType(returned.type).rank):
        if static_size(returned, axis) is not None:
            continue
        size = trace_size(returned, axis)
        if isinstance(size, int):
            found.append(_index(size))
        elif isinstance(size, tuple):
            source = _copy(size[0], copies)
            found.append(ir.Operation.create("tensor.dim", [ir.IndexType.get()], [source, _index(size[1])]).result)
        else:
            found.append(_copy(size, copies))
    return found


def _copy(value: ir.Value, copies: dict[ir.Value, ir.Value]) -> ir.Value:
    """``value`` computed anew from what ``copies`` has."""
    stack = [value]
    while stack:
        current = stack[-1]
        if current in copies:
            stack.pop()
            continue
        op = current.owner.operation
        needed = [v for v in (*op.operands, *outer_values(op)) if v not in copies]
        if needed:
            stack.extend(needed)
            continue
        clone = op.clone(ip=ir.InsertionPoint.current).operation
        _remap(clone, copies)
        copies.update(zip(op.results, clone.results, strict=True))
        stack.pop()
    return copies[value]


def _remap(op: ir.Operation, copies: dict[ir.Value, ir.Value]) -> None:
    def visit(inner: ir.Operation) -> ir.WalkResult:
        for number, operand in enumerate(inner.operands):
            if operand in copies:
                inner.operands[number] = copies[operand]
        return ir.WalkResult.ADVANCE

    op.walk(visit)


def _index(value: int) -> ir.Value:
    kind = ir.IndexType.get()
    return ir.Operation.create("arith.constant", [kind], [], {"value": ir.IntegerAttr.get(kind, value)}).result
