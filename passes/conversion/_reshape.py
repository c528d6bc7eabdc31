"""Reshapes as ``tensor.collapse_shape`` followed by ``tensor.expand_shape``, with as many dimensions kept as can be."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kc.bindings import ir
from kc.passes.conversion._emit import DYNAMIC, Emitter, Index, element, shape_of, tensor_type

Group = tuple[list[int], list[int]]


def group_dims(source: Sequence[int | None], target: Sequence[int | None]) -> list[Group]:
    """Pairs (source axes, target axes) that hold the same elements, in order.

    Neither has an extent of 0. Read from the right, because what is unknown is the batch, in front: static extents are
    matched by their products, and from the first unknown extent on the rest is one group, or one pair of equal rank-1
    ends.
    """
    groups: list[Group] = []
    i, j = len(source), len(target)
    while i and j:
        a, b = [i - 1], [j - 1]
        i, j = i - 1, j - 1
        while True:
            left, right = [source[k] for k in a], [target[k] for k in b]
            if None in left or None in right:
                if len(a) == len(b) == 1 and left == right and _one_unknown(source[:i], target[:j]):
                    break  # what is left in front is static on both sides, so these two extents are equal
                groups.append((list(range(i + len(a))), list(range(j + len(b)))))
                return groups[::-1]
            lp, rp = math.prod(left), math.prod(right)  # type: ignore[arg-type]
            if lp == rp:
                break
            if lp < rp and i:
                i -= 1
                a.insert(0, i)
            elif rp < lp and j:
                j -= 1
                b.insert(0, j)
            else:  # only reached when the products differ, which the verifier excludes
                groups.append((list(range(i + len(a))), list(range(j + len(b)))))
                return groups[::-1]
        groups.append((a, b))
    if groups:  # extents of 1 that are left in front
        a, b = groups[-1]
        groups[-1] = (list(range(i)) + a, list(range(j)) + b)
    return groups[::-1]


def _one_unknown(source: Sequence[int | None], target: Sequence[int | None]) -> bool:
    if None in source or None in target:
        return False
    return math.prod(source) == math.prod(target)  # type: ignore[arg-type]


def reshape(e: Emitter, value: ir.Value, type_: ir.Type, extents: Sequence[Index]) -> ir.Value:
    """``value`` in row-major order as ``type_``; ``extents`` are read where the type is dynamic."""
    source, target = shape_of(value), shape_of(type_)
    # with two unknown extents, or one beside a 0, the same type may hold another shape
    if source == target and (None not in source or (source.count(None) == 1 and 0 not in source)):
        return value
    if 0 in source or 0 in target:
        return e.empty(type_, extents)
    t = element(value)
    if not source or not target:
        flat = tensor_type([1] * len(source), t)
        value = e.cast(value, flat)
        name = "tensor.expand_shape" if not source else "tensor.collapse_shape"
        ones = tensor_type([1] * len(target), t)
        return e.cast(regroup(e, name, value, [], ones, [1] * len(target)), type_)
    groups = group_dims(source, target)
    before = [_product([source[k] for k in a]) for a, _ in groups]
    after = [_product([target[k] for k in b]) for _, b in groups]
    if any(len(a) > 1 for a, _ in groups):
        value = regroup(e, "tensor.collapse_shape", value, [a for a, _ in groups], _type(before, t), before)
    value = e.cast(value, _type(after, t))
    if any(len(b) > 1 for _, b in groups):
        value = regroup(e, "tensor.expand_shape", value, [b for _, b in groups], type_, extents)
    return e.cast(value, type_)


def _product(extents: Sequence[int | None]) -> int | None:
    return None if None in extents else math.prod(extents)  # type: ignore[arg-type]


def _type(extents: Sequence[int | None], type_: ir.Type) -> ir.Type:
    return tensor_type([DYNAMIC if n is None else n for n in extents], type_)


def regroup(
    e: Emitter, name: str, value: ir.Value, groups: list[list[int]], type_: ir.Type, extents: Sequence[Index | None]
) -> ir.Value:
    """``tensor.expand_shape`` or ``tensor.collapse_shape`` (``name``) with these groups of the longer shape's axes."""
    i64 = ir.IntegerType.get_signless(64)
    attributes: dict[str, ir.Attribute] = {
        "reassociation": ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, k) for k in g]) for g in groups])
    }
    operands = [value]
    if name == "tensor.expand_shape":
        shape = shape_of(type_)
        attributes["static_output_shape"] = ir.DenseI64ArrayAttr.get([DYNAMIC if n is None else n for n in shape])
        operands += [e.index(x) for x, n in zip(extents, shape, strict=True) if n is None]  # type: ignore[arg-type]
    return e.one(name, operands, type_, attributes)
