"""Quotients of complex numbers and their angles, written out in real arithmetic as in ``_complex.py``."""

from __future__ import annotations

import math

from kc.bindings import ir
from kc.passes.conversion._complex import UNARY
from kc.passes.conversion._emit import Emitter
from kc.passes.conversion._real import LARGE, SCALE, Pair, Real, join, parts


def _sum_of_products(r: Real, a: ir.Value, b: ir.Value, c: ir.Value, d: ir.Value) -> ir.Value:
    """a b + c d with an error of its last digits alone (W. Kahan, "On the cost of floating-point computation without
    extra-precise arithmetic", 2004)."""
    product = r.mul(c, d)
    total, rest = r.fma(a, b, product), r.fma(c, d, r.neg(product))
    return r.where(r.test("oeq", rest, 0.0), total, r.add(total, rest))  # -0 stays


def _divide(r: Real, z: Pair, w: Pair, narrow: bool) -> Pair:
    """z conj(w) / |w|**2. ``narrow``: both were f32, whose squares f64 holds; else both are scaled first."""
    directions = [[r.where(r.infinite(p), r.signed(1.0, p), r.signed(0.0, p)) for p in v] for v in (z, w)]
    infinite = [r.either(r.infinite(v[0]), r.infinite(v[1])) for v in (z, w)]
    zero = r.both(r.test("oeq", w[0], 0.0), r.test("oeq", w[1], 0.0))
    # an infinite number has but a direction; what it is worth comes last
    worth = r.mul(r.where(infinite[0], math.inf, 1.0), r.where(infinite[1], 0.0, 1.0))
    scaled, powers = [], []
    for v, direction, far in zip((z, w), directions, infinite, strict=True):
        parts = [r.where(far, d, p) for p, d in zip(v, direction, strict=True)]
        large = r.larger(r.fn("absf", parts[0]), r.fn("absf", parts[1]))
        less = r.where(r.test("ogt", large, LARGE), 1 / SCALE, r.where(r.test("olt", large, 1 / LARGE), SCALE, 1.0))
        powers.append(less)
        scaled.append(parts if narrow else [r.mul(p, less) for p in parts])
    (a, b), (c, d) = scaled
    size = r.fma(c, c, r.mul(d, d))
    quotient = (
        r.div(_sum_of_products(r, a, c, b, d), size),
        r.div(_sum_of_products(r, b, c, r.neg(a), d), size),
    )
    results = []
    for part, above in zip(quotient, z, strict=True):
        value = part
        if not narrow:
            equal = r.test("oeq", powers[0], powers[1])
            value = r.mul(r.mul(part, r.where(equal, 1.0, powers[1])), r.where(equal, 1.0, r.div(1.0, powers[0])))
        results.append(r.where(zero, r.mul(r.signed(math.inf, w[0]), above), r.mul(value, worth)))
    return results[0], results[1]


def _atan2(r: Real, y: Pair, x: Pair) -> Pair:
    """-i log(u / sqrt(u v)) with u = x + i y and v = x - i y; it does not change when y and x are scaled.

    The imaginary part is log(|v|**2 / |u|**2) / 4. The angle is half that of u conj(v), or the opposite direction:
    which one, a direct evaluation tells.
    """
    sizes = [r.fn("absf", part) for part in (*y, *x)]
    largest = r.larger(r.larger(sizes[0], sizes[1]), r.larger(sizes[2], sizes[3]))
    large, small = r.test("ogt", largest, LARGE), r.test("olt", largest, 1 / LARGE)
    power = r.where(large, 1 / SCALE, r.where(small, SCALE, 1.0))
    (a, b), (c, d) = ([r.mul(part, power) for part in z] for z in (x, y))
    u, v = (r.sub(a, d), r.add(b, c)), (r.add(a, d), r.sub(b, c))
    difference = r.mul(_sum_of_products(r, a, d, r.neg(b), c), 4.0)  # |v|**2 - |u|**2
    larger = r.test("ogt", difference, 0.0)
    less = [r.where(larger, p, q) for p, q in zip(u, v, strict=True)]
    ratio = r.div(r.fn("absf", difference), r.fma(less[0], less[0], r.mul(less[1], less[1])))
    imaginary = r.mul(r.signed(r.fn("log1p", ratio), difference), 0.25)

    squares = r.sub(_sum_of_products(r, a, a, b, b), _sum_of_products(r, c, c, d, d))
    twice = (squares, r.mul(_sum_of_products(r, a, c, b, d), 2.0))
    # where one of u and v is small its parts are exact, and the difference of x and y is not
    product = (r.fma(u[0], v[0], r.mul(u[1], v[1])), r.sub(r.mul(u[1], v[0]), r.mul(u[0], v[1])))
    uneven = r.test("ogt", ratio, 1.0)
    twice = (r.where(uneven, product[0], twice[0]), r.where(uneven, product[1], twice[1]))
    half = r.mul(r.atan2(twice[1], twice[0]), 0.5)
    real = r.add(r.mul(r.sub(a, b), r.add(a, b)), r.mul(r.sub(c, d), r.add(c, d)))
    root = UNARY["sqrt"](r, (real, r.mul(_sum_of_products(r, a, b, c, d), 2.0)))
    sine, cosine = r.sub(r.mul(u[1], root[0]), r.mul(u[0], root[1])), r.fma(u[0], root[0], r.mul(u[1], root[1]))
    # cos(half) is positive; a direction within a right angle of it has a positive product with it
    flipped = r.test("olt", cosine, 0.0)
    aside = r.test("olt", r.fn("absf", cosine), r.mul(r.fn("absf", sine), 0.5))
    other = r.test("olt", r.mul(sine, half), 0.0)
    flipped = r.where(aside, other, flipped)
    side = r.where(r.test("oeq", half, 0.0), r.neg(y[0]), half)  # on the cut the sign of y tells the side
    return r.where(flipped, r.sub(half, r.signed(math.pi, side)), half), imaginary


def atan2(e: Emitter, y: ir.Value, x: ir.Value) -> ir.Value:
    return join(e, _atan2(Real(e), parts(e, y), parts(e, x)), y.type)


def divide(e: Emitter, z: ir.Value, w: ir.Value) -> ir.Value:
    """z / w without overflow on the way; with infinities and zeros as in C99."""
    narrow = str(ir.ComplexType(z.type).element_type) == "f32"
    return join(e, _divide(Real(e), parts(e, z), parts(e, w), narrow), z.type)
