"""Mathematical functions as arith ops: which ``math`` op is computed how, and the f32 functions.

``FUNCTIONS`` gives for each op name its f32 and its f64 form. Frequent f32 functions are computed in f32; rare ones
in f64 and rounded, which is right to little more than half an ulp. Everything is branch free except trigonometric
arguments beyond 2**30. NaN, infinities, signed zeros and denormals come out as C99 annex F says. Bounds are in ulp of
the result's type, measured over dense samples by test/unit/test_vmath.py.

Methods: exp and log as in fdlibm (see ``vmath64``); tanh by exp, with an odd polynomial below 0.625 (Cephes); erf as
an odd polynomial below 0.92 and a shifted one above; erfc as in W. Press et al., "Numerical Recipes", 6.2, a
polynomial in ``1 / (1 + c x)`` times ``exp(-x*x)``. Coefficients are minimax fits made for kc (Remez, mpmath).
"""
from __future__ import annotations

from collections.abc import Callable

from kc.builder import vmath64 as v64
from kc.builder import vmath_trig as trig
from kc.builder.num import Num, Scope

INF, NAN = v64.INF, v64.NAN
_ROUND = 12582912.0  # 1.5 * 2**23: adding it rounds to an integer whose low bits are the mantissa's
_LN2 = 0.693115234375, 3.194618329871446e-05  # 14 bits, then the rest
_LOG2E = 1.4426950216293335, 1.925963033500011e-08
_LOG10E = 0.4342944920063019, -1.0103049952192578e-08
_LOG10_2 = 0.301025390625, 4.605039066518657e-06

# (exp(r) - 1 - r) / r**2 on |r| <= ln(2)/2, error 2**-30
_EXP = (0.5, 0.16666647791862488, 0.041666481643915176, 0.00833786092698574, 0.001393380225636065,
        0.00017335201846435666)
# the same with one coefficient less, where only e**r is wanted, error 2**-28
_EXP_SHORT = (0.4999999403953552, 0.16666516661643982, 0.041668105870485306, 0.00836909469217062,
0.0013835239224135876)
# (log((1+s)/(1-s)) - 2 s) / s**3 in s**2, error 2**-35
_LOG = (0.6666666269302368, 0.40000972151756287, 0.2849879264831543, 0.24279172718524933)
# (tanh(x)/x - 1) / x**2 in x**2, x <= 0.625, error 2**-27
_TANH = (-0.3333328366279602, 0.1333148330450058, -0.053742773830890656, 0.020648060366511345, -0.005714055150747299)
# erf(x)/x - 1 in x**2, x <= 0.93, error 2**-29
_ERF = (0.12837916612625122, -0.3761262893676758, 0.11283624172210693, -0.02685558795928955, 0.005191947799175978,
        -0.0008043833659030497, 7.969592843437567e-05)
# erf(u + 2.425), 0.92 <= u + 2.425 <= 3.93 (from where on erf rounds to 1), error 2**-23.7
_ERF_FAR = (0.9993953108787537, 0.003151658922433853, -0.007645646575838327, 0.01130453497171402,
-0.011140083894133568,
            0.007434157654643059, -0.0030819126404821873, 0.0003347982419654727, 0.000507259217556566,
            -0.0003155745507683605, 3.3220843761228025e-05, 2.8782704248442315e-05, -7.852507224015426e-06)

# erfc(a) exp(a*a) / t in t = 1 / (1 + 0.75 a), a >= 1/2, error 2**-26
_ERFC = (0.4231574833393097, 0.42261189222335815, 0.311936616897583, 0.0022682645358145237, 0.1279354691505432,
         -1.253069519996643, 1.8209846019744873, -1.129030466079712, 0.27350953221321106)


def _reduce_ln2(m: Scope, x: Num, bias: int = 0) -> tuple[Num, Num]:
    """``x = k ln 2 + r``: (an i32 whose low 9 bits are those of ``k + bias``, r)."""
    t = m.fma(x, _LOG2E[0], _ROUND + bias)
    k = t - (_ROUND + bias)
    return t.bits(), m.fma(k, -_LN2[1], m.fma(k, -_LN2[0], x))


def _exp_core(m: Scope, r: Num) -> Num:
    """e**r - 1 with small relative error."""
    return m.fma(r * r, m.poly(r, _EXP), r)


def _exp_unit(m: Scope, r: Num) -> Num:
    """e**r, rounded."""
    return m.poly(r, (1.0, 1.0, *_EXP_SHORT))


def _scale(m: Scope, p: Num, bits: Num) -> Num:
    """``p * 2**k`` for k in [-250, 128] and ``bits`` with the low bits of ``k + 254``.

    In two steps, so that overflow and denormals round as they must.
    """
    half = bits.shr(1)
    return p * (half << 23).as_float() * ((bits - half) << 23).as_float()


def exp(m: Scope, x: Num) -> Num:
    """e**x, at most 1 ulp."""
    bits, r = _reduce_ln2(m, m.minimum(m.maximum(x, -104.0), 89.0), bias=254)
    return _scale(m, _exp_unit(m, r), bits)


def exp_nonpositive(m: Scope, x: Num) -> Num:
    """e**x for x <= 0 (NaN stays), at most 1 ulp: a cheaper scale, denormals included."""
    bits, r = _reduce_ln2(m, m.maximum(x, -104.0), bias=127 + 64)
    return _exp_unit(m, r) * (bits << 23).as_float() * 2.0**-64


def exp_normal(m: Scope, x: Num) -> Num:
    """e**x for x in [-87, 88]: no overflow, no denormals; NaN stays. At most 1 ulp."""
    bits, r = _reduce_ln2(m, x, bias=127)
    return _exp_unit(m, r) * (bits << 23).as_float()


def exp2(m: Scope, x: Num) -> Num:
    """2**x, at most 2 ulp; exact for integers."""
    x = m.minimum(m.maximum(x, -151.0), 129.0)
    t = x + (_ROUND + 254)
    p = _exp_unit(m, (x - (t - (_ROUND + 254))) * 0.6931471805599453)
    return m.where(x > 128.5, INF, _scale(m, p, t.bits()))


def expm1(m: Scope, x: Num) -> Num:
    """e**x - 1, at most 2 ulp."""
    bits, r = _reduce_ln2(m, m.minimum(m.maximum(x, -40.0), 89.0), bias=126)
    half = (bits << 23).as_float()  # 2**(k-1): no overflow at k = 128
    result = m.fma(_exp_core(m, r), half, half - 0.5) * 2.0
    return m.where(abs(x) < 2.0**-25, x, result)


def _log_parts(m: Scope, x: Num) -> tuple[Num, Num, Num]:
    """(k, f, rest): ``x = 2**k (1 + f)`` and ``log(1+f) = f + rest`` for finite x > 0."""
    tiny = x < 2.0**-126
    bits = m.where(tiny, x * 2.0**23, x).bits() - 0x3F3504F3  # sqrt(1/2)
    k = (bits >> 23).to("f32") - m.where(tiny, 23.0, m.constant(0.0, "f32"))
    f = ((bits & 0x007FFFFF) + 0x3F3504F3).as_float() - 1.0
    s = f / (f + 2.0)
    z = s * s
    half_square = f * f * 0.5
    return k, f, m.fma(s, m.fma(z, m.poly(z, _LOG), half_square), -half_square)


def log(m: Scope, x: Num) -> Num:
    """Natural logarithm, at most 1 ulp."""
    k, f, rest = _log_parts(m, x)
    return v64.log_edges(m, x, m.fma(k, _LN2[0], f + m.fma(k, _LN2[1], rest)))


def log2(m: Scope, x: Num) -> Num:
    """Logarithm to base 2, at most 2 ulp; exact for powers of 2."""
    k, f, rest = _log_parts(m, x)
    tail = m.fma(f, _LOG2E[1], rest * _LOG2E[0])
    return v64.log_edges(m, x, m.fma(f, _LOG2E[0], tail) + k)


def log10(m: Scope, x: Num) -> Num:
    """Logarithm to base 10, at most 2 ulp."""
    k, f, rest = _log_parts(m, x)
    tail = m.fma(k, _LOG10_2[1], m.fma(f, _LOG10E[1], rest * _LOG10E[0]))
    return v64.log_edges(m, x, m.fma(k, _LOG10_2[0], m.fma(f, _LOG10E[0], tail)))


def log1p(m: Scope, x: Num) -> Num:
    """log(1 + x), at most 2 ulp."""
    u = x + 1.0
    correction = m.where(x > 1.0, 1.0 - (u - x), x - (u - 1.0)) / u
    k, f, rest = _log_parts(m, u)
    result = m.fma(k, _LN2[0], f + (m.fma(k, _LN2[1], rest) + correction))
    return m.where(abs(x) < 2.0**-25, x, v64.log_edges(m, u, result))


def tanh(m: Scope, x: Num) -> Num:
    """Hyperbolic tangent, at most 2 ulp."""
    a = abs(x)
    e = exp_normal(m, m.minimum(a, 10.0) * 2.0)
    z = a * a
    near = m.fma(a, z * m.poly(z, _TANH), a)
    return m.copysign(m.where(a < 0.625, near, 1.0 - 2.0 / (e + 1.0)), x)


def erf(m: Scope, x: Num) -> Num:
    """Error function, at most 3 ulp."""
    a = abs(x)
    near = m.fma(a, m.poly(a * a, _ERF), a)
    far = m.poly(m.minimum(a, 3.93) - 2.425, _ERF_FAR)
    return m.copysign(m.where(a < 0.92, near, far), x)


def erfc(m: Scope, x: Num) -> Num:
    """Complementary error function, at most 4 ulp."""
    a = m.minimum(abs(x), 10.2)
    bottom = m.fma(a, 0.75, 1.0)
    t = 1.0 / bottom
    # what rounding took from t and from a*a, to first order
    t_low = m.fma(-t, m.fma(a, 0.75, 1.0 - bottom), m.fma(-t, bottom, 1.0))
    square = a * a
    correction = m.fma(t_low, 1.5, -m.exact_fma(a, a, -square))
    scaled = m.poly(t, _ERFC) * t
    far = m.fma(scaled, correction, scaled) * exp_nonpositive(m, -square)
    near = 1.0 - m.fma(x, m.poly(x * x, _ERF), x)
    return m.where(a < 0.5, near, m.where(x < 0.0, 2.0 - far, far))


def rsqrt(m: Scope, x: Num) -> Num:
    """1 / sqrt(x), at most 2 ulp."""
    return 1.0 / x.sqrt()


def _through_f64(function: Callable[..., Num]) -> Callable[..., Num]:
    """The f32 form of a f64 ``function``: rounded once more, so within 0.51 ulp."""
    def narrow(m: Scope, *args: Num) -> Num:
        return function(m, *(a.to("f64") for a in args)).to("f32")

    return narrow


def _sin_short(m: Scope, x: Num) -> Num:
    return trig.sin(m, x, precise=False)


def _cos_short(m: Scope, x: Num) -> Num:
    return trig.cos(m, x, precise=False)


Function = Callable[..., Num]

#: op name -> (f32 form, f64 form); arguments and result are ``Num`` of that type
FUNCTIONS: dict[str, tuple[Function, Function]] = {
    "math.acos": (_through_f64(v64.acos), v64.acos),
    "math.acosh": (_through_f64(v64.acosh), v64.acosh),
    "math.asin": (_through_f64(v64.asin), v64.asin),
    "math.asinh": (_through_f64(v64.asinh), v64.asinh),
    "math.atan": (_through_f64(v64.atan), v64.atan),
    "math.atan2": (_through_f64(v64.atan2), v64.atan2),
    "math.atanh": (_through_f64(v64.atanh), v64.atanh),
    "math.cbrt": (_through_f64(v64.cbrt), v64.cbrt),
    "math.cos": (_through_f64(_cos_short), trig.cos),
    "math.cosh": (_through_f64(v64.cosh), v64.cosh),
    "math.erf": (erf, v64.erf),
    "math.erfc": (erfc, v64.erfc),
    "math.exp": (exp, v64.exp),
    "math.exp2": (exp2, v64.exp2),
    "math.expm1": (expm1, v64.expm1),
    "math.log": (log, v64.log),
    "math.log10": (log10, v64.log10),
    "math.log1p": (log1p, v64.log1p),
    "math.log2": (log2, v64.log2),
    "math.powf": (_through_f64(v64.pow), v64.pow),
    "math.rsqrt": (rsqrt, rsqrt),
    "math.sin": (_through_f64(_sin_short), trig.sin),
    "math.sinh": (_through_f64(v64.sinh), v64.sinh),
    "math.tan": (_through_f64(trig.tan), trig.tan),
    "math.tanh": (tanh, v64.tanh),
}


def sincos(m: Scope, x: Num, precise: bool) -> tuple[Num, Num]:
    """sin and cos of f64 ``x`` (``precise``) or f32 ``x``; bounds as for each."""
    sine, cosine = trig.sincos(m, x.to("f64"), precise)
    return sine.to(x.kind), cosine.to(x.kind)


def fpowi(m: Scope, x: Num, n: Num) -> Num:
    """x**n for a float (f32 or f64) and a signed integer, as ``powf`` of the converted exponent."""
    exponent = n.to("f64")
    value = v64.pow(m, abs(x).to("f64"), exponent).to(x.kind)
    return m.where((x.bits() < 0) & (n & 1).ne(0), -value, value)


def ipowi(m: Scope, x: Num, n: Num) -> Num:
    """x**n of signed integers, wrapping; a negative exponent truncates toward zero (0**negative gives 0)."""
    from kc.bindings import ir

    ops, bits = m.ops, int(x.kind[1:])
    bounds = [ops.constant(value, "index") for value in (0, bits - 1, 1)]
    one = m.constant(1, x.kind)
    loop = ir.Operation.create("scf.for", results=[x.value.type] * 3, regions=1, loc=ops.location,
                               operands=[*bounds, one.value, x.value, n.value])
    body = loop.regions[0].blocks.append(ops.type("index"), *[x.value.type] * 3, arg_locs=[ops.location] * 4)
    with ir.InsertionPoint(body):
        inner = Scope(ops, x.value)
        result, base, rest = (Num(inner, value, x.kind) for value in list(body.arguments)[1:])
        result = inner.where((rest & 1).ne(0), result * base, result)
        ops.create("scf.yield", [result.value, (base * base).value, rest.shr(1).value])
    power = Num(m, loop.results[0], x.kind)
    odd = (n & 1).ne(0)
    unit = m.where(x.eq(1), 1, m.where(x.eq(-1), m.where(odd, -1, one), m.constant(0, x.kind)))
    return m.where(n < 0, unit, power)
