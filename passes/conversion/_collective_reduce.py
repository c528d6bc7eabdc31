"""Reductions across processes: the operands of a group, one after the other, folded with the op's region."""

from __future__ import annotations

from collections.abc import Sequence

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._collective_call import dtype_of
from kc.passes.conversion._emit import (
    Emitter,
    Index,
    element,
    is_complex,
    is_float,
    is_int,
    ranked,
    shape_of,
    tensor_type,
)
from kc.passes.conversion._region import inline_scalars, single_op
from kc.passes.conversion._scalar import unsigned_flags

_NATIVE = {
    "stablehlo.add": "sum",
    "stablehlo.multiply": "prod",
    "stablehlo.minimum": "min",
    "stablehlo.maximum": "max",
}
_FLOATS = ("f32", "f64", "bf16")
_INTEGERS = ("i8", "i32", "i64", "ui8", "ui32", "ui64")
_UNROLLED = 8  # groups up to this size are read side by side


def native_reduction(op: ir.Operation, x: ir.Value, result: ir.Type) -> dict[str, object] | None:
    """The fields of a reduction that the runtime (and NCCL) does itself; None for any other.

    A minimum or maximum of floats is none: NCCL's drop NaN. Nor is anything of other types than NCCL has.
    """
    if op.name == "stablehlo.cross-replica-sum":
        name, flags = "stablehlo.add", unsigned_flags(op)
    elif op.name == "stablehlo.all_reduce":
        name = single_op(op) or ""
        flags = unsigned_flags(op.regions[0].blocks[0].operations[0].operation) if name else ()
    else:
        return None
    reduction = _NATIVE.get(name)
    if reduction is None or element(x) != element(result):
        return None
    if op.name == "stablehlo.all_reduce" and element(op.regions[0].blocks[0].arguments[0]) != element(x):
        return None
    dtype = dtype_of(element(x), bool(flags) and flags[0])
    if dtype in _INTEGERS or (dtype in _FLOATS and reduction in ("sum", "prod")):
        return {"reduction": reduction, "dtype": dtype}
    return None


def fold_slots(
    e: Emitter,
    op: ir.Operation,
    slots: ir.Value,
    size: Index,
    result: ir.Type,
    ctx: PassContext,
    only_root: bool = False,
) -> ir.Value:
    """``slots[0] op slots[1] op ...`` over the first axis, in this order and in the element type of ``result``, of
    the shape of a slot.

    ``size``: how many slots are used; or the runtime's facts, a ``tensor<2xi64>`` with that number and the place of
    this process in its group. ``only_root``: zeros for all but the first of a group.
    """
    t = element(result)
    result = tensor_type(shape_of(slots)[1:], t)
    facts = size if isinstance(size, ir.Value) and isinstance(size.type, ir.RankedTensorType) else None
    extents: list[Index] = e.dims(slots)[1:]
    if isinstance(size, int) and size <= _UNROLLED and not only_root:
        return _side_by_side(e, op, slots, size, result, extents, ctx)

    def body(i: Emitter, at: list[ir.Value]) -> ir.Value:
        index = ir.IndexType.get()
        count: Index = size if facts is None else i.to_int(i.extract(facts, [0]), index)

        def step(j: Emitter, k: ir.Value, carried: list[ir.Value]) -> Sequence[ir.Value]:
            return _combine(j, op, carried[0], _promote(j, op, j.extract(slots, [k, *at]), t), ctx)

        first = _promote(i, op, i.extract(slots, [0, *at]), t)
        total = i.for_(1, count, [first], step)[0]
        if not only_root or facts is None:
            return total
        place = i.extract(facts, [1])
        return i.select(i.cmpi("eq", place, i.const(place.type, 0)), total, i.const(t, 0))

    return e.tabulate(result, extents, body)


def _side_by_side(
    e: Emitter,
    op: ir.Operation,
    slots: ir.Value,
    size: int,
    result: ir.Type,
    extents: Sequence[Index],
    ctx: PassContext,
) -> ir.Value:
    rank, t = ranked(result).rank, element(result)
    dims: list[ir.AffineExpr] = [ir.AffineDimExpr.get(d) for d in range(rank)]
    maps = [ir.AffineMap.get(rank, 0, [ir.AffineConstantExpr.get(k), *dims]) for k in range(size)]

    def body(i: Emitter, values: list[ir.Value]) -> Sequence[ir.Value]:
        total = _promote(i, op, values[0], t)
        for value in values[1:size]:
            total = _combine(i, op, total, _promote(i, op, value, t), ctx)[0]
        return [total]

    init = e.empty(result, extents)
    return e.generic([slots] * size, [init], [*maps, ir.AffineMap.get_identity(rank)], ["parallel"] * rank, body)[0]


def _combine(e: Emitter, op: ir.Operation, left: ir.Value, right: ir.Value, ctx: PassContext) -> list[ir.Value]:
    if op.name == "stablehlo.cross-replica-sum":
        if is_complex(left.type):
            return [e.bin("complex.add", left, right)]
        if ir.IntegerType.isinstance(left.type) and ir.IntegerType(left.type).width == 1:
            return [e.bin("arith.ori", left, right)]
        return [e.bin("arith.addf" if is_float(left.type) else "arith.addi", left, right)]
    return inline_scalars(e, op, [left, right], ctx)


def _promote(e: Emitter, op: ir.Operation, value: ir.Value, type_: ir.Type) -> ir.Value:
    """An operand's element in the (wider) type of the computation."""
    if value.type == type_:
        return value
    if is_complex(type_):
        part, old = ir.ComplexType(type_).element_type, ir.ComplexType(value.type).element_type
        parts = [e.to_float(e.one(name, [value], old), part) for name in ("complex.re", "complex.im")]
        return e.one("complex.create", parts, type_)
    if is_int(type_):
        flags = unsigned_flags(op)
        return e.to_int(value, type_, unsigned=bool(flags) and flags[0])
    return e.to_float(value, type_)


