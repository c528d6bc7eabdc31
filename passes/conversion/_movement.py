"""Broadcast, iota and pad for extents that may only be known at run time."""

from __future__ import annotations

from collections.abc import Sequence

from kc.bindings import ir
from kc.passes.conversion._emit import (
    Emitter,
    Index,
    element,
    int_type,
    is_complex,
    is_float,
    ranked,
    shape_of,
    tensor_type,
    width,
)


def broadcast(
    e: Emitter,
    operand: ir.Value,
    type_: ir.Type,
    extents: Sequence[Index],
    dims: Sequence[int],
    unsure: Sequence[int] = (),
) -> ir.Value:
    """Axis ``a`` of ``operand`` becomes axis ``dims[a]`` of the result, an extent of 1 is repeated.

    ``unsure``: axes of ``operand`` whose run-time extent may be 1 where the result's is not; they are read by a
    computed index.
    """
    rank = ranked(type_).rank
    shape = shape_of(operand)
    if unsure:
        sizes = {axis: e.index(e.dim(operand, axis)) for axis in unsure}

        def body(i: Emitter, at: list[ir.Value]) -> ir.Value:
            indices: list[Index] = []
            for axis, target in enumerate(dims):
                if axis in sizes:
                    one = i.cmpi("eq", sizes[axis], i.index(1))
                    indices.append(i.select(one, i.index(0), at[target]))
                else:
                    indices.append(0 if shape[axis] == 1 else at[target])
            return i.extract(operand, indices)

        return e.tabulate(type_, extents, body)
    exprs = [
        ir.AffineConstantExpr.get(0)
        if shape[axis] == 1 and shape_of(type_)[target] != 1
        else ir.AffineDimExpr.get(target)
        for axis, target in enumerate(dims)
    ]
    maps = [ir.AffineMap.get(rank, 0, exprs), ir.AffineMap.get_identity(rank)]
    init = e.empty(type_, extents)
    return e.generic([operand], [init], maps, ["parallel"] * rank, lambda _, a: [a[0]])[0]


def cast_elements(e: Emitter, value: ir.Value, type_: ir.Type) -> ir.Value:
    """Every element of ``value`` in another float (or complex, for complex) type."""
    if element(value) == type_:
        return value
    identity = ir.AffineMap.get_identity(ranked(value).rank)
    init = e.empty(tensor_type(shape_of(value), type_), e.dims(value))

    def body(i: Emitter, a: list[ir.Value]) -> Sequence[ir.Value]:
        if not is_complex(type_):
            return [i.to_float(a[0], type_)]
        part, old = ir.ComplexType(type_).element_type, ir.ComplexType(a[0].type).element_type
        parts = [i.to_float(i.one(name, [a[0]], old), part) for name in ("complex.re", "complex.im")]
        return [i.one("complex.create", parts, type_)]

    return e.generic([value], [init], [identity, identity], ["parallel"] * ranked(value).rank, body)[0]


def iota(e: Emitter, type_: ir.Type, extents: Sequence[Index], axis: int) -> ir.Value:
    """0, 1, 2 ... along ``axis``, converted to the element type."""
    target = element(type_)

    def body(i: Emitter, at: list[ir.Value]) -> ir.Value:
        if is_float(target) or is_complex(target):
            part = ir.ComplexType(target).element_type if is_complex(target) else target
            last = extents[axis]
            exact = ir.F32Type.get() if isinstance(last, int) and last <= 1 << 24 else ir.F64Type.get()
            wide = part if width(part) >= 32 else exact  # of the narrow ones each number is rounded once
            real = i.to_float(i.one("arith.uitofp", [i.to_int(at[axis], int_type(64))], wide), part)
            return i.one("complex.create", [real, i.const(part, 0.0)], target) if is_complex(target) else real
        if width(target) == 1:  # converted, not cut: 2 is true
            return i.cmpi("ne", at[axis], i.index(0))
        return i.to_int(at[axis], target)

    return e.tabulate(type_, extents, body)


def pad(
    e: Emitter,
    operand: ir.Value,
    value: ir.Value,
    type_: ir.Type,
    low: Sequence[Index],
    high: Sequence[Index],
    interior: Sequence[Index],
) -> ir.Value:
    """``stablehlo.pad``: ``interior`` elements between neighbours, then ``low`` and ``high`` at the ends.

    Negative ends cut elements off after the interior padding was put in.
    """
    sizes = e.dims(operand)
    steps = [e.add(k, 1) for k in interior]
    # after interior padding: n + (n - 1) * k elements, none for n = 0
    dilated = [e.max(0, e.sub(e.mul(n, s), e.sub(s, 1))) for n, s in zip(sizes, steps, strict=True)]
    extents = [e.add(e.add(d, lo), hi) for d, lo, hi in zip(dilated, low, high, strict=True)]
    # the result's type may know more than the operand's
    extents = [x if n is None else n for n, x in zip(shape_of(type_), extents, strict=True)]
    known = [lo for lo in (*low, *high, *interior) if isinstance(lo, int)]
    whole = len(known) == 3 * len(sizes)
    if whole and all(isinstance(n, int) for n in sizes) and not all(sizes):  # an empty operand: nothing to insert
        return e.splat(type_, extents, value)
    if any(isinstance(lo, int) and isinstance(x, int) and lo >= x for lo, x in zip(low, extents, strict=True)):
        return e.splat(type_, extents, value)  # the operand would begin where the result ends
    if whole and all(n >= 0 for n in known) and not any(interior):
        return _tensor_pad(e, operand, value, type_, low, high)  # type: ignore[arg-type]
    # the elements from first to last (inclusive) of each axis land inside of the result
    result = e.splat(type_, extents, value)
    first, counts, offsets = [], [], []
    for n, s, lo, extent in zip(sizes, steps, low, extents, strict=True):
        skipped = e.max(0, e.floordiv(e.add(e.sub(0, lo), e.sub(s, 1)), s)) if not isinstance(lo, int) or lo < 0 else 0
        start = e.add(e.mul(skipped, s), lo)
        room = e.max(0, e.sub(extent, start))
        fit = e.floordiv(e.add(room, e.sub(s, 1)), s)
        if isinstance(fit, int) and fit == 0:  # no element of the operand lands inside
            return result
        first.append(e.min(skipped, n))
        counts.append(e.max(0, e.min(e.sub(n, skipped), fit)))
        offsets.append(start)
    if any(isinstance(c, int) and c == 0 for c in counts):
        return result
    # a run-time count of 0 must not leave an offset beyond the end
    offsets = [o if isinstance(o, int) and o == 0 else e.min(o, x) for o, x in zip(offsets, extents, strict=True)]
    slice_type = tensor_type(
        [c if isinstance(c, int) else ir.ShapedType.get_dynamic_size() for c in counts], element(operand)
    )
    ones: list[Index] = [1] * len(sizes)
    part = e.extract_slice(operand, first, counts, ones, slice_type)
    return e.insert_slice(part, result, offsets, counts, steps)


def _tensor_pad(
    e: Emitter, operand: ir.Value, value: ir.Value, type_: ir.Type, low: Sequence[int], high: Sequence[int]
) -> ir.Value:
    if not any((*low, *high)):
        return e.cast(operand, type_)
    rank = len(low)
    padded = e.op(
        "tensor.pad",
        [operand],
        [type_],
        {
            "static_low": ir.DenseI64ArrayAttr.get(list(low)),
            "static_high": ir.DenseI64ArrayAttr.get(list(high)),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0]),
        },
        regions=1,
    )
    block = padded.regions[0].blocks.append(*[ir.IndexType.get()] * rank, arg_locs=[e.loc] * rank)
    e.at_end(block).op("tensor.yield", [value], [])
    return padded.result
