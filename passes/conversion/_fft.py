"""Fast Fourier transforms along an axis of complex tensors, as loop nests."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from kc.bindings import ir
from kc.passes.conversion import _fft_tables as tables
from kc.passes.conversion._butterfly import Butterfly, Pair
from kc.passes.conversion._emit import Emitter, Index, element, mark_nest, shape_of, tensor_type
from kc.passes.conversion._reshape import regroup

#: rows of fewer elements are not worth an innermost loop
_SHORT = 8


def part_type(value: ir.Value) -> ir.Type:
    """The float type of a complex tensor's (or a float tensor's) elements."""
    t = element(value)
    return ir.ComplexType(t).element_type if isinstance(t, ir.ComplexType) else t


def split(e: Emitter, value: ir.Value) -> Pair:
    """Real and imaginary part of a complex scalar."""
    part = ir.ComplexType(value.type).element_type
    return e.one("complex.re", [value], part), e.one("complex.im", [value], part)


def join(e: Emitter, pair: Pair) -> ir.Value:
    return e.one("complex.create", list(pair), ir.ComplexType.get(pair[0].type))


class Table:
    """Pairs of floats as a constant ``tensor<N x 2>``, computed in f64 and rounded to the type of the data."""

    def __init__(self, e: Emitter, pairs: Any, part: ir.Type):
        import numpy as np

        values = np.ascontiguousarray(pairs, np.float32 if str(part) == "f32" else np.float64)
        attr = ir.DenseElementsAttr.get(values)
        self.tensor = e.one("arith.constant", [], tensor_type(values.shape, part), {"value": attr})

    def at(self, e: Emitter, index: Index) -> Pair:
        return e.extract(self.tensor, [index, 0]), e.extract(self.tensor, [index, 1])


def fft(e: Emitter, value: ir.Value, n: int, inverse: bool, part_of_another: bool = False) -> ir.Value:
    """The unscaled transform of complex ``value`` [batch, n] or [batch, n, columns] along axis 1.

    A self-sorting Stockham transform (C. Temperton, J. Comp. Phys. 52, 1983), a pass per factor of ``n``; passes of
    equal radix are iterations of one loop. A length with a prime factor above ``LARGEST_PRIME`` is a convolution with
    a chirp (L. Bluestein, "A linear filtering approach to the computation of discrete Fourier transform", 1970) by way
    of transforms of a smooth length. Works in the data's own precision.

    ``part_of_another``: ``value`` is a slice, which the first pass then reads as it lies, outside the loop of passes.
    """
    if n == 1:
        return value
    radices = tables.factors(n)
    if radices is None:
        return _bluestein(e, value, n, inverse)
    table = Table(e, tables.twiddles(radices, n), part_type(value))
    done, rest, offset = 1, n, 0
    groups = [(radix, len(list(equal))) for radix, equal in itertools.groupby(radices[:-1])]
    if part_of_another and groups and groups[0][1] > 1:
        groups[:1] = [(groups[0][0], 1), (groups[0][0], groups[0][1] - 1)]
    for radix, count in [*groups, (radices[-1], 1)]:  # the last pass turns nothing and has its own code
        plan = _Pass(radix, table, inverse, innermost="k" if rest // radix < _SHORT else "m")
        if count == 1:
            value = plan.emit(e, value, done, rest // radix, offset)
        else:

            def again(i: Emitter, _: ir.Value, c: list[ir.Value], plan: _Pass = plan) -> Sequence[ir.Value]:
                result = plan.emit(i, c[0], c[1], c[2], c[3])
                offset = i.add(c[3], i.mul(c[2], plan.radix - 1))
                done, rest = i.mul(c[1], plan.radix), i.floordiv(c[2], plan.radix)
                return [result, i.index(done), i.index(rest), i.index(offset)]

            start = [value, e.index(done), e.index(rest // radix), e.index(offset)]
            value = e.for_(0, count, start, again)[0]
        for _ in range(count):
            done, rest = done * radix, rest // radix
            offset += rest * (radix - 1)
    return value


@dataclasses.dataclass(frozen=True)
class _Pass:
    """Butterflies over ``radix`` rows, from [batch, done, radix, rest] to [batch, radix, done, rest].

    The loops are over batch, k < done and m < rest; ``innermost`` names the one that is. Columns, where the data have
    some, are one more axis and the innermost loop.
    """

    radix: int
    table: Table
    inverse: bool
    innermost: str

    def emit(self, e: Emitter, value: ir.Value, done: Index, rest: Index, offset: Index) -> ir.Value:
        """``offset`` is where the pass's roots begin in the table; ``done`` and ``rest`` may be run-time values."""
        radix, (batch, n, *columns) = self.radix, e.dims(value)
        known = [x if isinstance(x, int) else None for x in (batch, done, rest, *columns)]
        t = element(value)
        loose = value.type if None not in known[1:3] else tensor_type([known[0], None, *known[3:]], t)
        groups = [[0], [1, 2, 3], *[[4] for _ in columns]]
        source_type = tensor_type([known[0], known[1], radix, *known[2:]], t)
        sizes = [batch, done, radix, rest, *columns]
        source = regroup(e, "tensor.expand_shape", e.cast(value, loose), groups, source_type, sizes)
        result_type = tensor_type([known[0], radix, *known[1:]], t)
        result = e.empty(result_type, [batch, radix, done, rest, *columns])
        swapped = self.innermost == "k" and not columns

        def body(i: Emitter, at: list[ir.Value], carried: list[ir.Value]) -> Sequence[ir.Value]:
            b, k, m, *column = [at[0], at[2], at[1]] if swapped else at
            out = carried[0]

            def read(here: Emitter, j: Index) -> Pair:
                return split(here, here.extract(source, [b, k, j, m, *column]))

            def twiddle(here: Emitter, q: Index) -> Pair:
                return self.table.at(here, here.add(here.add(here.mul(here.sub(q, 1), rest), m), offset))

            def write(here: Emitter, q: Index, pair: Pair, to: ir.Value) -> ir.Value:
                return here.insert(join(here, pair), to, [b, q, k, m, *column])

            if radix not in Butterfly.RADICES:
                return [_long_butterfly(i, radix, self.inverse, out, read, twiddle, write)]
            fly = Butterfly(i, part_type(value), self.inverse)
            for q, pair in enumerate(fly.transform([read(i, j) for j in range(radix)])):
                turned = pair if q == 0 or rest == 1 else fly.multiply(pair, twiddle(i, q))
                out = write(i, q, turned, out)
            return [out]

        loops = [batch, rest, done] if swapped else [batch, done, rest, *columns]
        out = e.nest(loops, [result], body)[0]
        mark_nest([out], len(loops), "kc.independent")
        return e.cast(regroup(e, "tensor.collapse_shape", out, groups, loose, [batch, n, *columns]), value.type)


def _long_butterfly(
    e: Emitter,
    radix: int,
    inverse: bool,
    out: ir.Value,
    read: Callable[[Emitter, Index], Pair],
    twiddle: Callable[[Emitter, Index], Pair],
    write: Callable[[Emitter, Index, Pair, ir.Value], ir.Value],
) -> ir.Value:
    """A butterfly of prime size by its sums, in loops; added up in f64."""
    f64 = ir.F64Type.get()
    roots = Table(e, tables.roots(range(radix), radix), f64)

    def output(i: Emitter, q: ir.Value, carried: list[ir.Value]) -> Sequence[ir.Value]:
        def add(j: Emitter, p: ir.Value, sums: list[ir.Value]) -> Sequence[ir.Value]:
            fly = Butterfly(j, f64, inverse)
            real, imaginary = read(j, p)
            wide = (j.to_float(real, f64), j.to_float(imaginary, f64))
            return fly.add((sums[0], sums[1]), fly.multiply(wide, roots.at(j, j.rem(j.mul(p, q), radix))))

        zero = i.const(f64, 0.0)
        real, imaginary = i.for_(0, radix, [zero, zero], add)
        # the row before the first is not there: row 0 is turned by nothing
        w = twiddle(i, i.max(q, 1))
        first = i.cmpi("eq", q, i.index(0))
        one, nothing = i.const(w[0].type, 1.0), i.const(w[0].type, 0.0)
        w = (i.select(first, one, w[0]), i.select(first, nothing, w[1]))
        pair = (i.to_float(real, w[0].type), i.to_float(imaginary, w[0].type))
        return [write(i, q, Butterfly(i, w[0].type, inverse).multiply(pair, w), carried[0])]

    return e.for_(0, radix, [out], output)[0]


def _bluestein(e: Emitter, value: ir.Value, n: int, inverse: bool) -> ir.Value:
    """With j k = (j^2 + k^2 - (k - j)^2) / 2 the transform is chirp[k] times a convolution of x chirp with its inverse.

    The inverse transform is the conjugate of the transform of the conjugate.
    """
    part, t = part_type(value), element(value)
    length = tables.smooth_length(2 * n - 1)
    chirp = Table(e, tables.chirp(n), part)
    spectrum = Table(e, tables.chirp_spectrum(n, length), part)
    batch, _, *columns = e.dims(value)
    extents: list[Index] = [batch, length, *columns]
    long_type = tensor_type([shape_of(value)[0], length, *shape_of(value)[2:]], t)

    def turned(i: Emitter, pair: Pair, w: Pair) -> Pair:
        return Butterfly(i, part, False).multiply(pair, w)

    def conjugate(i: Emitter, pair: Pair) -> Pair:
        return (pair[0], i.unary("arith.negf", pair[1])) if inverse else pair

    def spread(i: Emitter, at: list[ir.Value]) -> ir.Value:
        b, j, *column = at
        inside = i.cmpi("slt", j, i.index(n))
        near = i.select(inside, j, i.index(0))
        pair = turned(i, conjugate(i, split(i, i.extract(value, [b, near, *column]))), chirp.at(i, near))
        zero = i.const(part, 0.0)
        return join(i, (i.select(inside, pair[0], zero), i.select(inside, pair[1], zero)))

    def twice(outer: Emitter, time: ir.Value, carried: list[ir.Value]) -> Sequence[ir.Value]:
        # one loop for both transforms, so that their code is there once: the way back is the conjugate of the way there
        transformed = fft(outer, carried[0], length, inverse=False)
        there = outer.cmpi("eq", time, outer.index(0))

        def filtered(i: Emitter, at: list[ir.Value]) -> ir.Value:
            plain = split(i, i.extract(transformed, at))
            pair = turned(i, plain, spectrum.at(i, at[1]))
            pair = (i.select(there, pair[0], plain[0]), i.select(there, pair[1], plain[1]))
            return join(i, (pair[0], i.unary("arith.negf", pair[1])))

        return [outer.tabulate(long_type, extents, filtered)]

    start = e.tabulate(long_type, extents, spread)
    back = e.for_(0, 2, [start], twice)[0]

    def finished(i: Emitter, at: list[ir.Value]) -> ir.Value:
        return join(i, conjugate(i, turned(i, split(i, i.extract(back, at)), chirp.at(i, at[1]))))

    return e.tabulate(value.type, [batch, n, *columns], finished)
