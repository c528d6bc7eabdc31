"""Fourier transforms of real signals: of even length by a complex one of half the length."""

from __future__ import annotations

from kc.bindings import ir
from kc.passes.conversion import _fft_tables as tables
from kc.passes.conversion._butterfly import Butterfly, Pair
from kc.passes.conversion._emit import Emitter, element, shape_of, tensor_type
from kc.passes.conversion._fft import Table, fft, join, part_type, split


def to_hermitian(e: Emitter, value: ir.Value, n: int) -> ir.Value:
    """Real [batch, n] to its n/2 + 1 first coefficients, complex.

    Even and odd elements are real and imaginary part of a signal of half the length; E and O, the transforms of both,
    are its Hermitian and anti-Hermitian part, and X[k] = E[k] + exp(-2 pi i k / n) O[k].
    """
    part, half = element(value), n // 2
    number = ir.ComplexType.get(part)
    known, batch = shape_of(value)[0], e.dim(value, 0)
    if n % 2:
        zero = e.const(part, 0.0)

        def padded(i: Emitter, at: list[ir.Value]) -> ir.Value:
            return join(i, (i.extract(value, at), zero))

        signal = e.tabulate(tensor_type([known, n], number), [batch, n], padded)
        whole = fft(e, signal, n, inverse=False)
        return e.tabulate(
            tensor_type([known, half + 1], number),
            [batch, half + 1],
            lambda i, at: i.extract(whole, at),
        )

    def paired(i: Emitter, at: list[ir.Value]) -> ir.Value:
        even = i.mul(at[1], 2)
        return join(i, (i.extract(value, [at[0], even]), i.extract(value, [at[0], i.add(even, 1)])))

    signal = e.tabulate(tensor_type([known, half], number), [batch, half], paired)
    mixed = fft(e, signal, half, inverse=False)
    table = Table(e, tables.roots(range(half + 1), n), part)

    def coefficient(i: Emitter, at: list[ir.Value]) -> ir.Value:
        b, k = at
        here = i.select(i.cmpi("eq", k, i.index(half)), i.index(0), k)
        mirror = i.select(i.cmpi("eq", here, i.index(0)), here, i.index(i.sub(half, here)))
        x, y = split(i, i.extract(mixed, [b, here])), split(i, i.extract(mixed, [b, mirror]))
        fly = Butterfly(i, part, inverse=False)
        conjugate: Pair = (y[0], i.unary("arith.negf", y[1]))
        even, odd = fly.add(x, conjugate), fly.subtract(x, conjugate)
        over_i: Pair = (odd[1], i.unary("arith.negf", odd[0]))
        return join(i, fly.scale(fly.add(even, fly.multiply(over_i, table.at(i, k))), 0.5))

    return e.tabulate(tensor_type([known, half + 1], number), [batch, half + 1], coefficient)


def from_hermitian(e: Emitter, value: ir.Value, n: int) -> ir.Value:
    """The n/2 + 1 first coefficients [batch, n/2 + 1] of a real signal to the signal [batch, n], times n.

    The imaginary parts of coefficients that are their own conjugates (0 and, for even n, n/2) are not read.
    """
    part, half = part_type(value), n // 2
    known, batch = shape_of(value)[0], e.dim(value, 0)
    result = tensor_type([known, n], part)

    def own(i: Emitter, b: ir.Value, k: ir.Value) -> Pair:
        real, imaginary = split(i, i.extract(value, [b, k]))
        single = i.cmpi("eq", k, i.index(0))
        if n % 2 == 0:
            single = i.bin("arith.ori", single, i.cmpi("eq", k, i.index(half)))
        return real, i.select(single, i.const(part, 0.0), imaginary)

    def conjugate(i: Emitter, pair: Pair) -> Pair:
        return pair[0], i.unary("arith.negf", pair[1])

    if n % 2:

        def mirrored(i: Emitter, at: list[ir.Value]) -> ir.Value:
            b, k = at
            beyond = i.cmpi("sgt", k, i.index(half))
            real, imaginary = own(i, b, i.select(beyond, i.index(i.sub(n, k)), k))
            return join(i, (real, i.select(beyond, i.unary("arith.negf", imaginary), imaginary)))

        spectrum = e.tabulate(tensor_type([known, n], element(value)), [batch, n], mirrored)
        signal = fft(e, spectrum, n, inverse=True)
        return e.tabulate(result, [batch, n], lambda i, at: split(i, i.extract(signal, at))[0])

    table = Table(e, tables.roots(range(half), n), part)

    def mixed(i: Emitter, at: list[ir.Value]) -> ir.Value:
        b, k = at
        x, y = own(i, b, k), conjugate(i, own(i, b, i.index(i.sub(half, k))))
        fly = Butterfly(i, part, inverse=True)
        even, odd = fly.add(x, y), fly.multiply(fly.subtract(x, y), table.at(i, k))
        return join(i, fly.add(even, (i.unary("arith.negf", odd[1]), odd[0])))

    spectrum = e.tabulate(tensor_type([known, half], element(value)), [batch, half], mixed)
    signal = fft(e, spectrum, half, inverse=True)

    def element_of(i: Emitter, at: list[ir.Value]) -> ir.Value:
        b, j = at
        real, imaginary = split(i, i.extract(signal, [b, i.index(i.floordiv(j, 2))]))
        return i.select(i.cmpi("eq", i.index(i.rem(j, 2)), i.index(0)), real, imaginary)

    return e.tabulate(result, [batch, n], element_of)
