"""Argument reduction by pi/2 and the trigonometric functions, in f64; f32 goes through f64.

Up to ``|x| < 2**30`` the reduction is Cody and Waite's with pi/2 in three f64 parts and exact products (fma). Beyond,
the product of ``x`` with the bits of 2/pi that matter is formed in integers, as M. Payne and R. Hanek describe
("Radian reduction for trigonometric functions", SIGNUM Newsletter 18, 1983); that path stands under a branch, as it
is rarely taken. Polynomials are minimax fits made for kc (Remez, mpmath) of sin(x)/x and cos(x) on [-pi/4, pi/4].
"""
from __future__ import annotations

import itertools

from kc.builder.num import Num, Scope

_PIO2 = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)  # pi/2 as a sum of f64
_TWO_OVER_PI = 0.6366197723675814
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it rounds to an integer whose low bits are the mantissa's

# 64 zero bits, then the first 1216 bits of 2/pi
_TWO_OVER_PI_BITS = (
    0, 0xA2F9836E4E441529, 0xFC2757D1F534DDC0, 0xDB6295993C439041, 0xFE5163ABDEBBC561, 0xB7246E3A424DD2E0,
    0x06492EEA09D1921C, 0xFE1DEB1CB129A73E, 0xE88235F52EBB4484, 0xE99C7026B45F7E41, 0x3991D639835339F4,
    0x9C845F8BBDF9283B, 0x1FF897FFDE05980F, 0xEF2F118B5A0A6D1F, 0x6D367ECF27CB09B7, 0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B, 0x3D0739F78A5292EA, 0x6BFB5FB11F8D5D08, 0x56033046FC7B6BAB,
)

_SIN = (-0.16666666666666632, 0.008333333333322455, -0.00019841269829813386, 2.7557313687551858e-06,
        -2.5050756710618743e-08, 1.589668164421143e-10)
_COS = (0.0416666666666666, -0.001388888888887444, 2.4801587289634095e-05, -2.755731438664885e-07,
        2.087572692876851e-09, -1.135979497573864e-11)
# enough for a result rounded to f32: relative error 2**-37 and 2**-33
_SIN_SHORT = (-0.16666666641428454, 0.008333329362478258, -0.00019839327187073892, 2.7182377778802457e-06)
_COS_SHORT = (0.04166664674988449, -0.0013887361506791274, 2.443773198523849e-05)


def two_sum(a: Num, b: Num) -> tuple[Num, Num]:
    """``a + b`` and its rounding error (D. Knuth, TAOCP 2, 4.2.2)."""
    s = a + b
    v = s - a
    return s, (a - (s - v)) + (b - v)


def _payne_hanek(m: Scope, x: Num) -> tuple[Num, Num, Num]:
    """(quadrant, high, low) of finite f64 ``x`` with ``2**30 <= |x|``; other lanes get some value."""
    magnitude = x.bits() & 0x7FFFFFFFFFFFFFFF
    mantissa = (magnitude & 0x000FFFFFFFFFFFFF) | 0x0010000000000000
    # |x| = mantissa * 2**e. Bits of 2/pi of weight 2**-j, j <= e - 2, only add multiples of 4: start after them.
    start = magnitude.shr(52) - (1075 + 2 - 64)
    word, bit = start.shr(6), start & 63
    words = [m.constant(value, "i64") for value in _TWO_OVER_PI_BITS]
    for level in (16, 8, 4, 2, 1):  # words[word : word + 4], by a barrel shift
        taken = (word & level).ne(0)
        keep = 4 + level - 1
        zero = m.constant(0, "i64")
        padded = words + [zero] * max(0, keep + level - len(words))
        words = [m.where(taken, padded[i + level], padded[i]) for i in range(keep)]
    nothing = bit.eq(0)
    back = (64 - bit) & 63
    window = [m.where(nothing, a, (a << bit) | b.shr(back)) for a, b in itertools.pairwise(words)]
    # mantissa * window mod 2**192: its top two bits are the quadrant, the rest the fraction
    _, carry0 = m.multiply_extended(mantissa, window[2])
    low1, carry1 = m.multiply_extended(mantissa, window[1])
    w1 = low1 + carry0
    w2 = mantissa * window[0] + carry1 + m.where(w1.ult(low1), 1, m.constant(0, "i64"))
    high, low = (w2 << 2) | w1.shr(62), w1 << 2
    quadrant = w2.shr(62) + high.shr(63)  # the fraction is read as signed: from -1/2 to 1/2
    # the fraction as a sum of two f64: the top 53 bits exactly, then the rest
    a = (high & ~0x7FF).to("f64") * 2.0**-64
    rest = (high & 0x7FF).to("f64") * 2.0**-64
    # ``low`` unsigned: two exact halves, added in the order of their size
    b = rest + (low.shr(32).to("f64") * 2.0**-96 + (low & 0xFFFFFFFF).to("f64") * 2.0**-128)
    a, b = two_sum(a, b)
    product = a * _PIO2[0]
    error = m.exact_fma(a, _PIO2[0], -product)
    r, s = two_sum(product, error + (a * _PIO2[1] + b * _PIO2[0]))
    negative = x < 0.0
    return m.where(negative, -quadrant, quadrant), m.where(negative, -r, r), m.where(negative, -s, s)


def reduce_pio2(m: Scope, x: Num, precise: bool = True) -> tuple[Num, Num, Num]:
    """``x = k * pi/2 + high + low`` for f64 ``x``: (k mod 4 in the low bits of an i64, high, low).

    ``|high| <= pi/4`` (and a rounding error). ``precise`` gives ``high + low`` to about 100 bits, otherwise ``low``
    is 0 and ``high`` has relative error below 2**-50. Infinities and NaN give NaN.
    """
    t = m.fma(x, _TWO_OVER_PI, _ROUND)
    k, quadrant = t - _ROUND, t.bits()
    if precise:
        p = k * _PIO2[0]
        high, low = two_sum(x - p, -m.exact_fma(k, _PIO2[0], -p))
        q = k * _PIO2[1]
        high, rest = two_sum(high, -q)
        low = low + rest - m.exact_fma(k, _PIO2[1], -q)
        high, low = two_sum(high, m.fma(k, -_PIO2[2], low))
    else:
        high = m.exact_fma(-k, _PIO2[1], m.exact_fma(-k, _PIO2[0], x))
        low = m.constant(0.0, "f64")

    def slow(inner: Scope) -> list[Num]:
        exact = _payne_hanek(inner, Num(inner, x.value, "f64"))
        big = abs(Num(inner, x.value, "f64")) >= 2.0**30
        return [inner.where(big, a, Num(inner, b.value, b.kind))
                for a, b in zip(exact, (quadrant, high, low), strict=True)]

    magnitude = abs(x)
    finite = magnitude < float("inf")
    quadrant, high, low = m.if_any(magnitude >= 2.0**30, slow, [quadrant, high, low])
    return quadrant, m.where(finite, high, float("nan")), low


def _sin_cos_kernel(m: Scope, r: Num, low: Num, precise: bool) -> tuple[Num, Num]:
    """sin and cos of ``r + low`` on [-pi/4, pi/4]."""
    z = r * r
    if not precise:
        return m.fma(r, z * m.poly(z, _SIN_SHORT), r), m.fma(z * z, m.poly(z, _COS_SHORT), m.fma(z, -0.5, 1.0))
    sine = r + m.fma(r * z, m.poly(z, _SIN), low * m.fma(z, -0.5, 1.0))
    half = z * 0.5
    w = 1.0 - half
    cosine = w + (((1.0 - w) - half) + m.fma(z * z, m.poly(z, _COS), -(r * low)))
    return sine, cosine


def _choose(m: Scope, quadrant: Num, even: Num, odd: Num) -> Num:
    """``even`` or ``odd`` by bit 0 of ``quadrant``, negated by bit 1."""
    value = m.where((quadrant & 1).eq(0), even, odd)
    return ((value.bits()) ^ ((quadrant & 2) << 62)).as_float()


def sin(m: Scope, x: Num, precise: bool = True) -> Num:
    """sin of f64 ``x``; at most 1 ulp (``precise``), or good for rounding to f32."""
    quadrant, r, low = reduce_pio2(m, x, precise)
    sine, cosine = _sin_cos_kernel(m, r, low, precise)
    return m.where(abs(x) < 2.0**-27, x, _choose(m, quadrant, sine, cosine))


def cos(m: Scope, x: Num, precise: bool = True) -> Num:
    """cos of f64 ``x``; at most 1 ulp (``precise``), or good for rounding to f32."""
    quadrant, r, low = reduce_pio2(m, x, precise)
    sine, cosine = _sin_cos_kernel(m, r, low, precise)
    return _choose(m, quadrant + 1, sine, cosine)


def sincos(m: Scope, x: Num, precise: bool = True) -> tuple[Num, Num]:
    """sin and cos of f64 ``x`` from one reduction; bounds as for each."""
    quadrant, r, low = reduce_pio2(m, x, precise)
    sine, cosine = _sin_cos_kernel(m, r, low, precise)
    near = m.where(abs(x) < 2.0**-27, x, _choose(m, quadrant, sine, cosine))
    return near, _choose(m, quadrant + 1, sine, cosine)


def tan(m: Scope, x: Num) -> Num:
    """tan of f64 ``x``; at most 3 ulp."""
    quadrant, r, low = reduce_pio2(m, x)
    sine, cosine = _sin_cos_kernel(m, r, low, precise=True)
    odd = (quadrant & 1).ne(0)
    result = m.where(odd, -cosine, sine) / m.where(odd, sine, cosine)
    return m.where(abs(x) < 2.0**-27, x, result)
