"""Reductions that start from a filled buffer take the scalar, and the fill goes."""

from __future__ import annotations

from typing import Any

from kc.bindings import ir
from kc.passes.gpu._memory import buffer_of


def fold_fills(ops: list[Any]) -> tuple[dict[Any, dict[int, Any]], list[Any]]:
    """Take the fills in front of reductions out of the program.

    ``ops``: linalg ops and copies in program order. Returns, for a reduction, the scalar that each of its outputs was
    filled with (by the output's number), and the ops that are left. A fill is dropped when nothing touches the buffer
    between it and the reduction, which overwrites all of it.
    """
    inits: dict[Any, dict[int, Any]] = {}
    dropped: list[Any] = []
    for op in ops:
        if op.name != "linalg.generic" or not _reduces(op):
            continue
        inputs, outputs = _operands(op)
        for number, buffer in enumerate(outputs):
            same = [
                v
                for v in (*inputs, *outputs)
                if isinstance(v.type, ir.MemRefType) and buffer_of(v) == buffer_of(buffer)
            ]
            fill = _fill_before(op, buffer) if len(same) == 1 else None
            if fill is not None and fill not in dropped:
                inits.setdefault(op, {})[number] = _filled_with(fill)
                dropped.append(fill)
    left = [op for op in ops if op not in dropped]
    for fill in dropped:
        fill.erase()
    return inits, left


def _operands(op: Any) -> tuple[list[Any], list[Any]]:
    count = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    operands = list(op.operands)
    return operands[:count], operands[count:]


def _reduces(op: Any) -> bool:
    return "reduction" in str(op.attributes["iterator_types"])


def _filled_with(op: Any) -> Any:
    """The scalar that ``op`` writes to all of its only output; None when it does something else."""
    if op.name != "linalg.generic" or _reduces(op):
        return None
    inputs, outputs = _operands(op)
    block = op.regions[0].blocks[0]
    body = list(block.operations)
    if len(outputs) != 1 or len(body) != 1 or any(isinstance(v.type, ir.ShapedType) for v in inputs):
        return None
    rank = outputs[0].type.rank
    maps = list(ir.ArrayAttr(op.attributes["indexing_maps"]))
    if ir.AffineMapAttr(maps[-1]).value != ir.AffineMap.get_identity(rank):
        return None
    value = body[0].operands[0]
    if isinstance(value, ir.BlockArgument) and value.owner == block:
        return inputs[value.arg_number] if value.arg_number < len(inputs) else None
    return value


def _fill_before(op: Any, buffer: Any) -> Any:
    """The fill of ``buffer`` before ``op`` in its block with nothing between them that could see the buffer."""
    before: list[Any] = []
    for other in op.block.operations:
        if other.operation == op:
            break
        before.append(other.operation)
    root = buffer_of(buffer)
    for other in reversed(before):
        if _filled_with(other) is not None and _operands(other)[1][0] == buffer:
            return other
        if _touches(other, root):
            return None
    return None


def _touches(op: Any, root: Any) -> bool:
    if any(isinstance(v.type, ir.MemRefType) and buffer_of(v) == root for v in op.operands):
        return True
    if any(value == root for value in op.results):
        return True
    return any(
        _touches(inner.operation, root)
        for region in op.regions
        for block in region.blocks
        for inner in block.operations
    )
