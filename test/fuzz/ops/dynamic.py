"""Operations whose shapes are operands: the results have unknown dimensions, and the sizes come at run time."""

from __future__ import annotations

import numpy as np

from ..builder import MAX_ELEMENTS, Builder, generic, ints
from ..facts import Facts, join
from ..program import Value
from ..tensors import ELEMENTS, Dyn, Tensor, dtype
from .movement import bounds


def _shape_operand(b: Builder, sizes: list[int]) -> Value:
    """A 1-d tensor that holds the sizes: an argument, a constant, or put together from the parts."""
    element = b.c.one_of(("i64", "i32"))
    array = np.array([int(n) for n in sizes], dtype(element)).reshape(len(sizes))
    if b.c.chance(30):
        return b.constant(array, element)
    facts = Facts(mag=64)
    if sizes and b.c.chance(30):
        known = [v for v in b.values if any(int(n) == sizes[0] for n in v.type.shape)]
        if known:
            v = b.c.one_of(known)
            axis = [int(n) for n in v.type.shape].index(sizes[0])
            size = b.op("get_dimension_size", [v], Tensor((), "i32"), facts, f"dimension = {axis} : i64")
            first = b.op("reshape", [size], Tensor((1,), "i32"), facts)
            if len(sizes) == 1:
                return first
            rest = b.given(array[1:].astype(np.int32), "i32", facts)
            return b.op("concatenate", [first, rest], Tensor((len(sizes),), "i32"), facts, "dimension = 0 : i64")
    return b.given(array, element, facts)


def _dyn(b: Builder, sizes: list[int]) -> tuple[int, ...]:
    return tuple(Dyn(n) if b.c.chance(70) else n for n in sizes)


def broadcast(b: Builder) -> None:
    x = b.any(ELEMENTS, (0, 3))
    out = [int(n) if n != 1 else b.c.one_of((1, 3, 2)) for n in x.type.shape]
    dims = list(range(len(out)))
    for _ in range(b.c.integer(0, 2)):
        at = b.c.integer(0, len(out))
        out.insert(at, b.c.one_of((2, 1, 3, 0)))
        dims = [d + (d >= at) for d in dims]
    t = x.type.shaped(*_dyn(b, out))
    if t.size > 4 * MAX_ELEMENTS:
        return
    b.op("dynamic_broadcast_in_dim", [x, _shape_operand(b, out)], t, x.facts, f"broadcast_dimensions = {ints(dims)}")


def reshape(b: Builder) -> None:
    x = b.any(ELEMENTS, (0, 4))
    left, out = x.type.size, []
    for n in (2, 3, 4):
        if left and left % n == 0 and b.c.chance(60):
            out.append(n)
            left //= n
    out.insert(b.c.integer(0, len(out)), left)
    t = x.type.shaped(*_dyn(b, out))
    b.op("dynamic_reshape", [x, _shape_operand(b, out)], t, x.facts)


def iota(b: Builder) -> None:
    out = [b.c.one_of((2, 3, 1, 8, 0)) for _ in range(b.c.integer(1, 3))]
    axis = b.c.integer(0, len(out) - 1)
    element = b.c.one_of(("i32", "f32", "i64", "ui8", "bf16", "i8"))
    t = Tensor(_dyn(b, out), element)
    b.op("dynamic_iota", [_shape_operand(b, out)], t, Facts(mag=float(out[axis])), f"iota_dimension = {axis} : i64")


def pad(b: Builder) -> None:
    x = b.any(ELEMENTS, (1, 3))
    v = b.scalar(x.type.element)
    low, high, inner, out = [], [], [], []
    for n in x.type.shape:
        i, lo, hi = b.c.one_of((0, 0, 1, 2)), b.c.one_of((0, 1, 2, -1)), b.c.one_of((0, 1, 3, -1))
        size = n + lo + hi + max(int(n) - 1, 0) * i
        if size < 0 or size > 40:
            i, lo, hi, size = 0, 0, 0, int(n)
        low.append(lo)
        high.append(hi)
        inner.append(i)
        out.append(int(size))
    t = x.type.shaped(*_dyn(b, out))
    if t.size > 4 * MAX_ELEMENTS:
        return
    sizes = [b.given(np.array(a, np.int64), "i64", Facts(mag=64)) for a in (low, high, inner)]
    b.op("dynamic_pad", [x, v, *sizes], t, join(x.facts, v.facts))


def slice_(b: Builder) -> None:
    x = b.any(ELEMENTS, (1, 3))
    start, limit, stride, out = bounds(b, x.type.shape, 50)
    sizes = [b.given(np.array(a, np.int64), "i64", Facts(mag=64)) for a in (start, limit, stride)]
    t = x.type.shaped(*_dyn(b, out))
    attributes = f"start_indices = {ints(start)}, limit_indices = {ints(limit)}, strides = {ints(stride)}"
    b.emit(
        generic("real_dynamic_slice", [x, *sizes], [t]),
        [(t, x.facts)],
        reference=(generic("slice", [x], [t], attributes),),
    )


def gather(b: Builder) -> None:
    """dynamic_gather along one dimension, whose slice sizes are an operand."""
    x = b.any(ELEMENTS, (1, 3), least=1)
    axis = b.c.integer(0, x.type.rank - 1)
    sizes = [1 if d == axis else int(n) for d, n in enumerate(x.type.shape)]
    count = b.c.one_of((2, 1, 5, 0))
    i = b.given(
        np.random.default_rng(b.c.integer(0, 999)).integers(-2, 9, (count,)).astype(np.int32), "i32", Facts(mag=9)
    )
    window = [n for d, n in enumerate(sizes) if d != axis]
    attributes = (
        f"dimension_numbers = #stablehlo.gather<offset_dims = {list(range(1, 1 + len(window)))}, "
        f"collapsed_slice_dims = [{axis}], start_index_map = [{axis}], index_vector_dim = 1>, "
        f"indices_are_sorted = false"
    )
    operand = b.given(np.array(sizes, np.int64), "i64", Facts(mag=64))
    t = x.type.shaped(count, *_dyn(b, window))
    b.op("dynamic_gather", [x, i, operand], t, x.facts, attributes)


def dimension_size(b: Builder) -> None:
    x = b.any(ELEMENTS, (1, 4))
    axis = b.c.integer(0, x.type.rank - 1)
    b.op("get_dimension_size", [x], Tensor((), "i32"), Facts(mag=128), f"dimension = {axis} : i64")
