"""Data movement with static geometry."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ..builder import MAX_ELEMENTS, Builder, ints
from ..facts import Facts, join
from ..tensors import ELEMENTS, Dyn, Tensor, is_integer


def broadcast(b: Builder) -> None:
    x = b.any(ELEMENTS, (0, 3))
    shape = list(x.type.shape)
    dims = list(range(len(shape)))
    out = [n if n != 1 else b.c.one_of((1, 2, 5)) for n in shape]
    for _ in range(b.c.integer(0 if out else 1, 2)):
        at = b.c.integer(0, len(out))
        out.insert(at, b.c.one_of((2, 1, 3, 8)))
        dims = [d + (d >= at) for d in dims]
    if b.c.chance(25) and len(dims) > 1:
        p = b.c.permutation(len(out))
        out = [out[p.index(i)] for i in range(len(out))]
        dims = [p[d] for d in dims]
    if Tensor(tuple(out), "f32").size > 4 * MAX_ELEMENTS or any(isinstance(n, Dyn) for n in out):
        return
    b.op("broadcast_in_dim", [x], x.type.shaped(*out), x.facts, f"broadcast_dimensions = {ints(dims)}")


def reshape(b: Builder) -> None:
    x = b.any(ELEMENTS, (0, 5), lambda v: not any(isinstance(n, Dyn) for n in v.type.shape))
    if any(isinstance(n, Dyn) for n in x.type.shape):
        return
    size, shape = x.type.size, list(x.type.shape)
    style = b.c.integer(0, 3)
    if style == 0:
        shape = [size]
    elif style == 1:
        shape.insert(b.c.integer(0, len(shape)), 1)
    elif style == 2 and len(shape) > 1:
        at = b.c.integer(0, len(shape) - 2)
        shape[at : at + 2] = [shape[at] * shape[at + 1]]
    else:
        left, shape = size, []
        for n in (2, 3, 4):
            if left and left % n == 0 and b.c.chance(60):
                shape.append(n)
                left //= n
        shape.insert(b.c.integer(0, len(shape)), left)
    b.op("reshape", [x], x.type.shaped(*shape), x.facts)


def transpose(b: Builder) -> None:
    x = b.any(ELEMENTS, (1, 5))
    p = b.c.permutation(x.type.rank)
    b.op("transpose", [x], x.type.shaped(*(x.type.shape[i] for i in p)), x.facts, f"permutation = {ints(p)}")


def bounds(b: Builder, shape: Sequence[int], early: int) -> tuple[list[int], ...]:
    """Start, limit and stride of a slice for each dimension, and the extents of what it takes.

    ``early``: the chance in percent that a dimension is not taken to its end.
    """
    start, limit, stride, out = [], [], [], []
    for n in shape:
        lo = b.c.integer(0, n)
        hi = b.c.integer(lo, n) if b.c.chance(early) else int(n)
        step = b.c.one_of((1, 1, 2, 3))
        start.append(lo)
        limit.append(hi)
        stride.append(step)
        out.append(-(-(hi - lo) // step))
    return start, limit, stride, out


def slice_(b: Builder) -> None:
    x = b.any(ELEMENTS, (1, 4))
    start, limit, stride, out = bounds(b, x.type.shape, 40)
    attributes = f"start_indices = {ints(start)}, limit_indices = {ints(limit)}, strides = {ints(stride)}"
    b.op("slice", [x], x.type.shaped(*out), x.facts, attributes)


def pad(b: Builder) -> None:
    x = b.any(ELEMENTS, (0, 4))
    v = b.scalar(x.type.element)
    low, high, interior, out = [], [], [], []
    for n in x.type.shape:
        i = b.c.one_of((0, 0, 1, 2))
        lo, hi = b.c.one_of((0, 1, 2, -1)), b.c.one_of((0, 1, 3, -1, -2))
        size = n + lo + hi + max(n - 1, 0) * i
        if size < 0 or size > 40:
            lo, hi, i, size = 0, 0, 0, int(n)
        low.append(lo)
        high.append(hi)
        interior.append(i)
        out.append(size)
    t = x.type.shaped(*out)
    if t.size > 4 * MAX_ELEMENTS:
        return
    attributes = (
        f"edge_padding_low = {ints(low)}, edge_padding_high = {ints(high)}, interior_padding = {ints(interior)}"
    )
    b.op("pad", [x, v], t, join(x.facts, v.facts), attributes)


def concatenate(b: Builder) -> None:
    x = b.any(ELEMENTS, (1, 4))
    axis = b.c.integer(0, x.type.rank - 1)
    parts = [x]
    for _ in range(b.c.integer(0, 2)):
        shape = list(x.type.shape)
        shape[axis] = b.size(9)
        parts.append(b.like(x.type.shaped(*shape)))
    shape = list(x.type.shape)
    shape[axis] = sum(int(p.type.shape[axis]) for p in parts)
    t = x.type.shaped(*shape)
    b.op("concatenate", parts, t, join(*(p.facts for p in parts)), f"dimension = {axis} : i64")


def reverse(b: Builder) -> None:
    x = b.any(ELEMENTS, (1, 4))
    dims = b.c.subset(range(x.type.rank)) or [0]
    b.op("reverse", [x], x.type, x.facts, f"dimensions = {ints(dims)}")


def iota(b: Builder) -> None:
    shape = tuple(int(n) for n in b.shape((1, 3)))
    axis = b.c.integer(0, len(shape) - 1)
    element = b.c.one_of(("i32", "f32", "i64", "ui8", "bf16", "i8", "f64", "f16", "ui32", "complex<f32>"))
    top = max(int(shape[axis]) - 1, 0)
    if is_integer(element) and top > 127:
        return
    b.op("iota", [], Tensor(shape, element), Facts(mag=float(top)), f"iota_dimension = {axis} : i64")


def dynamic_slice(b: Builder) -> None:
    x = b.any(ELEMENTS, (1, 4))
    kind = b.c.one_of(("i32", "i64", "ui32", "i8", "ui8"))
    starts = [b.index(kind) for _ in x.type.shape]
    sizes = [
        b.c.integer(0, n) if b.c.chance(30) else int(n) if b.c.chance(30) else min(int(n), 1) for n in x.type.shape
    ]
    facts = join(x.facts, *(dataclasses.replace(x.facts, exact=s.facts.exact) for s in starts))
    b.op("dynamic_slice", [x, *starts], x.type.shaped(*sizes), facts, f"slice_sizes = {ints(sizes)}")


def dynamic_update_slice(b: Builder) -> None:
    x = b.any(ELEMENTS, (1, 4))
    kind = b.c.one_of(("i32", "i64", "ui32", "i8", "ui8"))
    starts = [b.index(kind) for _ in x.type.shape]
    sizes = [b.c.integer(0, n) if b.c.chance(60) else min(int(n), 2) for n in x.type.shape]
    u = b.like(x.type.shaped(*sizes))
    facts = join(x.facts, u.facts, *(dataclasses.replace(x.facts, exact=s.facts.exact) for s in starts))
    b.op("dynamic_update_slice", [x, u, *starts], x.type, facts)


def barrier(b: Builder) -> None:
    held = [b.any(ELEMENTS) for _ in range(b.c.integer(1, 3))]
    names = ", ".join(f"%{v.name}" for v in held)
    types = ", ".join(str(v.type) for v in held)
    b.emit(f'"stablehlo.optimization_barrier"({names}) : ({types}) -> ({types})', [(v.type, v.facts) for v in held])
