"""Elementary functions of one complex number, written out in real arithmetic.

complex<f32> is computed in f64 and rounded once. Results have a small error relative to their modulus, near zeros of
the functions too; nothing overflows or vanishes on the way that is representable at the end. Zeros keep their signs, so
a branch cut has two sides; infinities and NaN come out as in C99, annex G. Formulas: W. Kahan, "Branch cuts for complex
elementary functions", 1987, except where noted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from kc.bindings import ir
from kc.passes.conversion._emit import Emitter

Pair = tuple[ir.Value, ir.Value]

#: a power of two whose square is far from the ends of f64, and from where on squares are scaled
_SCALE, _LARGE = 2.0**600, 2.0**500
#: functions that are no more than an instruction
_INSTRUCTIONS = frozenset({"absf", "sqrt"})
#: e**_SHIFT is finite where e**x, x up to 1400, is not
_SHIFT = 700.0


class Real:
    """f64 arithmetic at an emitter; every argument may be a Python number.

    ``inline``: real functions stand where they are used, for code that vectorises. Else they are calls on a CPU: a
    complex function has several, and together they would make its loop's body too long to compile.
    """

    def __init__(self, e: Emitter, inline: bool = False):
        self.e, self.f64 = e, ir.F64Type.get()
        self._marks = {} if inline else {"kc.call": ir.UnitAttr.get()}

    def value(self, x: ir.Value | float) -> ir.Value:
        return self.e.const(self.f64, x) if isinstance(x, (int, float)) else x

    def _bin(self, name: str, x: ir.Value | float, y: ir.Value | float) -> ir.Value:
        return self.e.bin(name, self.value(x), self.value(y))

    def add(self, x: ir.Value | float, y: ir.Value | float) -> ir.Value:
        return self._bin("arith.addf", x, y)

    def sub(self, x: ir.Value | float, y: ir.Value | float) -> ir.Value:
        return self._bin("arith.subf", x, y)

    def mul(self, x: ir.Value | float, y: ir.Value | float) -> ir.Value:
        return self._bin("arith.mulf", x, y)

    def div(self, x: ir.Value | float, y: ir.Value | float) -> ir.Value:
        return self._bin("arith.divf", x, y)

    def larger(self, x: ir.Value, y: ir.Value) -> ir.Value:
        return self._bin("arith.maximumf", x, y)

    def smaller(self, x: ir.Value, y: ir.Value) -> ir.Value:
        return self._bin("arith.minimumf", x, y)

    def fma(self, x: ir.Value | float, y: ir.Value | float, z: ir.Value | float) -> ir.Value:
        return self.e.one("math.fma", [self.value(v) for v in (x, y, z)], self.f64)

    def neg(self, x: ir.Value) -> ir.Value:
        return self.e.unary("arith.negf", x)

    def fn(self, name: str, x: ir.Value) -> ir.Value:
        """``math.name`` of ``x``."""
        return self._math(name, x)[0]

    def _math(self, name: str, *x: ir.Value, results: int = 1) -> Sequence[ir.Value]:
        marks = {} if name in _INSTRUCTIONS else self._marks
        return list(self.e.op(f"math.{name}", x, [self.f64] * results, marks).results)

    def sincos(self, x: ir.Value) -> Pair:
        sine, cosine = self._math("sincos", x, results=2)
        return sine, cosine

    def atan2(self, y: ir.Value, x: ir.Value) -> ir.Value:
        return self._math("atan2", y, x)[0]

    def signed(self, magnitude: ir.Value | float, sign: ir.Value) -> ir.Value:
        return self._bin("math.copysign", magnitude, sign)

    def test(self, predicate: str, x: ir.Value | float, y: ir.Value | float) -> ir.Value:
        return self.e.cmpf(predicate, self.value(x), self.value(y))

    def where(self, condition: ir.Value, x: ir.Value | float, y: ir.Value | float) -> ir.Value:
        return self.e.select(condition, self.value(x), self.value(y))

    def both(self, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.e.bin("arith.andi", x, y)

    def either(self, x: ir.Value, y: ir.Value) -> ir.Value:
        return self.e.bin("arith.ori", x, y)

    def infinite(self, x: ir.Value) -> ir.Value:
        return self.test("oeq", self.fn("absf", x), math.inf)

    def no_number(self, x: ir.Value) -> ir.Value:
        """Infinite or NaN."""
        return self.test("uno", self.sub(x, x), 0.0)


def _scaled(r: Real, z: Pair) -> tuple[Pair, ir.Value, ir.Value]:
    """(|x| and |y| times a power of two so that their squares are safe, that power, their modulus so scaled)."""
    a, b = r.fn("absf", z[0]), r.fn("absf", z[1])
    large, small = r.larger(a, b), r.smaller(a, b)
    power = r.where(r.test("ogt", large, _LARGE), 1 / _SCALE, r.where(r.test("olt", large, 1 / _LARGE), _SCALE, 1.0))
    u, v = r.mul(large, power), r.mul(small, power)
    modulus = r.fn("sqrt", r.fma(u, u, r.mul(v, v)))
    infinite = r.either(r.infinite(z[0]), r.infinite(z[1]))
    return (r.mul(a, power), r.mul(b, power)), power, r.where(infinite, math.inf, modulus)


def modulus(r: Real, z: Pair) -> ir.Value:
    _, power, scaled = _scaled(r, z)
    return r.div(scaled, power)


def _sign(r: Real, z: Pair) -> Pair:
    (a, b), _, size = _scaled(r, z)
    zero = r.test("oeq", size, 0.0)
    return tuple(r.where(zero, p, r.signed(r.div(q, size), p)) for p, q in zip(z, (a, b), strict=True))  # type: ignore


def _exp_parts(r: Real, x: ir.Value) -> tuple[ir.Value, ir.Value]:
    """e**x as a product of two numbers of which the first does not overflow before 1400."""
    big = r.test("ogt", x, _SHIFT)
    return r.fn("exp", r.where(big, r.sub(x, _SHIFT), x)), r.where(big, math.exp(_SHIFT), 1.0)


def _times_exp(r: Real, x: ir.Value, factor: ir.Value) -> ir.Value:
    small, rest = _exp_parts(r, x)
    return r.mul(r.mul(small, factor), rest)


def _imaginary_of_exp(r: Real, x: ir.Value, y: ir.Value, value: ir.Value) -> ir.Value:
    """0 for y = 0 whatever x is, and 0 for x = -inf."""
    value = r.where(r.test("oeq", x, -math.inf), r.signed(0.0, value), value)
    return r.where(r.test("oeq", y, 0.0), y, value)


def _exp(r: Real, z: Pair) -> Pair:
    x, y = z
    sine, cosine = (_times_exp(r, x, f) for f in r.sincos(y))
    wild = r.no_number(y)  # cos and sin have no value there, but e**-inf is 0 and e**inf is infinite anyway
    real = r.where(r.both(wild, r.test("oeq", x, -math.inf)), 0.0, cosine)
    real = r.where(r.both(wild, r.test("oeq", x, math.inf)), math.inf, real)
    return real, _imaginary_of_exp(r, x, y, sine)


def _expm1(r: Real, z: Pair) -> Pair:
    """Real part e**x cos y - 1 = (e**x - 1) cos y - 2 sin(y/2)**2."""
    x, y = z
    half = r.sincos(r.mul(y, 0.5))[0]
    less = r.fma(r.mul(half, -2.0), half, r.mul(r.fn("expm1", x), r.sincos(y)[1]))
    whole, imaginary = _exp(r, z)
    real = r.where(r.test("ogt", x, _SHIFT), whole, less)
    real = r.where(r.test("oeq", y, 0.0), r.fn("expm1", x), real)
    return r.where(r.test("oeq", x, -math.inf), -1.0, real), imaginary


def _log(r: Real, z: Pair) -> Pair:
    (a, b), power, size = _scaled(r, z)
    large, small = r.larger(a, b), r.smaller(a, b)
    # near the unit circle: log |z| = log1p(|z|**2 - 1) / 2
    near = r.mul(r.fn("log1p", r.fma(small, small, r.mul(r.sub(large, 1.0), r.add(large, 1.0)))), 0.5)
    shift = r.where(
        r.test("oeq", power, 1.0),
        0.0,
        r.where(r.test("olt", power, 1.0), 600 * math.log(2.0), -600 * math.log(2.0)),
    )
    far = r.add(r.fn("log", size), shift)
    unit = r.both(r.test("ogt", size, 0.7), r.test("olt", size, 1.8))
    unit = r.both(unit, r.test("oeq", power, 1.0))
    return r.where(unit, near, far), r.atan2(z[1], z[0])


def _log1p(r: Real, z: Pair) -> Pair:
    x, y = z
    whole = _log(r, (r.add(x, 1.0), y))
    near = r.mul(r.fn("log1p", r.fma(y, y, r.mul(x, r.add(x, 2.0)))), 0.5)
    close = r.both(r.test("olt", r.fn("absf", x), 0.5), r.test("olt", r.fn("absf", y), 0.5))
    # a real number keeps all its digits
    alone = r.where(r.test("ogt", x, -1.0), r.fn("log1p", x), whole[0])
    return r.where(r.test("oeq", y, 0.0), alone, r.where(close, near, whole[0])), whole[1]


def _root(r: Real, z: Pair) -> tuple[Pair, ir.Value, ir.Value]:
    """(square root of z times a power of four, that power's root, the modulus times that power)."""
    (a, b), power, size = _scaled(r, z)
    half = r.fn("sqrt", r.mul(r.add(a, size), 0.5))  # the larger part
    other = r.where(r.test("oeq", half, 0.0), 0.0, r.div(r.mul(b, 0.5), half))
    right = r.test("oge", r.signed(1.0, z[0]), 0.0)
    root = (r.where(right, half, other), r.signed(r.where(right, other, half), z[1]))
    side = r.where(
        r.test("oeq", power, 1.0), 1.0, r.where(r.test("olt", power, 1.0), _SCALE**-0.5, _SCALE**0.5)
    )
    return root, side, size


def _sqrt(r: Real, z: Pair) -> Pair:
    root, side, _ = _root(r, z)
    real, imaginary = r.div(root[0], side), r.div(root[1], side)
    up = r.infinite(z[1])
    return r.where(up, math.inf, real), r.where(up, z[1], imaginary)


def _rsqrt(r: Real, z: Pair) -> Pair:
    """conj(sqrt(z)) / |z|; an infinity has the inverse 0, and 0 an infinite one without direction."""
    root, side, size = _root(r, z)
    infinite = r.test("oeq", size, math.inf)
    real = r.mul(r.div(root[0], size), side)
    imaginary = r.mul(r.div(r.neg(root[1]), size), side)
    zero = r.test("oeq", size, 0.0)
    real = r.where(infinite, 0.0, r.where(zero, math.inf, real))
    return real, r.where(infinite, r.signed(0.0, r.neg(z[1])), r.where(zero, math.nan, imaginary))


def _cbrt(r: Real, z: Pair) -> Pair:
    """The principal root: a third of the angle."""
    _, power, scaled = _scaled(r, z)
    side = r.where(r.test("oeq", power, 1.0), 1.0, r.where(r.test("olt", power, 1.0), 2.0**-200, 2.0**200))
    size, angle = r.div(r.fn("cbrt", scaled), side), r.div(r.atan2(z[1], z[0]), 3.0)
    imaginary, real = (r.mul(size, f) for f in r.sincos(angle))
    return real, r.where(r.test("oeq", angle, 0.0), r.signed(0.0, z[1]), imaginary)


def _cosh_sinh(r: Real, x: ir.Value, factors: Pair) -> Pair:
    """cosh(x) times the first factor, sinh(x) times the second: sinh |x| = (t + t/(t+1)) / 2 with t = e**|x| - 1."""
    size = r.fn("absf", x)
    big = r.test("ogt", size, _SHIFT)
    t = r.fn("expm1", r.where(big, r.sub(size, _SHIFT), size))
    power = r.add(t, 1.0)
    near = (r.mul(r.add(power, r.div(1.0, power)), 0.5), r.mul(r.add(t, r.div(t, power)), 0.5))
    values = []
    for whole, factor in zip(near, (factors[0], r.mul(factors[1], r.signed(1.0, x))), strict=True):
        far = r.mul(r.mul(power, factor), math.exp(_SHIFT) / 2)
        values.append(r.where(big, far, r.mul(whole, factor)))
    return values[0], values[1]


def _cosh(r: Real, z: Pair) -> Pair:
    x, y = z
    sine, cosine = r.sincos(y)
    real, imaginary = _cosh_sinh(r, x, (cosine, sine))
    real = r.where(r.both(r.infinite(x), r.no_number(y)), math.inf, real)
    # a part that is zero stays one beside an infinity or NaN
    flat = r.either(r.test("oeq", x, 0.0), r.test("oeq", y, 0.0))
    flat = r.both(flat, r.test("uno", imaginary, imaginary))
    return real, r.where(flat, r.mul(r.signed(1.0, x), r.signed(0.0, y)), imaginary)


def _sinh(r: Real, z: Pair) -> Pair:
    x, y = z
    imaginary, real = _cosh_sinh(r, x, r.sincos(y))
    wild = r.no_number(y)
    real = r.where(r.both(r.either(r.infinite(x), r.test("oeq", x, 0.0)), wild), x, real)
    return real, r.where(r.test("oeq", y, 0.0), y, imaginary)


def _tanh(r: Real, z: Pair) -> Pair:
    x, y = z
    size, wild = r.fn("absf", x), r.no_number(y)
    sines = r.sincos(y)
    t = r.fn("expm1", size)
    power = r.add(t, 1.0)
    tangent = r.div(sines[0], sines[1])
    sine = r.signed(r.mul(r.add(t, r.div(t, power)), 0.5), x)
    beta = r.fma(tangent, tangent, 1.0)
    rho = r.fn("sqrt", r.fma(sine, sine, 1.0))
    below = r.fma(r.mul(beta, sine), sine, 1.0)
    real, imaginary = r.div(r.mul(r.mul(beta, rho), sine), below), r.div(tangent, below)
    # far out the real part is 1, and the imaginary one 2 sin(2 y) e**(-2 |x|)
    far = r.both(r.test("ogt", size, 20.0), r.either(r.infinite(x), r.test("oeq", r.sub(y, y), 0.0)))
    decay = r.mul(r.div(r.div(r.mul(sines[0], sines[1]), power), power), 4.0)
    real = r.where(far, r.signed(1.0, x), r.where(r.test("oeq", x, 0.0), x, real))
    imaginary = r.where(far, r.where(wild, r.signed(0.0, y), decay), imaginary)
    return real, r.where(r.test("oeq", y, 0.0), y, imaginary)


def _far(r: Real, z: Pair) -> tuple[ir.Value, ir.Value]:
    """(whether z is so large that 1 is nothing beside it, log |2 z|)."""
    far = r.either(r.test("ogt", r.fn("absf", z[0]), _LARGE), r.test("ogt", r.fn("absf", z[1]), _LARGE))
    return far, r.add(_log(r, z)[0], math.log(2.0))


def _acos(r: Real, z: Pair) -> Pair:
    x, y = z
    below, above = _sqrt(r, (r.sub(1.0, x), r.neg(y))), _sqrt(r, (r.add(x, 1.0), y))
    real = r.mul(r.atan2(below[0], above[0]), 2.0)
    imaginary = r.fn("asinh", r.sub(r.mul(above[0], below[1]), r.mul(above[1], below[0])))
    far, length = _far(r, z)
    real = r.where(far, r.atan2(r.fn("absf", y), x), real)
    return real, r.where(far, r.signed(length, r.neg(y)), imaginary)


def _asin(r: Real, z: Pair) -> Pair:
    x, y = z
    below, above = _sqrt(r, (r.sub(1.0, x), r.neg(y))), _sqrt(r, (r.add(x, 1.0), y))
    real = r.atan2(x, r.sub(r.mul(below[0], above[0]), r.mul(below[1], above[1])))
    imaginary = r.fn("asinh", r.sub(r.mul(below[0], above[1]), r.mul(below[1], above[0])))
    far, length = _far(r, z)
    real = r.where(far, r.atan2(x, r.fn("absf", y)), real)
    return real, r.where(far, r.signed(length, y), imaginary)


def _acosh(r: Real, z: Pair) -> Pair:
    """i acos(z) or its opposite, whichever is on the right."""
    real, imaginary = _acos(r, z)
    return r.fn("absf", imaginary), r.signed(real, z[1])


def _asinh(r: Real, z: Pair) -> Pair:
    """i asin(-i z)."""
    real, imaginary = _asin(r, (z[1], r.neg(z[0])))
    return r.neg(imaginary), real


def _atanh(r: Real, z: Pair) -> Pair:
    x, y = z
    size = r.fn("absf", x)
    off = r.sub(1.0, size)
    gap = r.fma(off, off, r.mul(y, y))
    real = r.mul(r.fn("log1p", r.div(r.mul(size, 4.0), gap)), 0.25)
    # just above or below 1 the square of y may vanish
    close = r.both(r.test("oeq", size, 1.0), r.test("olt", r.fn("absf", y), 1e-10))
    real = r.where(close, r.mul(r.sub(math.log(2.0), r.fn("log", r.fn("absf", y))), 0.5), real)
    turn = r.sub(r.mul(off, r.add(size, 1.0)), r.mul(y, y))
    imaginary = r.mul(r.atan2(r.mul(y, 2.0), turn), 0.5)
    far = r.either(r.test("ogt", size, _LARGE), r.test("ogt", r.fn("absf", y), _LARGE))
    large = r.larger(size, r.fn("absf", y))
    ratio, other = r.div(size, large), r.div(y, large)
    tail = r.div(r.div(ratio, r.fma(ratio, ratio, r.mul(other, other))), large)
    tail = r.where(r.either(r.infinite(x), r.infinite(y)), 0.0, tail)
    real = r.where(far, tail, real)
    imaginary = r.where(r.both(far, r.test("ord", y, y)), r.signed(math.pi / 2, y), imaginary)
    return r.signed(real, x), imaginary


def _turned(function: Callable[[Real, Pair], Pair]) -> Callable[[Real, Pair], Pair]:
    """f(z) = -i g(i z): sin from sinh, tan from tanh."""

    def turned(r: Real, z: Pair) -> Pair:
        real, imaginary = function(r, (r.neg(z[1]), z[0]))
        return imaginary, r.neg(real)

    return turned


def _cos(r: Real, z: Pair) -> Pair:
    return _cosh(r, (r.neg(z[1]), z[0]))


def _reciprocal_sum(r: Real, numerator: Pair, z: Pair) -> Pair:
    """numerator / (1 + z) for |z| <= 1."""
    a, b = r.add(z[0], 1.0), z[1]
    size = r.fma(a, a, r.mul(b, b))
    x, y = numerator
    return r.div(r.fma(x, a, r.mul(y, b)), size), r.div(r.sub(r.mul(y, a), r.mul(x, b)), size)


def _logistic(r: Real, z: Pair) -> Pair:
    """1 / (1 + e**-z), or e**z / (1 + e**z) on the left: the exponential does not grow."""
    left = r.test("olt", z[0], 0.0)
    power = _exp(r, (r.where(left, z[0], r.neg(z[0])), r.where(left, z[1], r.neg(z[1]))))
    return _reciprocal_sum(r, (r.where(left, power[0], 1.0), r.where(left, power[1], 0.0)), power)


def _power(r: Real, z: Pair, w: Pair) -> Pair:
    """e**(w log z); 0**w is 0 for Re w > 0, and z**0 is 1."""
    length, angle = _log(r, z)
    real = r.sub(r.mul(w[0], length), r.mul(w[1], angle))
    imaginary = r.fma(w[1], length, r.mul(w[0], angle))
    result = _exp(r, (real, imaginary))
    none = r.both(r.test("oeq", w[0], 0.0), r.test("oeq", w[1], 0.0))
    nothing = r.both(r.test("oeq", z[0], 0.0), r.test("oeq", z[1], 0.0))
    nothing = r.both(nothing, r.test("ogt", w[0], 0.0))
    parts = [r.where(nothing, 0.0, p) for p in result]
    return r.where(none, 1.0, parts[0]), r.where(none, 0.0, parts[1])


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
        less = r.where(r.test("ogt", large, _LARGE), 1 / _SCALE, r.where(r.test("olt", large, 1 / _LARGE), _SCALE, 1.0))
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
    large, small = r.test("ogt", largest, _LARGE), r.test("olt", largest, 1 / _LARGE)
    power = r.where(large, 1 / _SCALE, r.where(small, _SCALE, 1.0))
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
    root = _sqrt(r, (real, r.mul(_sum_of_products(r, a, b, c, d), 2.0)))
    sine, cosine = r.sub(r.mul(u[1], root[0]), r.mul(u[0], root[1])), r.fma(u[0], root[0], r.mul(u[1], root[1]))
    # cos(half) is positive; a direction within a right angle of it has a positive product with it
    flipped = r.test("olt", cosine, 0.0)
    aside = r.test("olt", r.fn("absf", cosine), r.mul(r.fn("absf", sine), 0.5))
    other = r.test("olt", r.mul(sine, half), 0.0)
    flipped = r.where(aside, other, flipped)
    side = r.where(r.test("oeq", half, 0.0), r.neg(y[0]), half)  # on the cut the sign of y tells the side
    return r.where(flipped, r.sub(half, r.signed(math.pi, side)), half), imaginary


#: op -> function of one number
UNARY: dict[str, Callable[[Real, Pair], Pair]] = {
    "acos": _acos,
    "acosh": _acosh,
    "asin": _asin,
    "asinh": _asinh,
    "atan": _turned(_atanh),
    "atanh": _atanh,
    "cbrt": _cbrt,
    "cos": _cos,
    "cosh": _cosh,
    "exp": _exp,
    "expm1": _expm1,
    "log": _log,
    "log1p": _log1p,
    "logistic": _logistic,
    "rsqrt": _rsqrt,
    "sign": _sign,
    "sin": _turned(_sinh),
    "sinh": _sinh,
    "sqrt": _sqrt,
    "tan": _turned(_tanh),
    "tanh": _tanh,
}


#: functions without sines, short enough to be vectorised
_INLINE = frozenset({"atan", "atanh", "log"})


def parts(e: Emitter, z: ir.Value) -> Pair:
    """Real and imaginary part in f64."""
    part = ir.ComplexType(z.type).element_type
    return (
        e.to_float(e.one("complex.re", [z], part), ir.F64Type.get()),
        e.to_float(e.one("complex.im", [z], part), ir.F64Type.get()),
    )


def _join(e: Emitter, pair: Pair, type_: ir.Type) -> ir.Value:
    part = ir.ComplexType(type_).element_type
    return e.one("complex.create", [e.to_float(p, part) for p in pair], type_)


def unary(e: Emitter, name: str, z: ir.Value) -> ir.Value:
    """The function ``name`` of ``UNARY`` of ``z``."""
    return _join(e, UNARY[name](Real(e, inline=name in _INLINE), parts(e, z)), z.type)


def absolute(e: Emitter, z: ir.Value) -> ir.Value:
    """|z| without overflow; infinite where a part is."""
    return e.to_float(modulus(Real(e), parts(e, z)), ir.ComplexType(z.type).element_type)


def power(e: Emitter, z: ir.Value, w: ir.Value) -> ir.Value:
    return _join(e, _power(Real(e), parts(e, z), parts(e, w)), z.type)


def atan2(e: Emitter, y: ir.Value, x: ir.Value) -> ir.Value:
    return _join(e, _atan2(Real(e), parts(e, y), parts(e, x)), y.type)


def divide(e: Emitter, z: ir.Value, w: ir.Value) -> ir.Value:
    """z / w without overflow on the way; with infinities and zeros as in C99."""
    narrow = str(ir.ComplexType(z.type).element_type) == "f32"
    return _join(e, _divide(Real(e), parts(e, z), parts(e, w), narrow), z.type)
