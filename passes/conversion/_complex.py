"""Elementary functions of one complex number, written out in real arithmetic.

complex<f32> is computed in f64 and rounded once. Results have a small error relative to their modulus, near zeros of
the functions too; nothing overflows or vanishes on the way that is representable at the end. Zeros keep their signs, so
a branch cut has two sides; infinities and NaN come out as in C99, annex G. Formulas: W. Kahan, "Branch cuts for complex
elementary functions", 1987, except where noted.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from kc.bindings import ir
from kc.passes.conversion._emit import Emitter
from kc.passes.conversion._real import LARGE, SCALE, Pair, Real, join, parts

#: e**_SHIFT is finite where e**x, x up to 1400, is not
_SHIFT = 700.0


def _scaled(r: Real, z: Pair) -> tuple[Pair, ir.Value, ir.Value]:
    """(|x| and |y| times a power of two so that their squares are safe, that power, their modulus so scaled)."""
    a, b = r.fn("absf", z[0]), r.fn("absf", z[1])
    large, small = r.larger(a, b), r.smaller(a, b)
    power = r.where(r.test("ogt", large, LARGE), 1 / SCALE, r.where(r.test("olt", large, 1 / LARGE), SCALE, 1.0))
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
        r.test("oeq", power, 1.0), 1.0, r.where(r.test("olt", power, 1.0), SCALE**-0.5, SCALE**0.5)
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
    far = r.either(r.test("ogt", r.fn("absf", z[0]), LARGE), r.test("ogt", r.fn("absf", z[1]), LARGE))
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
    far = r.either(r.test("ogt", size, LARGE), r.test("ogt", r.fn("absf", y), LARGE))
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


def unary(e: Emitter, name: str, z: ir.Value) -> ir.Value:
    """The function ``name`` of ``UNARY`` of ``z``."""
    return join(e, UNARY[name](Real(e, inline=name in _INLINE), parts(e, z)), z.type)


def absolute(e: Emitter, z: ir.Value) -> ir.Value:
    """|z| without overflow; infinite where a part is."""
    return e.to_float(modulus(Real(e), parts(e, z)), ir.ComplexType(z.type).element_type)


def power(e: Emitter, z: ir.Value, w: ir.Value) -> ir.Value:
    return join(e, _power(Real(e), parts(e, z), parts(e, w)), z.type)
