"""Expansion of a linalg op's loops: one loop over a collapsed axis becomes a loop per uncollapsed axis."""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from kc.bindings import ir
from kc.kernels import named
from kc.kernels.graph import splits_rows, walk_nested
from kc.kernels.shapes import DYNAMIC, reassociation, static_size
from kc.kernels.sizes import size_value
from kc.kernels.structured import Lin, Structured, Unreadable, plain_dim, read


@dataclasses.dataclass(frozen=True)
class Split:
    """The extents a loop is split into, outermost first; at most one is dynamic (None) and then given by ``value``."""

    sizes: tuple[int | None, ...]
    value: ir.Value | None = None


def _readable(op: ir.Operation) -> Structured | None:
    try:
        form = read(op)
    except Unreadable:
        return None
    if any(positions is None for positions in form.maps):
        return None
    if any(not isinstance(value.type, ir.RankedTensorType) for value in form.operands[form.inputs :]):
        return None
    return form


def _splittable(form: Structured) -> set[int]:
    """Parallel loops that every map uses as a plain coordinate or not at all."""
    loops = {loop for loop, reduction in enumerate(form.reductions) if not reduction}
    for positions in form.maps:
        for position in positions or ():
            if plain_dim(position) is None:
                loops -= {dim for dim, _ in position[0]}
    return loops


def find_splits_of_operands(op: ir.Operation) -> dict[int, Split]:
    """Loops to split because an operand comes from a ``tensor.collapse_shape``."""
    splits: dict[int, Split] = {}
    form = _readable(op) if any(map(_is_collapsed, op.operands)) else None
    if form is None:
        return splits
    free = _splittable(form)
    for operand, positions in zip(form.operands[: form.inputs], form.maps, strict=False):
        if not _is_collapsed(operand):
            continue
        collapse = operand.owner.operation
        if not splits_rows(collapse):
            continue
        for position, group in zip(positions or (), reassociation(collapse), strict=True):
            loop = plain_dim(position)
            if loop is None or loop in splits or len(group) == 1:
                continue
            sizes = tuple(static_size(collapse.operands[0], axis) for axis in group)
            if loop not in free or sizes.count(None) > 1 or sum(size != 1 for size in sizes) < 2:
                continue
            value = None
            if None in sizes:
                value = size_value(collapse.operands[0], group[sizes.index(None)], op)
            splits[loop] = Split(sizes, value)
    return splits


def _is_collapsed(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name == "tensor.collapse_shape"


def find_splits_of_results(op: ir.Operation) -> dict[int, Split]:
    """Loops to split because the only user of the result is a ``tensor.expand_shape``."""
    uses = [use.owner.operation for use in op.results[0].uses if use.owner.operation.name != "tensor.dim"]
    if len(uses) != 1 or uses[0].name != "tensor.expand_shape":
        return {}
    expand, form = uses[0], _readable(op)
    if form is None or not splits_rows(expand) or expand.block != op.block:
        return {}
    free = _splittable(form)
    splits: dict[int, Split] = {}
    dynamic = list(expand.operands)[1:]
    for position, group in zip(form.maps[form.inputs] or (), reassociation(expand), strict=True):
        loop = plain_dim(position)
        sizes = tuple(static_size(expand.results[0], axis) for axis in group)
        values = [dynamic.pop(0) for size in sizes if size is None]
        if loop is None or len(group) == 1 or sum(size != 1 for size in sizes) < 2:
            continue
        if loop not in free or len(values) > 1 or (values and not _comes_before(values[0], op)):
            continue
        splits[loop] = Split(sizes, values[0] if values else None)
    return splits


def _comes_before(value: ir.Value, op: ir.Operation) -> bool:
    if isinstance(value.owner, ir.Block):
        return True
    definer = value.owner.operation
    return definer.block != op.block or definer.is_before_in_block(op)


def expand_loops(op: ir.Operation, splits: dict[int, Split]) -> None:
    """Replaces ``op`` (one result) by a ``linalg.generic`` with the loops in ``splits`` split, and a collapse of its
    result.
    """
    from kc.bindings import tensor

    form = read(op)
    widths = [len(splits[loop].sizes) if loop in splits else 1 for loop in range(form.loops)]
    first = [sum(widths[:loop]) for loop in range(form.loops)]  # new number of each old loop's first part
    maps, operands = [], []
    for number, (operand, positions) in enumerate(zip(form.operands, form.maps, strict=True)):
        exprs: list[ir.AffineExpr] = []
        groups: list[list[int]] = []
        sizes: list[Size] = []
        for axis, position in enumerate(positions or ()):
            loop = plain_dim(position)
            width = 1 if loop is None else widths[loop]
            if loop is None:
                exprs.append(_affine(position, first))
            else:
                exprs.extend(ir.AffineExpr.get_dim(first[loop] + part) for part in range(width))
            groups.append(list(range(len(exprs) - width, len(exprs))))
            if loop is not None and loop in splits:
                sizes += [(size, splits[loop].value) for size in splits[loop].sizes]
            else:
                sizes.append((static_size(operand, axis), (operand, axis)))
        maps.append(ir.AffineMapAttr.get(ir.AffineMap.get(sum(widths), 0, exprs)))
        operands.append(_expanded(operand, groups, sizes, op, is_init=number >= form.inputs))
        collapsed_groups = groups  # in the end, those of the result
    kinds = [form.reductions[loop] for loop in range(form.loops) for _ in range(widths[loop])]
    iterators = ir.ArrayAttr.get(
        [ir.Attribute.parse(f"#linalg.iterator_type<{'reduction' if kind else 'parallel'}>") for kind in kinds]
    )
    segments = ir.DenseI32ArrayAttr.get([form.inputs, len(form.operands) - form.inputs])
    attributes = {"indexing_maps": ir.ArrayAttr.get(maps), "iterator_types": iterators, "operandSegmentSizes": segments}
    result = operands[-1]
    with ir.InsertionPoint(op), op.location:
        new = ir.Operation.create("linalg.generic", [result.type], operands, attributes, regions=1)
        groups_attr = _groups(collapsed_groups)
        collapsed = tensor.CollapseShapeOp(op.results[0].type, new.results[0], groups_attr)
    block = op.regions[0].blocks[0]
    block.append_to(new.regions[0])
    _fix_indices(new, splits, first)
    op.results[0].replace_all_uses_with(collapsed.operation.results[0])
    op.erase()


#: an extent: static, or None and then an index value, or the (tensor, axis) to read it off
Size = tuple[int | None, ir.Value | tuple[ir.Value, int] | None]


def _groups(groups: Sequence[Sequence[int]]) -> ir.ArrayAttr:
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, axis) for axis in group]) for group in groups])


def _affine(position: Lin, first: Sequence[int]) -> ir.AffineExpr:
    terms, constant = position
    result = ir.AffineExpr.get_constant(constant)
    for dim, scale in terms:
        result = result + ir.AffineExpr.get_dim(first[dim]) * scale
    return result


def _expanded(
    operand: ir.Value, groups: list[list[int]], sizes: list[Size], before: ir.Operation, is_init: bool
) -> ir.Value:
    """``operand`` with its axes expanded to ``groups``; empty tensors and fills are made anew in the new shape."""
    from kc.bindings import tensor

    if all(len(group) == 1 for group in groups):
        return operand
    old = ir.RankedTensorType(operand.type)
    shape = [size if size is not None else ir.ShapedType.get_dynamic_size() for size, _ in sizes]
    new_type = ir.RankedTensorType.get(shape, old.element_type)
    owner = None if isinstance(operand.owner, ir.Block) else operand.owner.operation
    values = [_value_of(item, before) for size, item in sizes if size is None]
    with ir.InsertionPoint(before), before.location:
        if owner is not None and owner.name == "tensor.empty":
            return ir.Operation.create("tensor.empty", [new_type], values).results[0]
        if is_init and owner is not None and owner.name == "linalg.fill":
            empty = ir.Operation.create("tensor.empty", [new_type], values).results[0]
            return named.fill(owner.operands[0], empty)
        static = [size if size is not None else DYNAMIC for size, _ in sizes]
        return tensor.ExpandShapeOp(new_type, operand, _groups(groups), values, static).operation.results[0]


def _value_of(item: ir.Value | tuple[ir.Value, int] | None, before: ir.Operation) -> ir.Value:
    assert item is not None
    if isinstance(item, tuple):
        return size_value(item[0], item[1], before)
    return item


def _fix_indices(new: ir.Operation, splits: dict[int, Split], first: list[int]) -> None:
    """``linalg.index`` of an old loop becomes the linear combination of the new ones."""
    from kc.bindings import arith, linalg

    index, i64 = ir.IndexType.get(), ir.IntegerType.get_signless(64)
    for op in [item for item in walk_nested(new) if item.name == "linalg.index"]:
        loop = int(ir.IntegerAttr(op.attributes["dim"]).value)
        if loop not in splits:
            op.attributes["dim"] = ir.IntegerAttr.get(i64, first[loop])
            continue
        with ir.InsertionPoint(op), op.location:
            total = linalg.IndexOp(ir.IntegerAttr.get(i64, first[loop])).result
            for number, size in enumerate(splits[loop].sizes[1:], 1):
                extent = arith.constant(index, size) if size is not None else splits[loop].value
                part = linalg.IndexOp(ir.IntegerAttr.get(i64, first[loop] + number)).result
                total = arith.addi(arith.muli(total, extent), part)
        op.results[0].replace_all_uses_with(total)
        op.erase()
