"""Slices that are then split into more axes: the whole is split first, so that the slice can be read inside a kernel.
"""
from __future__ import annotations

from kc.bindings import ir
from kc.kernels.shapes import DYNAMIC, reassociation, static_size
from kc.kernels.sizes import size_value
from kc.kernels.views import static_slice


def expand_before_slice(op: ir.Operation) -> bool:
    """Turns ``expand_shape(extract_slice(x))`` into ``extract_slice(expand_shape(x))`` where the slice keeps whole
    inner parts.

    The expansion of a whole tensor is free, the slice can then be taken inside a kernel. Returns whether it applied.
    """
    from kc.bindings import tensor

    if isinstance(op.operands[0].owner, ir.Block):
        return False
    cut = op.operands[0].owner.operation
    if cut.name != "tensor.extract_slice":
        return False
    source, result = cut.operands[0], op.results[0]
    offsets, _, strides = static_slice(cut)
    if DYNAMIC in offsets or DYNAMIC in strides:
        return False
    if ir.RankedTensorType(source.type).rank != ir.RankedTensorType(cut.results[0].type).rank:
        return False
    shape: list[int] = []
    dynamic: list[int] = []
    new: tuple[list[int], list[int], list[int]] = ([], [], [])
    for axis, group in enumerate(reassociation(op)):
        parts = [static_size(result, part) for part in group]
        extent = static_size(source, axis)
        if len(group) == 1 and parts[0] is None:  # an axis that is not split may have any extent
            shape.append(DYNAMIC if extent is None else extent)
            dynamic += [axis] if extent is None else []
            new[0].append(offsets[axis])
            new[1].append(DYNAMIC)
            new[2].append(strides[axis])
            continue
        if extent is None or None in parts:
            return False
        inner = 1
        for part in parts[1:]:
            inner *= part or 0
        if len(group) > 1 and (strides[axis] != 1 or inner == 0 or offsets[axis] % inner or extent % inner):
            return False
        shape += [extent // inner, *(part or 0 for part in parts[1:])]
        rest = len(group) - 1
        new[0].extend([offsets[axis] // inner, *[0] * rest])
        new[1].extend(part or 0 for part in parts)
        new[2].extend([strides[axis], *[1] * rest])
    wide_type = ir.RankedTensorType.get(shape, ir.RankedTensorType(result.type).element_type, loc=op.location)
    with ir.InsertionPoint(op), op.location:
        extents = [size_value(source, axis, op) for axis in dynamic]
        expansion = tensor.ExpandShapeOp(wide_type, source, op.attributes["reassociation"], extents, shape)
        wide = expansion.operation.results[0]
        piece = tensor.extract_slice(result.type, wide, [], list(cut.operands)[1:], [], *new)
    result.replace_all_uses_with(piece)
    op.erase()
    return True
