"""Sizes of tensors as IR values, traced back through destinations so that they do not depend on the ops that write
them.
"""
from __future__ import annotations

from kc.bindings import ir
from kc.kernels.shapes import static_size


def trace_size(value: ir.Value, axis: int) -> int | ir.Value | tuple[ir.Value, int]:
    """The extent of ``value`` along ``axis``: a number, an index value, or the (tensor, axis) that it has to be read
    off.
    """
    while True:
        known = static_size(value, axis) if isinstance(value.type, ir.RankedTensorType) else None
        if known is not None:
            return known
        if isinstance(value.owner, ir.Block):
            return value, axis
        source = value.owner.operation
        if source.name.startswith("linalg."):
            position = next(i for i, item in enumerate(source.results) if item == value)
            value = source.operands[len(source.operands) - len(source.results) + position]
        elif source.name == "tensor.cast":
            value = source.operands[0]
        elif source.name in ("tensor.insert", "tensor.insert_slice"):
            value = source.operands[1]
        elif source.name == "tensor.empty":
            dynamic = sum(static_size(value, i) is None for i in range(axis))
            return source.operands[dynamic]
        else:
            return value, axis


def size_value(value: ir.Value, axis: int, before: ir.Operation) -> ir.Value:
    """The extent of ``value`` along ``axis`` as an index value that may be used at ``before``."""
    from kc.bindings import arith, tensor

    found = trace_size(value, axis)
    with ir.InsertionPoint(before), before.location:
        if isinstance(found, int):
            return arith.constant(ir.IndexType.get(), found)
        if isinstance(found, tuple):
            return tensor.dim(found[0], arith.constant(ir.IndexType.get(), found[1]))
    return found
