"""Sums over long axes in two stages, so that rounding grows with the root of their length."""

from __future__ import annotations

from collections.abc import Sequence

from kc.bindings import ir
from kc.passes.conversion._emit import Emitter, Index, element, ranked, shape_of, tensor_type
from kc.passes.conversion._movement import pad
from kc.passes.conversion._multiply_add import reassociable_add
from kc.passes.conversion._reshape import regroup

#: from these extents on an axis is summed in blocks: the last axis is summed in many lanes at once anyway
_LONG, _LONG_LAST = 1 << 15, 1 << 17
_BLOCK = 128
#: where what is left of a long axis is summed in one go
_SHORT = 1 << 12


def shorten(e: Emitter, value: ir.Value, axes: Sequence[int]) -> ir.Value:
    """``value``, floats, with every long one of ``axes`` replaced by the sums of its blocks.

    Adding up n numbers one after the other has an error of up to n roundings, of blocks of b and then of their sums n/b
    + b (N. Higham, "The accuracy of floating point summation", SIAM J. Sci. Comput. 14, 1993). An axis whose length has
    no suitable divisor is filled up with -0.0, the neutral element of addition.
    """
    for axis in axes:
        limit = _LONG_LAST if axis == ranked(value).rank - 1 else _LONG
        while (extent := shape_of(value)[axis]) is not None and extent > limit:
            value, limit = _block_sums(e, value, axis, extent), _SHORT
    return value


def _block_sums(e: Emitter, value: ir.Value, axis: int, extent: int) -> ir.Value:
    rank, shape, t = ranked(value).rank, shape_of(value), element(value)
    zero = e.const(t, -0.0)
    divisors = [d for d in range(_BLOCK // 2, 4 * _BLOCK + 1) if extent % d == 0]
    block = min(divisors, key=lambda d: abs(d - _BLOCK), default=_BLOCK)
    count = -(-extent // block)
    if count * block != extent:
        nothing: list[Index] = [0] * rank
        more = [count * block - extent if a == axis else 0 for a in range(rank)]
        whole = tensor_type([count * block if a == axis else n for a, n in enumerate(shape)], t)
        value = pad(e, value, zero, whole, nothing, more, nothing)
    sizes = e.dims(value)
    groups = [[d] if d < axis else [axis, axis + 1] if d == axis else [d + 1] for d in range(rank)]
    split_type = tensor_type([*shape[:axis], count, block, *shape[axis + 1 :]], t)
    extents = [*sizes[:axis], count, block, *sizes[axis + 1 :]]
    split = regroup(e, "tensor.expand_shape", value, groups, split_type, extents)
    short = [*sizes[:axis], count, *sizes[axis + 1 :]]
    init = e.splat(tensor_type([*shape[:axis], count, *shape[axis + 1 :]], t), short, zero)
    kept = [ir.AffineDimExpr.get(d) for d in range(rank + 1) if d != axis + 1]
    maps = [ir.AffineMap.get_identity(rank + 1), ir.AffineMap.get(rank + 1, 0, kept)]
    iterators = ["reduction" if d == axis + 1 else "parallel" for d in range(rank + 1)]
    return e.generic([split], [init], maps, iterators, lambda i, a: [reassociable_add(i, a[1], a[0])])[0]
