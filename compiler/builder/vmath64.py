"""Mathematical functions of f64 values as arith ops. Bounds are measured in test/unit/test_vmath.py.

Methods are those of fdlibm (FreeBSD msun, also musl): argument reduction by ln 2 with a two-part constant, log from
``s = f / (2 + f)``, hyperbolic functions from expm1, inverse ones from log1p. erfc uses ``(1 + 2x) exp(x*x) erfc(x)``
as a polynomial in ``(x - 4) / (x + 4)`` (M. Shepherd and J. Laframboise, "Chebyshev approximation of (1 + 2x)
exp(x^2) erfc x", Math. Comp. 36, 1981). Polynomial coefficients are minimax fits made for kc (Remez, mpmath); the
error of each stands beside it.
"""
from __future__ import annotations

from kc.builder.num import Num, Scope
from kc.builder.vmath_trig import two_sum

INF = float("inf")
NAN = float("nan")
LN2_HI, LN2_LO = 0.6931471803691238, 1.9082149292705877e-10  # 33 bits, then the rest
LOG2E = 1.4426950408889634, 2.0355273740931033e-17
LOG10E = 0.4342944819032518, 1.098319650216765e-17
LOG10_2 = 0.3010299955494702, 1.1451100898021838e-10
_ROUND = 6755399441055744.0  # 1.5 * 2**52

# (exp(r) - 1 - r) / r**2 on |r| <= ln(2)/2, error 2**-58
_EXP = (0.5, 0.16666666666666669, 0.041666666666666685, 0.00833333333333169, 0.001388888888887241,
        0.00019841269846336987, 2.480158735264156e-05, 2.755731215663968e-06, 2.7557247582462136e-07,
        2.5056638464314674e-08, 2.092086093758826e-09, 1.5059387101209502e-10)
# (log((1+s)/(1-s)) - 2 s) / s**3 in s**2, sqrt(1/2) <= (1+s)/(1-s) <= sqrt(2), error 2**-59
_LOG = (0.6666666666666735, 0.3999999999940876, 0.285714287439137, 0.2222219839783355, 0.18183574317421256,
        0.15313774270864253, 0.14798906779377763)
# (atan(x)/x - 1) / x**2 in x**2, |x| <= tan(pi/8), error 2**-59
_ATAN = (-0.3333333333333333, 0.1999999999999924, -0.14285714285605408, 0.11111111103258536, -0.09090908757454719,
         0.07692298614299488, -0.06666500199186708, 0.058802393463307644, -0.05244356612230651,
         0.046448859434759626, -0.03844934480024593, 0.025429781999026565, -0.009362180153990608)
# (asin(x)/x - 1) / x**2 in x**2, |x| <= 1/2, error 2**-57
_ASIN = (0.16666666666666763, 0.07499999999970117, 0.044642857175275434, 0.030381942675550267, 0.022372215911989086,
         0.017351594830965895, 0.013981039112422862, 0.01139695832592869, 0.010792570571296746, 0.00365279759893624,
         0.02186021936278518, -0.021254290708204844, 0.03281721677515986)
# (1 + 2x) exp(x*x) erfc(x) in (x-4)/(x+4), x >= 0, error 2**-54
_ERFCX = (1.2329951186255526, -0.1396211168405623, 0.015379652102619297, 0.06809705425467011, -0.10103906603628578,
          0.09373283499906766, -0.0663303658124653, 0.03716751552687798, -0.016197734057094283, 0.005031970065500713,
          -0.0007577732768679459, -0.00019925713779647287, 0.0001506215462316423, -2.439776955030245e-05,
          -1.1221421193011625e-05, 5.706644183736131e-06, 2.9218685258350394e-07, -8.211384806333712e-07,
          7.724562656839964e-08, 1.0636992449721188e-07, -2.041128098454123e-08, -1.2359446752679497e-08,
          3.112466694380462e-09, 9.333680647354114e-10, -2.564057046179559e-10)
# erf(x)/x - 1 in x**2, |x| <= 1, error 2**-65
_ERF = (0.1283791670955126, -0.37612638903183754, 0.1128379167095512, -0.026866170645129868, 0.005223977625423609,
        -0.0008548327021955926, 0.00012055332903808763, -1.4925647594397373e-05, 1.6462045978746048e-06,
        -1.636464952888257e-07, 1.4792469453107219e-08, -1.21649675634089e-09, 8.710461937312833e-11,
        -4.233124650461926e-12)
_PIO2_HI, _PIO2_LO = 1.5707963267948966, 6.123233995736766e-17


def _scale(m: Scope, p: Num, k: Num) -> Num:
    """``p * 2**k`` for an i64 ``k`` in [-1100, 1024], in two steps so that overflow and denormals round right."""
    half = k >> 1
    return p * ((half + 1023) << 52).as_float() * (((k - half) + 1023) << 52).as_float()


def _reduce_ln2(m: Scope, x: Num) -> tuple[Num, Num, Num]:
    """``x = k ln 2 + r``: (k as i64, k, r)."""
    t = m.fma(x, LOG2E[0], _ROUND)
    k = t - _ROUND
    r = m.fma(k, -LN2_LO, m.fma(k, -LN2_HI, x))
    return t.bits() - m.constant(_ROUND, "f64").bits(), k, r


def _expm1_core(m: Scope, r: Num) -> Num:
    return m.fma(r * r, m.poly(r, _EXP), r)


def exp(m: Scope, x: Num) -> Num:
    """e**x, at most 1 ulp."""
    x = m.minimum(m.maximum(x, -746.0), 710.0)
    k, _, r = _reduce_ln2(m, x)
    return _scale(m, _expm1_core(m, r) + 1.0, k)


def exp2(m: Scope, x: Num) -> Num:
    """2**x, at most 1 ulp."""
    x = m.minimum(m.maximum(x, -1076.0), 1025.0)
    t = x + _ROUND
    k = t.bits() - m.constant(_ROUND, "f64").bits()
    f = x - (t - _ROUND)
    r = f * 0.6931471805599453
    low = m.exact_fma(f, 0.6931471805599453, -r) + f * 2.3190468138462996e-17
    p = m.fma(r * r, m.poly(r, _EXP), r + low)
    return _scale(m, p + 1.0, m.where(k > 1024, 1024, k))


def expm1(m: Scope, x: Num) -> Num:
    """e**x - 1, at most 2 ulp."""
    y = m.minimum(m.maximum(x, -60.0), 710.0)
    k, _, r = _reduce_ln2(m, y)
    half = ((k + 1022) << 52).as_float()  # 2**(k-1): no overflow at k = 1024
    result = m.fma(_expm1_core(m, r), half, half - 0.5) * 2.0
    return m.where(abs(x) < 2.0**-54, x, result)


def log_parts(m: Scope, x: Num) -> tuple[Num, Num, Num]:
    """(k, f, s*(hfsq+R) - hfsq) with ``x = 2**k (1 + f)`` and ``log(1+f) = f + third`` for finite x > 0."""
    tiny = x < 2.0**-1022
    bits = m.where(tiny, x * 2.0**54, x).bits() - 0x3FE6A09E667F3BCD  # sqrt(1/2)
    exponent = (bits >> 52) - m.where(tiny, 54, m.constant(0, "i64"))
    f = ((bits & 0x000FFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD).as_float() - 1.0
    # int to float without a 64-bit conversion, which few vector units have
    k = ((exponent + m.constant(_ROUND, "f64").bits()).as_float()) - _ROUND
    s = f / (f + 2.0)
    z = s * s
    half_square = f * f * 0.5
    return k, f, m.fma(s, m.fma(z, m.poly(z, _LOG), half_square), -half_square)


def log_edges(m: Scope, x: Num, result: Num) -> Num:
    """``result``, a logarithm, and what it is at 0, at infinity, of negative numbers and of NaN."""
    result = m.where(x < INF, result, x)
    return m.where(x > 0.0, result, m.where(x.eq(0.0), -INF, m.where(x < 0.0, NAN, x)))


def log(m: Scope, x: Num) -> Num:
    """Natural logarithm, at most 1 ulp."""
    k, f, rest = log_parts(m, x)
    return log_edges(m, x, m.fma(k, LN2_HI, f + m.fma(k, LN2_LO, rest)))


def _log_base(m: Scope, x: Num, whole: tuple[float, float], scale: tuple[float, float]) -> Num:
    """``k * whole + log(1+f) * scale``, both constants in two parts."""
    k, f, rest = log_parts(m, x)
    high, low = two_sum(f, rest)
    head = high * scale[0]
    tail = m.exact_fma(high, scale[0], -head) + m.fma(low, scale[0], high * scale[1])
    total, error = two_sum(k * whole[0], head)
    return log_edges(m, x, total + (error + m.fma(k, whole[1], tail)))


def log2(m: Scope, x: Num) -> Num:
    """Logarithm to base 2, at most 1 ulp; exact for powers of 2."""
    return _log_base(m, x, (1.0, 0.0), LOG2E)


def log10(m: Scope, x: Num) -> Num:
    """Logarithm to base 10, at most 2 ulp."""
    return _log_base(m, x, LOG10_2, LOG10E)


def log1p(m: Scope, x: Num) -> Num:
    """log(1 + x), at most 2 ulp."""
    u = x + 1.0
    correction = m.where(x > 1.0, 1.0 - (u - x), x - (u - 1.0)) / u
    k, f, rest = log_parts(m, u)
    result = m.fma(k, LN2_HI, f + (m.fma(k, LN2_LO, rest) + correction))
    return m.where(abs(x) < 2.0**-54, x, log_edges(m, u, result))


def tanh(m: Scope, x: Num) -> Num:
    """Hyperbolic tangent, at most 2 ulp."""
    a = m.minimum(abs(x), 22.0)
    small = a < 0.55
    t = expm1(m, a * m.where(small, -2.0, m.constant(2.0, "f64")))
    quotient = m.where(small, -t, m.constant(2.0, "f64")) / (t + 2.0)
    return m.copysign(m.where(small, quotient, 1.0 - quotient), x)


def sinh(m: Scope, x: Num) -> Num:
    """Hyperbolic sine, at most 3 ulp."""
    a = abs(x)
    big = a > 22.0
    t = expm1(m, m.where(big, 22.0, a))
    half = exp(m, a * 0.5) * 0.5  # e**a / 2 without early overflow
    value = m.where(big, half * (half * 2.0), (t + t / (t + 1.0)) * 0.5)
    return m.where(a < 2.0**-28, x, m.copysign(value, x))


def cosh(m: Scope, x: Num) -> Num:
    """Hyperbolic cosine, at most 3 ulp."""
    e = exp(m, abs(x) * 0.5)
    square = e * e
    return m.where(abs(x) > 40.0, (e * 0.5) * e, square * 0.5 + 0.5 / square)


def asinh(m: Scope, x: Num) -> Num:
    """Inverse hyperbolic sine, at most 3 ulp."""
    a = abs(x)
    big = a > 2.0**28
    b = m.where(big, 1.0, a)
    square = b * b
    value = log1p(m, m.where(big, a - 1.0, b + square / ((square + 1.0).sqrt() + 1.0)))
    return m.copysign(m.where(a < 2.0**-28, a, m.where(big, value + 0.6931471805599453, value)), x)


def acosh(m: Scope, x: Num) -> Num:
    """Inverse hyperbolic cosine, at most 3 ulp; NaN below 1."""
    big = x > 2.0**28
    t = m.where(big, 1.0, x - 1.0)
    value = log1p(m, m.where(big, x - 1.0, t + m.fma(t, t, t * 2.0).sqrt()))
    return m.where(x < 1.0, NAN, m.where(big, value + 0.6931471805599453, value))


def atanh(m: Scope, x: Num) -> Num:
    """Inverse hyperbolic tangent, at most 3 ulp; NaN beyond 1."""
    a = abs(x)
    value = log1p(m, a * 2.0 / (1.0 - a)) * 0.5
    return m.where(a < 2.0**-28, x, m.copysign(m.where(a.eq(1.0), INF, m.where(a > 1.0, NAN, value)), x))


def _atan_unit(m: Scope, a: Num, low: Num) -> tuple[Num, Num]:
    """atan of ``a + low`` for 0 <= a <= 1, as a sum high + rest."""
    folded = a > 0.4142135623730951
    top = m.where(folded, a - 1.0, a)
    bottom = m.where(folded, a + 1.0, 1.0)
    t = top / bottom
    rest = low / m.fma(a, a, 1.0) + m.where(folded, m.exact_fma(-t, bottom, top) / bottom, 0.0)
    z = t * t
    tail = m.fma(t * z, m.poly(z, _ATAN), rest)
    high = m.where(folded, _PIO2_HI / 2, m.constant(0.0, "f64"))
    s, error = two_sum(high, t)
    return s, error + tail + m.where(folded, _PIO2_LO / 2, m.constant(0.0, "f64"))


def _from_pio2(m: Scope, high: Num, low: Num) -> tuple[Num, Num]:
    s, error = two_sum(m.constant(_PIO2_HI, "f64"), -high)
    return s, error + (_PIO2_LO - low)


def atan(m: Scope, x: Num) -> Num:
    """Inverse tangent, at most 2 ulp."""
    a = abs(x)
    big = a > 1.0
    b = m.where(big, 1.0 / a, a)
    low = m.where(big, m.exact_fma(-b, a, m.constant(1.0, "f64")) / a, 0.0)
    low = m.where(a < INF, low, 0.0)
    high, rest = _atan_unit(m, b, low)
    far, far_rest = _from_pio2(m, high, rest)
    return m.where(abs(x) < 2.0**-27, x, m.copysign(m.where(big, far + far_rest, high + rest), x))


def atan2(m: Scope, y: Num, x: Num) -> Num:
    """Angle of the point (x, y) in (-pi, pi], signed zeros and infinities as C's atan2; at most 2 ulp."""
    ax, ay = abs(x), abs(y)
    steep = ay > ax
    top, bottom = m.where(steep, ax, ay), m.where(steep, ay, ax)
    # scale, so that neither the quotient's error term nor a denormal divisor loses bits
    scale = m.where(bottom > 2.0**500, 2.0**-600, m.where(bottom < 2.0**-500, 2.0**600, m.constant(1.0, "f64")))
    top, bottom = top * scale, bottom * scale
    both_infinite = top.eq(INF)
    top = m.where(both_infinite, 1.0, top)
    bottom = m.where(both_infinite, 1.0, m.where(bottom.eq(0.0), 1.0, bottom))
    q = top / bottom
    low = m.where(bottom < INF, m.exact_fma(-q, bottom, top) / bottom, 0.0)
    high, rest = _atan_unit(m, q, m.where(abs(low) < 1.0, low, 0.0))
    far, far_rest = _from_pio2(m, high, rest)
    high, rest = m.where(steep, far, high), m.where(steep, far_rest, rest)
    left = x.bits() < 0
    flipped, error = two_sum(m.constant(2 * _PIO2_HI, "f64"), -high)
    angle = m.where(left, flipped + (error + (2 * _PIO2_LO - rest)), high + rest)
    return m.where(x.isnan(), x, m.where(y.isnan(), y, m.copysign(angle, y)))


def _asin_tail(m: Scope, z: Num) -> Num:
    return z * m.poly(z, _ASIN)


def asin(m: Scope, x: Num) -> Num:
    """Inverse sine, at most 2 ulp; NaN beyond 1."""
    a = abs(x)
    big = a > 0.5
    z = m.where(big, (1.0 - a) * 0.5, a * a)
    t = m.where(big, z.sqrt(), a)
    low = m.where(big, m.exact_fma(-t, t, z) / (t + t), 0.0)
    low = m.where(t.eq(0.0), 0.0, low)
    rest = m.fma(t, _asin_tail(m, z), low)
    far, error = two_sum(m.constant(_PIO2_HI, "f64"), t * -2.0)
    return m.copysign(m.where(big, far + (error + m.fma(rest, -2.0, _PIO2_LO)), t + rest), x)


def acos(m: Scope, x: Num) -> Num:
    """Inverse cosine, at most 2 ulp; NaN beyond 1."""
    a = abs(x)
    big = a > 0.5
    z = m.where(big, (1.0 - a) * 0.5, a * a)
    t = m.where(big, z.sqrt(), x)
    low = m.where(t.eq(0.0), 0.0, m.where(big, m.exact_fma(-t, t, z) / (t + t), 0.0))
    rest = m.fma(t, _asin_tail(m, z), low)
    near, error = two_sum(m.constant(_PIO2_HI, "f64"), -t)
    middle = near + (error + (_PIO2_LO - rest))
    far, far_error = two_sum(m.constant(2 * _PIO2_HI, "f64"), t * -2.0)
    negative = far + (far_error + m.fma(rest, -2.0, 2 * _PIO2_LO))
    return m.where(big, m.where(x < 0.0, negative, (t + rest) * 2.0), middle)


def _erfc_positive(m: Scope, a: Num) -> Num:
    """erfc for 0 <= a <= 28."""
    square = a * a
    square_low = m.exact_fma(a, a, -square)
    e = exp(m, -square)
    e = m.fma(e, -square_low, e)
    return m.poly((a - 4.0) / (a + 4.0), _ERFCX) / m.fma(a, 2.0, 1.0) * e


def erf(m: Scope, x: Num) -> Num:
    """Error function, at most 2 ulp."""
    a = abs(x)
    far = m.copysign(1.0 - _erfc_positive(m, m.minimum(a, 6.0)), x)
    return m.where(a < 1.0, m.fma(x, m.poly(x * x, _ERF), x), far)


def erfc(m: Scope, x: Num) -> Num:
    """Complementary error function, at most 5 ulp; more where the result is denormal."""
    far = _erfc_positive(m, m.minimum(abs(x), 28.0))
    near = 1.0 - m.fma(x, m.poly(x * x, _ERF), x)
    return m.where(abs(x) < 0.25, near, m.where(x < 0.0, 2.0 - far, far))


def cbrt(m: Scope, x: Num) -> Num:
    """Cube root, at most 1 ulp: from log and exp, then a Newton step whose residual is exact to first order."""
    a = abs(x)
    big = m.where(a < 2.0**-900, 2.0**300, m.constant(1.0, "f64"))
    b = a * big
    t = exp2(m, log2(m, b) * 0.3333333333333333)
    square = t * t
    square_low = m.exact_fma(t, t, -square)
    residual = m.exact_fma(-square, t, b) - square_low * t
    t = t + residual / (square * 3.0)
    t = t * m.where(a < 2.0**-900, 2.0**-100, m.constant(1.0, "f64"))
    return m.where(m.where(a > 0.0, a, INF) < INF, m.copysign(t, x), x)


def pow(m: Scope, x: Num, y: Num) -> Num:
    """x**y with C's special cases, at most 16 ulp (2 unless the result is near the ends of the range).

    log2(x) carries about 59 bits, of which the exponent of the result takes up to 10.
    """
    a = abs(x)
    k, f, _ = log_parts(m, a)
    # the head of log(1+f) = 2s + ... again in two parts: s + s_low = f / (2 + f)
    bottom = f + 2.0
    s = f / bottom
    s_low = m.exact_fma(-s, bottom, f)
    s_low = (s_low - s * (f - (bottom - 2.0))) / bottom
    z = s * s
    head, tail = two_sum(s * 2.0, m.fma(s * z, m.poly(z, _LOG), s_low * 2.0))
    high = head * LOG2E[0]
    low = m.exact_fma(head, LOG2E[0], -high) + m.fma(tail, LOG2E[0], head * LOG2E[1])
    high, error = two_sum(k, high)
    high, low = two_sum(high, low + error)
    product = high * y
    product_low = m.exact_fma(high, y, -product) + low * y
    product_low = m.where(abs(product) < 1100.0, product_low, 0.0)
    base = exp2(m, product)
    value = m.where(base < INF, m.fma(base, product_low * 0.6931471805599453, base), base)
    # log2 of 0 and of infinity
    value = m.where(a.eq(0.0), m.where(y < 0.0, INF, m.constant(0.0, "f64")), value)
    value = m.where(a.eq(INF), m.where(y < 0.0, 0.0, m.constant(INF, "f64")), value)
    grows = (a > 1.0) ^ (y < 0.0)
    value = m.where(abs(y).eq(INF), m.where(grows, INF, m.constant(0.0, "f64")), value)
    value = m.where(a.eq(1.0), 1.0, value)
    # sign: a negative base needs an integer exponent, an odd one keeps the sign
    half = y * 0.5
    integral = _is_integral(m, y)
    odd = integral & (_is_integral(m, half) ^ 1)
    negative = x.bits() < 0
    value = m.where(negative & odd, -value, value)
    value = m.where((x < 0.0) & (integral ^ 1) & (a < INF), NAN, value)
    value = m.where(a.isnan() | y.isnan(), NAN, value)
    return m.where(y.eq(0.0) | x.eq(1.0), 1.0, value)


def _is_integral(m: Scope, y: Num) -> Num:
    whole = Num(m, m.ops.create("math.trunc", [y.value], y.value.type), y.kind)
    return whole.eq(y)
