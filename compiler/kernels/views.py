"""How the ``Reader`` reads tensor ops that are not linalg: constants, fills, casts, reshapes and slices."""
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kc import params
from kc.bindings import ir
from kc.kernels import expr as E
from kc.kernels.shapes import DYNAMIC, element_type, reassociation, static_size
from kc.kernels.structured import ZERO, Lin, Unreadable, combine, constant_value

if TYPE_CHECKING:
    from kc.kernels.reader import Reader


def _constant(reader: Reader, op: ir.Operation, coords: tuple[Lin, ...]) -> E.Expr:
    if not params.is_splat(op):
        raise Unreadable("a constant that is not a splat")
    if isinstance(ir.ShapedType(op.results[0].type).element_type, ir.ComplexType):
        raise Unreadable("a complex constant")
    value = ir.DenseElementsAttr(op.attributes["value"]).get_splat_value()
    return E.Const(constant_value(value), element_type(op.results[0]))


def _fill(reader: Reader, op: ir.Operation, coords: tuple[Lin, ...]) -> E.Expr:
    return reader.scalar(op.operands[0])


def _cast(reader: Reader, op: ir.Operation, coords: tuple[Lin, ...]) -> E.Expr:
    return reader.element(op.operands[0], coords)


def _empty(reader: Reader, op: ir.Operation, coords: tuple[Lin, ...]) -> E.Expr:
    raise Unreadable("reads an uninitialised tensor")


def _expand(reader: Reader, op: ir.Operation, coords: tuple[Lin, ...]) -> E.Expr:
    result = op.results[0]
    source_coords = []
    for group in reassociation(op):
        parts: list[tuple[Lin, int]] = []
        stride: int | None = 1
        for axis in reversed(group):
            if coords[axis] != ZERO:
                if stride is None:
                    raise Unreadable("tensor.expand_shape with a dynamic inner extent")
                parts.append((coords[axis], stride))
            size = reader.extents.size(result, axis)
            stride = None if stride is None or size is None else stride * size
        source_coords.append(combine(parts))
    return reader.element(op.operands[0], tuple(source_coords))


def _collapse(reader: Reader, op: ir.Operation, coords: tuple[Lin, ...]) -> E.Expr:
    source = op.operands[0]
    source_coords: list[Lin] = []
    if not coords:  # to rank 0: every source axis has extent 1
        source_coords = [ZERO] * ir.RankedTensorType(source.type).rank
    for group, coordinate in zip(reassociation(op), coords, strict=True):
        wide = [axis for axis in group if reader.extents.size(source, axis) != 1]
        split: dict[int, Lin] = {}
        rest = coordinate
        for position, axis in enumerate(reversed(wide)):
            if position == len(wide) - 1:
                split[axis] = rest
                break
            rest, split[axis] = _divide(reader, rest, reader.extents.size(source, axis))
        source_coords.extend(split.get(axis, ZERO) for axis in group)
    return reader.element(source, tuple(source_coords))


def _divide(reader: Reader, coordinate: Lin, size: int | None) -> tuple[Lin, Lin]:
    """``coordinate`` as (quotient, remainder) by ``size`` where both are linear and the remainder provably in range."""
    terms, constant = coordinate
    if not terms and constant == 0:
        return ZERO, ZERO
    if size is None:
        raise Unreadable("tensor.collapse_shape of a dynamic inner extent")
    inner = tuple((dim, scale) for dim, scale in terms if scale % size)
    outer = tuple((dim, scale // size) for dim, scale in terms if scale % size == 0)
    remainder = constant % size
    low = high = remainder
    for dim, scale in inner:
        extent = reader.extents.size(*reader.dims[dim])
        if extent is None:
            raise Unreadable("tensor.collapse_shape indexed by a dynamic dim")
        low, high = low + min(0, scale * (extent - 1)), high + max(0, scale * (extent - 1))
    if low < 0 or high >= size:
        raise Unreadable("tensor.collapse_shape indexed across its rows")
    return (outer, constant // size), (inner, remainder)


def static_slice(op: ir.Operation) -> tuple[list[int], list[int], list[int]]:
    """(offsets, sizes, strides) of a slice op, with ``kDynamic`` for dynamic ones."""
    return tuple(  # type: ignore[return-value]
        [int(item) for item in ir.DenseI64ArrayAttr(op.attributes[name])]
        for name in ("static_offsets", "static_sizes", "static_strides")
    )


def _slice(reader: Reader, op: ir.Operation, coords: tuple[Lin, ...]) -> E.Expr:
    offsets, sizes, strides = static_slice(op)
    if DYNAMIC in offsets or DYNAMIC in strides:
        raise Unreadable("tensor.extract_slice at a dynamic offset")
    result_type = ir.RankedTensorType(op.results[0].type)
    kept: list[int | None] = []
    axis = 0
    for number, size in enumerate(sizes):
        left = len(sizes) - number
        spare = result_type.rank - axis < left  # fewer axes left in the result than in the source
        if size == 1 and spare and (axis >= result_type.rank or static_size(op.results[0], axis) != 1):
            kept.append(None)
            continue
        kept.append(axis)
        axis += 1
    if axis != result_type.rank:
        raise Unreadable("tensor.extract_slice that drops axes in an unknown way")
    source_coords = tuple(
        combine([(coords[axis], strides[i])], offsets[i]) if axis is not None else ((), offsets[i])
        for i, axis in enumerate(kept)
    )
    return reader.element(op.operands[0], source_coords)


def _from_elements(reader: Reader, op: ir.Operation, coords: tuple[Lin, ...]) -> E.Expr:
    if len(op.operands) != 1:
        raise Unreadable("tensor.from_elements of several values")
    return reader.scalar(op.operands[0])


HANDLERS: dict[str, Callable[[Reader, ir.Operation, tuple[Lin, ...]], E.Expr]] = {
    "arith.constant": _constant,
    "linalg.fill": _fill,
    "tensor.cast": _cast,
    "tensor.empty": _empty,
    "tensor.expand_shape": _expand,
    "tensor.collapse_shape": _collapse,
    "tensor.extract_slice": _slice,
    "tensor.from_elements": _from_elements,
    "tensor.splat": _fill,
}
