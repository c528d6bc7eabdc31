"""Inclusive scans (cumulative sums and the like): sequential in blocks, blocks side by side."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from kc import params
from kc.bindings import ir
from kc.passes.conversion._emit import (
    Emitter,
    Index,
    element,
    is_complex,
    is_float,
    mark_nest,
    ranked,
    shape_of,
    tensor_type,
)
from kc.passes.conversion._movement import pad
from kc.passes.conversion._reshape import regroup
from kc.passes.conversion._window import Combine, Window

#: up to this size a window is folded element by element where the reducer may not be associative
_FOLDED = 512
#: elements that are scanned one after the other
_BLOCK = 64
#: the same along the last axis: on a GPU neighbouring threads are this far apart in memory (on an H200 a sum along rows
#: of 8192 takes 1.1 ms with 16, 3.5 ms with 64)
_LAST_BLOCK = 16


def scan_axis(
    window: Window,
    extents: Sequence[Any],
    same: Callable[[Any, Any], bool] = operator.eq,
    less_one: Callable[[Any], Any] = lambda n: n - 1,
) -> tuple[int, bool] | None:
    """The axis along which ``window`` is a scan of an operand of these extents, and whether it runs backwards.

    It is one when the window is as long as the axis, hangs over one end by all but one element, and leaves the other
    axes alone. None when it is no scan. Extents and padding are numbers, or symbols: ``same`` tells whether two of them
    are equal and ``less_one`` makes the one below.
    """
    rank = len(extents)
    if [*window.strides, *window.dilations, *window.base_dilations] != [1] * (3 * rank):
        return None
    wide = [a for a in range(rank) if window.extents[a] != 1]
    if len(wide) != 1 or any(window.low[a] != 0 or window.high[a] != 0 for a in range(rank) if a not in wide):
        return None
    axis = wide[0]
    size = extents[axis]
    if size is None or not same(window.extents[axis], size):
        return None
    low, high = window.low[axis], window.high[axis]
    if high == 0 and same(low, less_one(size)):
        return axis, False
    return (axis, True) if low == 0 and same(high, less_one(size)) else None


_IDEMPOTENT = frozenset({"stablehlo.and", "stablehlo.maximum", "stablehlo.minimum", "stablehlo.or"})
_NEUTRAL = {"stablehlo.add": 0, "stablehlo.multiply": 1, "stablehlo.xor": 0}
_SAME_VALUE = ("stablehlo.broadcast_in_dim", "stablehlo.convert", "stablehlo.reshape", "tensor.cast")


def may_scan(reducer: str | None, size: int | None) -> bool:
    """Whether a window along an axis of ``size`` may be scanned: the reducer must be associative.

    ``reducer`` names its only op; None is a larger region, which nobody can tell that of. It is taken at its word where
    the windows themselves would cost too much (the order of a reduction is then the implementation's choice).
    """
    if reducer is not None:
        return reducer in _IDEMPOTENT or reducer in _NEUTRAL
    return size is None or size > _FOLDED


def padding_matters(reducer: str | None, initial: ir.Value) -> bool:
    """Whether it can be told how often ``initial``, a tensor, is combined by the op named ``reducer`` (None: unknown).

    It cannot where it is the op's neutral element, or where taking a value twice is taking it once.
    """
    if reducer in _IDEMPOTENT:
        return False
    while not isinstance(initial.owner, ir.Block) and initial.owner.operation.name in _SAME_VALUE:
        initial = initial.owner.operation.operands[0]
    if isinstance(initial.owner, ir.Block) or reducer not in _NEUTRAL:
        return True
    constant = initial.owner.operation
    if constant.name not in ("arith.constant", "stablehlo.constant") or not params.is_splat(constant):
        return True
    if is_complex(element(initial)):
        return params.complex_splat(constant) != _NEUTRAL[reducer]
    value = ir.DenseElementsAttr(constant.attributes["value"]).get_splat_value()
    number = ir.FloatAttr(value).value if is_float(element(initial)) else ir.IntegerAttr(value).value
    return number != _NEUTRAL[reducer]


def scan(
    e: Emitter,
    inputs: Sequence[ir.Value],
    initial: Sequence[ir.Value],
    axis: int,
    reverse: bool,
    combine: Combine,
    padded: bool = False,
    levels: int = 3,
) -> list[ir.Value]:
    """Each element combined with ``initial`` and all elements before it (after it when ``reverse``), in order.

    An empty ``initial`` is none: the first element then stands for itself. ``padded``: a window that hangs over the end
    has ``initial`` in it once more for every element it is short of, as ``reduce_window`` defines it; say so where
    that makes a difference.

    Up to ``_BLOCK`` elements are taken one after the other, so that rounding is that of the op's definition. A longer
    axis is cut into blocks that are scanned side by side; the scan of their totals is combined into the blocks after
    (G. Blelloch, "Prefix sums and their applications", 1990): 2 n combinations instead of n, three passes over memory.
    Of an axis whose size is not known, totals are cut again at most ``levels`` times.
    """
    size = e.dim(inputs[0], axis)
    if padded and initial:
        return _scan_padded(e, inputs, initial, axis, reverse, combine)
    if reverse and initial:  # it comes before everything, and the scan begins at the end
        rest = scan(e, inputs, [], axis, reverse, combine, levels=levels)
        return _map(e, rest, lambda i, a: combine(i, [*a, *initial]))
    if size <= _BLOCK if isinstance(size, int) else levels == 0:
        return _sequential(e, inputs, initial, axis, reverse, combine)
    rank, sizes = ranked(inputs[0]).rank, e.dims(inputs[0])
    block = _block(size, _BLOCK if axis < ranked(inputs[0]).rank - 1 else _LAST_BLOCK)
    whole = _rounded_up(e, size, block)
    blocks = [_blocked(e, v, axis, whole, block, reverse) for v in inputs]
    scanned = _sequential(e, blocks, [], axis + 1, reverse, combine)
    totals = [_row(e, v, axis + 1, 0 if reverse else block - 1) for v in scanned]
    before = scan(e, totals, initial, axis, reverse, combine, levels=levels - 1)
    results = [_unblocked(e, v, axis, whole, sizes, reverse, t.type) for v, t in zip(scanned, inputs, strict=True)]
    skipped = e.sub(whole, size) if reverse else 0  # what was put in front
    last = e.sub(e.floordiv(whole, block), 1)

    def carry(i: Emitter, a: list[ir.Value]) -> Sequence[ir.Value]:
        here = a
        at: list[Index] = [i.linalg_index(d) for d in range(rank)]
        mine = i.floordiv(i.add(at[axis], skipped), block)
        other = i.index(i.add(mine, 1) if reverse else i.sub(mine, 1))
        first = i.cmpi("eq", i.index(mine), i.index(last if reverse else 0))
        # the read stays in bounds where its value is not used
        at[axis] = i.select(first, i.index(mine), other)
        carried = [i.extract(t, at) for t in before]
        alone = combine(i, [*here, *initial]) if initial else here
        together = _in_order(i, combine, reverse, carried, here)
        return [i.select(first, x, y) for x, y in zip(alone, together, strict=True)]

    return _map(e, results, carry)


def _in_order(
    e: Emitter, combine: Combine, reverse: bool, carried: Sequence[ir.Value], here: Sequence[ir.Value]
) -> Sequence[ir.Value]:
    """What was scanned so far combined with ``here``: it stands in front, or behind when the scan runs backwards."""
    return combine(e, [*carried, *here] if reverse else [*here, *carried])


def _map(e: Emitter, tensors: Sequence[ir.Value], body: Combine) -> list[ir.Value]:
    """``body`` of the elements of ``tensors`` (it also gets those of the results, which hold nothing)."""
    rank, count = ranked(tensors[0]).rank, len(tensors)
    outs = [e.empty(t.type, e.dims(tensors[0])) for t in tensors]
    identity = ir.AffineMap.get_identity(rank)
    parallel = ["parallel"] * rank
    return e.generic(tensors, outs, [identity] * (2 * count), parallel, lambda i, a: body(i, a[:count]))


def _block(size: Index, wanted: int) -> int:
    """A divisor of a known size near ``wanted`` where there is one, so that nothing has to be padded."""
    divisors = [d for d in range(wanted // 2, 2 * wanted + 1) if isinstance(size, int) and size % d == 0]
    return min(divisors, key=lambda d: abs(d - wanted), default=wanted)


def _rounded_up(e: Emitter, size: Index, block: int) -> Index:
    """``size`` rounded up to a multiple of ``block``."""
    return e.mul(e.floordiv(e.add(size, block - 1), block), block)


def _known(value: Index) -> int | None:
    return value if isinstance(value, int) else None


def _blocked(e: Emitter, value: ir.Value, axis: int, whole: Index, block: int, reverse: bool) -> ir.Value:
    """``axis`` as two: blocks, and within them. What fills the last (first when ``reverse``) block is not used."""
    rank, shape, t = ranked(value).rank, shape_of(value), element(value)
    short: list[Index] = [0] * rank
    nothing: list[Index] = [0] * rank
    short[axis] = e.sub(whole, e.dim(value, axis))
    long_type = tensor_type([_known(whole) if a == axis else n for a, n in enumerate(shape)], t)
    if short[axis] != 0:
        low, high = (short, nothing) if reverse else (nothing, short)
        value = pad(e, value, e.const(t, 0), long_type, low, high, nothing)
    sizes = e.dims(value)
    count = e.floordiv(whole, block)
    split = [*sizes[:axis], count, block, *sizes[axis + 1 :]]
    type_ = tensor_type([*shape[:axis], _known(count), block, *shape[axis + 1 :]], t)
    groups = [[d] if d < axis else [axis, axis + 1] if d == axis else [d + 1] for d in range(rank)]
    return regroup(e, "tensor.expand_shape", e.cast(value, long_type), groups, type_, split)


def _unblocked(
    e: Emitter, value: ir.Value, axis: int, whole: Index, sizes: list[Index], reverse: bool, type_: ir.Type
) -> ir.Value:
    rank, shape, t = len(sizes), shape_of(type_), element(value)
    groups = [[d] if d < axis else [axis, axis + 1] if d == axis else [d + 1] for d in range(rank)]
    long_type = tensor_type([_known(whole) if a == axis else n for a, n in enumerate(shape)], t)
    joined = regroup(e, "tensor.collapse_shape", value, groups, long_type, [])
    if isinstance(whole, int) and whole == sizes[axis]:
        return joined
    offsets: list[Index] = [0] * rank
    offsets[axis] = e.sub(whole, sizes[axis]) if reverse else 0
    return e.extract_slice(joined, offsets, sizes, [1] * rank, type_)


def _row(e: Emitter, value: ir.Value, axis: int, at: int) -> ir.Value:
    """Position ``at`` of ``axis`` (not the first one), without that axis."""
    sizes, shape, rank = e.dims(value), shape_of(value), ranked(value).rank
    offsets: list[Index] = [0] * rank
    offsets[axis], sizes[axis], shape[axis] = at, 1, 1
    part = e.extract_slice(value, offsets, sizes, [1] * rank, tensor_type(shape, element(value)))
    groups = [[d] for d in range(axis - 1)] + [[axis - 1, axis]] + [[d] for d in range(axis + 1, rank)]
    del shape[axis]
    return regroup(e, "tensor.collapse_shape", part, groups, tensor_type(shape, element(value)), [])


def _sequential(
    e: Emitter, inputs: Sequence[ir.Value], initial: Sequence[ir.Value], axis: int, reverse: bool, combine: Combine
) -> list[ir.Value]:
    """One element after the other along ``axis``; everything else side by side.

    Along the last axis what is carried is a scalar; otherwise it is read back from the row before, so that the
    innermost loop runs along memory.
    """
    rank, count = ranked(inputs[0]).rank, len(inputs)
    sizes = e.dims(inputs[0])
    outs = [e.empty(v.type, sizes) for v in inputs]
    if any(isinstance(n, int) and n == 0 for n in sizes):
        return outs
    size = sizes[axis]
    others = [n for a, n in enumerate(sizes) if a != axis]

    def place(i: Emitter, at: Sequence[Index], step: Index) -> list[Index]:
        along = i.sub(i.sub(size, 1), step) if reverse else step
        return [*at[:axis], along, *at[axis:]]

    def store(i: Emitter, values: Sequence[ir.Value], to: Sequence[ir.Value], at: list[Index]) -> list[ir.Value]:
        return [i.insert(v, t, at) for v, t in zip(values, to, strict=True)]

    def load(i: Emitter, tensors: Sequence[ir.Value], at: list[Index]) -> list[ir.Value]:
        return [i.extract(t, at) for t in tensors]

    def start(i: Emitter, at: Sequence[Index], to: Sequence[ir.Value]) -> tuple[list[ir.Value], list[ir.Value]]:
        first = place(i, at, 0)
        values = load(i, inputs, first)
        values = list(combine(i, [*values, *initial])) if initial else values
        return values, store(i, values, to, first)

    if axis == rank - 1:

        def row(i: Emitter, at: list[ir.Value], to: list[ir.Value]) -> Sequence[ir.Value]:
            def step(j: Emitter, k: ir.Value, carried: list[ir.Value]) -> Sequence[ir.Value]:
                here = place(j, at, k)
                values = list(_in_order(j, combine, reverse, carried[:count], load(j, inputs, here)))
                return [*values, *store(j, values, carried[count:], here)]

            values, filled = start(i, at, to)
            return i.for_(1, size, [*values, *filled], step)[count:]

        return _independent(e.nest(others, outs, row), len(others))

    def plane(i: Emitter, at: list[ir.Value], to: list[ir.Value]) -> Sequence[ir.Value]:
        def fill(j: Emitter, inner: list[ir.Value], t: list[ir.Value]) -> Sequence[ir.Value]:
            return start(j, [*at, *inner], t)[1]

        def step(j: Emitter, k: ir.Value, t: list[ir.Value]) -> Sequence[ir.Value]:
            def point(p: Emitter, inner: list[ir.Value], u: list[ir.Value]) -> Sequence[ir.Value]:
                here = place(p, [*at, *inner], k)
                before = load(p, u, place(p, [*at, *inner], p.sub(k, 1)))
                return store(p, _in_order(p, combine, reverse, before, load(p, inputs, here)), u, here)

            return j.nest(others[axis:], t, point)

        return i.for_(1, size, i.nest(others[axis:], to, fill), step)

    return _independent(e.nest(others[:axis], outs, plane), axis)


def _independent(results: list[ir.Value], depth: int) -> list[ir.Value]:
    """Mark the outer ``depth`` loops that made ``results``: what they scan is side by side."""
    mark_nest(results, depth, "kc.independent")
    return results


def _scan_padded(
    e: Emitter, inputs: Sequence[ir.Value], initial: Sequence[ir.Value], axis: int, reverse: bool, combine: Combine
) -> list[ir.Value]:
    """A window that is k elements short has k + 1 times ``initial`` in it: before them, or around them backwards."""
    scanned = scan(e, inputs, [], axis, reverse, combine)
    size = e.dim(inputs[0], axis)
    line = [e.splat(tensor_type([_known(size)], v.type), [size], v) for v in initial]
    repeated = scan(e, line, [], 0, False, combine)

    def together(i: Emitter, a: list[ir.Value]) -> Sequence[ir.Value]:
        here, at = a, i.linalg_index(axis)
        if not reverse:
            short = i.sub(i.sub(size, 1), at)
            return combine(i, [*here, *(i.extract(t, [short]) for t in repeated)])
        first = combine(i, [*here, *initial])
        none = i.cmpi("eq", at, i.index(0))
        pads = [i.extract(t, [i.index(i.max(0, i.sub(at, 1)))]) for t in repeated]
        both = combine(i, [*pads, *first])
        return [i.select(none, x, y) for x, y in zip(first, both, strict=True)]

    return _map(e, scanned, together)
