"""What a StableHLO or CHLO elementwise op does to one element, as ``arith``, ``math`` and ``complex`` ops.

The edges are the ones of the StableHLO specification, and where that leaves the value open, of XLA: a quotient by zero
has all bits set and its remainder is the dividend; INT_MIN / -1 wraps; a shift by the width or more pushes every bit
out; float to integer saturates and NaN becomes 0; ``maximum`` and ``minimum`` propagate NaN; ``add`` and ``multiply``
of booleans are OR and AND; booleans and complex numbers compare unsigned and lexicographically. None of these ops is
undefined for any input.

Integers are signless here: ``kc-stablehlo-to-signless`` has written down in ``kc.unsigned`` which were unsigned.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from kc.bindings import ir
from kc.passes.conversion._complex import absolute as complex_absolute
from kc.passes.conversion._complex import power as complex_power
from kc.passes.conversion._complex import unary as complex_function
from kc.passes.conversion._complex_quotient import atan2 as complex_atan2
from kc.passes.conversion._complex_quotient import divide as complex_divide
from kc.passes.conversion._emit import Emitter, int_type, is_complex, is_float, is_narrow_float, width
from kc.passes.conversion._round import float_to_int, reduce_precision


@dataclasses.dataclass(frozen=True)
class Scalar:
    """One op at one element: its attributes, the element type of its result, and which values are unsigned."""

    name: str
    attributes: dict[str, str]
    result: ir.Type
    unsigned: tuple[bool, ...]

    @classmethod
    def of(cls, op: ir.Operation, result: ir.Type) -> Scalar:
        attributes = {key: str(op.attributes[key]) for key in op.attributes}
        values = len(op.operands) + len(op.results)
        return cls(op.name, attributes, result, unsigned_flags(op, values))


def unsigned_flags(op: ir.Operation, count: int | None = None) -> tuple[bool, ...]:
    """``kc.unsigned`` of ``op``: one flag per operand, then per result; all False when it is not there."""
    count = len(op.operands) + len(op.results) if count is None else count
    if "kc.unsigned" not in op.attributes:
        return (False,) * count
    return tuple(bool(b) for b in ir.DenseBoolArrayAttr(op.attributes["kc.unsigned"]))


Rule = Callable[[Emitter, Scalar, list[ir.Value]], ir.Value]


def _is_bool(type_: ir.Type) -> bool:
    return isinstance(type_, ir.IntegerType) and width(type_) == 1


def _arith(float_op: str, int_op: str, bool_op: str, complex_op: str) -> Rule:
    def rule(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
        t = a[0].type
        if is_complex(t):
            return e.bin(complex_op, *a)
        return e.bin(float_op if is_float(t) else bool_op if _is_bool(t) else int_op, *a)

    return rule


def _divide(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    t = a[0].type
    if is_complex(t):
        return complex_divide(e, *a)
    if is_float(t):
        return e.bin("arith.divf", *a)
    zero = e.cmpi("eq", a[1], e.const(t, 0))
    one = e.const(t, 1)
    if s.unsigned[0] or _is_bool(t):
        return e.select(zero, e.const(t, -1), e.bin("arith.divui", a[0], e.select(zero, one, a[1])))
    wraps = _wraps(e, a)
    safe = e.select(e.bin("arith.ori", zero, wraps), one, a[1])
    # x / 1 is x, which is also what INT_MIN / -1 wraps to
    return e.select(zero, e.const(t, -1), e.bin("arith.divsi", a[0], safe))


def _remainder(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    t = a[0].type
    if is_float(t):
        return e.bin("arith.remf", *a)
    zero = e.cmpi("eq", a[1], e.const(t, 0))
    one = e.const(t, 1)
    if s.unsigned[0] or _is_bool(t):
        return e.select(zero, a[0], e.bin("arith.remui", a[0], e.select(zero, one, a[1])))
    safe = e.select(e.bin("arith.ori", zero, _wraps(e, a)), one, a[1])
    return e.select(zero, a[0], e.bin("arith.remsi", a[0], safe))


def _wraps(e: Emitter, a: list[ir.Value]) -> ir.Value:
    """INT_MIN / -1: the one signed quotient that does not fit."""
    t = a[0].type
    least = e.cmpi("eq", a[0], e.const(t, -(1 << (width(t) - 1))))
    return e.bin("arith.andi", least, e.cmpi("eq", a[1], e.const(t, -1)))


def _extremum(largest: bool) -> Rule:
    def rule(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
        t = a[0].type
        if is_float(t):
            return e.bin("arith.maximumf" if largest else "arith.minimumf", *a)
        if is_complex(t):
            return e.select(_complex_order(e, "ogt" if largest else "olt", a), a[0], a[1])
        kind = "u" if s.unsigned[0] or _is_bool(t) else "s"
        return e.bin(f"arith.{'max' if largest else 'min'}{kind}i", *a)

    return rule


def _complex_order(e: Emitter, predicate: str, a: list[ir.Value]) -> ir.Value:
    """Lexicographic: by the real parts, then by the imaginary ones."""
    part = ir.ComplexType(a[0].type).element_type
    (xr, yr), (xi, yi) = ([e.one(name, [v], part) for v in a] for name in ("complex.re", "complex.im"))
    return e.select(e.cmpf("oeq", xr, yr), e.cmpf(predicate, xi, yi), e.cmpf(predicate, xr, yr))


def _power(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    t = a[0].type
    if is_complex(t):
        return complex_power(e, *a)
    if is_float(t):
        return e.bin("math.powf", *a)
    one, zero = e.const(t, 1), e.const(t, 0)
    bits = width(t)

    def step(i: Emitter, _: ir.Value, c: list[ir.Value]) -> list[ir.Value]:
        result, base, exponent = c
        odd = i.cmpi("ne", i.bin("arith.andi", exponent, i.const(t, 1)), i.const(t, 0))
        result = i.select(odd, i.bin("arith.muli", result, base), result)
        return [result, i.bin("arith.muli", base, base), i.bin("arith.shrui", exponent, i.const(t, 1))]

    value = (
        e.for_(0, bits, [one, a[0], a[1]], step)[0]
        if bits > 1
        else e.bin("arith.ori", a[0], e.bin("arith.xori", a[1], one))
    )
    if s.unsigned[0] or bits == 1:
        return value
    minus_one = e.const(t, -1)
    odd = e.cmpi("ne", e.bin("arith.andi", a[1], one), zero)
    of_minus_one = e.select(odd, minus_one, one)
    small = e.select(e.cmpi("eq", a[0], one), one, e.select(e.cmpi("eq", a[0], minus_one), of_minus_one, zero))
    return e.select(e.cmpi("slt", a[1], zero), small, value)


def _shift(op: str) -> Rule:
    def rule(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
        t = a[0].type
        inside = e.cmpi("ult", a[1], e.const(t, width(t)))
        if op == "arith.shrsi":
            return e.bin(op, a[0], e.select(inside, a[1], e.const(t, width(t) - 1)))
        zero = e.const(t, 0)
        return e.select(inside, e.bin(op, a[0], e.select(inside, a[1], zero)), zero)

    return rule


_ORDERED = {"EQ": "oeq", "NE": "une", "LT": "olt", "LE": "ole", "GT": "ogt", "GE": "oge"}
_SIGNED = {"EQ": "eq", "NE": "ne", "LT": "slt", "LE": "sle", "GT": "sgt", "GE": "sge"}


def _compare(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    t = a[0].type
    direction = next(d for d in _ORDERED if f" {d}>" in s.attributes["comparison_direction"])
    if is_complex(t):
        if direction in ("EQ", "NE"):
            return e.one("complex.eq" if direction == "EQ" else "complex.neq", a, int_type(1))
        return _complex_order(e, _ORDERED[direction], a)
    if is_float(t):
        if "TOTALORDER" not in s.attributes.get("compare_type", ""):
            return e.cmpf(_ORDERED[direction], *a)
        return e.cmpi(_SIGNED[direction], *(total_order_key(e, v) for v in a))
    predicate = _SIGNED[direction]
    if s.unsigned[0] or _is_bool(t):
        predicate = predicate.replace("s", "u", 1) if predicate.startswith("s") else predicate
    return e.cmpi(predicate, *a)


def total_order_key(e: Emitter, value: ir.Value) -> ir.Value:
    """A signed integer that orders as IEEE 754 totalOrder: -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN."""
    bits = width(value.type)
    t = int_type(bits)
    pattern = e.one("arith.bitcast", [value], t)
    sign = e.bin("arith.shrsi", pattern, e.const(t, bits - 1))
    return e.bin("arith.xori", pattern, e.bin("arith.andi", sign, e.const(t, (1 << (bits - 1)) - 1)))


def _clamp(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    low, value, high = a
    return _extremum(False)(e, s, [_extremum(True)(e, s, [value, low]), high])


def _absolute(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    t = a[0].type
    if is_complex(t):
        return complex_absolute(e, a[0])
    if is_float(t):
        return e.unary("math.absf", a[0])
    if s.unsigned[0]:
        return a[0]
    zero = e.const(t, 0)
    return e.select(e.cmpi("slt", a[0], zero), e.bin("arith.subi", zero, a[0]), a[0])


def _negate(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    t = a[0].type
    if is_complex(t) or is_float(t):
        return e.unary("complex.neg" if is_complex(t) else "arith.negf", a[0])
    return e.bin("arith.subi", e.const(t, 0), a[0])


def _sign(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    t = a[0].type
    if is_complex(t):
        return complex_function(e, "sign", a[0])
    zero, one = e.const(t, 0), e.const(t, 1)
    if is_float(t):  # ueq: +-0 and NaN are their own signs
        return e.select(e.cmpf("ueq", a[0], zero), a[0], e.bin("math.copysign", one, a[0]))
    positive = e.select(e.cmpi("eq", a[0], zero), zero, one)
    return positive if s.unsigned[0] else e.select(e.cmpi("slt", a[0], zero), e.const(t, -1), positive)


def _math(float_op: str, complex_op: str | None = None) -> Rule:
    def rule(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
        if complex_op and is_complex(a[0].type):
            return complex_function(e, complex_op, a[0])
        return e.unary(float_op, a[0])

    return rule


def _atan2(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    return complex_atan2(e, *a) if is_complex(a[0].type) else e.bin("math.atan2", *a)


def _logistic(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    t = a[0].type
    if is_complex(t):
        return complex_function(e, "logistic", a[0])
    # e**-|x| does not overflow, so that far on the left the result fades out instead of breaking off
    one = e.const(t, 1.0)
    power = e.unary("math.exp", e.unary("arith.negf", e.unary("math.absf", a[0])))
    left = e.cmpf("olt", a[0], e.const(t, 0.0))
    return e.bin("arith.divf", e.select(left, power, one), e.bin("arith.addf", one, power))


def _is_finite(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    t = a[0].type
    return e.cmpf("olt", e.unary("math.absf", a[0]), e.const(t, float("inf")))


def _not(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    return e.bin("arith.xori", a[0], e.const(a[0].type, -1))


def _convert(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    return convert(e, a[0], s.result, s.unsigned[0], s.unsigned[-1])


def convert(
    e: Emitter, value: ir.Value, to: ir.Type, from_unsigned: bool = False, to_unsigned: bool = False
) -> ir.Value:
    """``stablehlo.convert`` of one element."""
    t = value.type
    if t == to:
        return value
    if is_complex(t):
        part = ir.ComplexType(t).element_type
        real = e.one("complex.re", [value], part)
        if not is_complex(to):
            return convert(e, real, to, from_unsigned, to_unsigned)
        inner = ir.ComplexType(to).element_type
        imaginary = e.one("complex.im", [value], part)
        return e.one("complex.create", [convert(e, real, inner), convert(e, imaginary, inner)], to)
    if is_complex(to):
        inner = ir.ComplexType(to).element_type
        return e.one("complex.create", [convert(e, value, inner, from_unsigned), e.const(inner, 0.0)], to)
    if _is_bool(to):
        if is_narrow_float(t):
            value = e.to_float(value, ir.F32Type.get())
        zero = e.const(value.type, 0)
        return e.cmpf("une", value, zero) if is_float(t) else e.cmpi("ne", value, zero)
    unsigned = from_unsigned or _is_bool(t)
    if is_float(t):
        return e.to_float(value, to) if is_float(to) else float_to_int(e, value, to, to_unsigned)
    if is_float(to):
        name = "arith.uitofp" if unsigned else "arith.sitofp"
        if width(to) >= 32 or (width(t) <= 8 and isinstance(to, (ir.F16Type, ir.BF16Type))):  # the latter is exact
            return e.one(name, [value], to)
        # through a type that holds the integer, so that it is rounded once
        if width(t) > 32:
            value = _sticky(e, value, unsigned)
        return e.to_float(e.one(name, [value], ir.F32Type.get() if width(t) <= 16 else ir.F64Type.get()), to)
    return e.to_int(value, to, unsigned)


def _sticky(e: Emitter, value: ir.Value, unsigned: bool) -> ir.Value:
    """A 64-bit integer that f64 holds and that rounds to few digits as ``value`` does.

    Beyond 2**53 the 11 lowest bits become one that says whether any of them was set.
    """
    t = value.type
    low = e.bin("arith.andi", value, e.const(t, 0x7FF))
    rest = e.bin("arith.andi", value, e.const(t, -0x800))
    odd = e.select(e.cmpi("ne", low, e.const(t, 0)), e.bin("arith.ori", rest, e.const(t, 0x800)), rest)
    limit = e.const(t, 1 << 53)
    small = e.cmpi("ult", value, limit)
    if not unsigned:
        shifted = e.bin("arith.addi", value, limit)
        small = e.cmpi("ult", shifted, e.const(t, 1 << 54))
    return e.select(small, value, odd)


def _reduce_precision(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    exponent, mantissa = (int(s.attributes[f"{k}_bits"].split(":")[0]) for k in ("exponent", "mantissa"))
    return reduce_precision(e, a[0], exponent, mantissa)


def _part(op: str) -> Rule:
    def rule(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
        if is_complex(a[0].type):
            return e.one(op, a, s.result)
        return a[0] if op == "complex.re" else e.const(s.result, 0.0)

    return rule


def _next_after(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    """The neighbour of the first towards the second: C's nextafter, on the bits of any format."""
    t = a[0].type
    bits, i = width(t), int_type(width(t))
    x, y = (e.to_float(v, ir.F32Type.get()) if is_narrow_float(t) else v for v in a)
    pattern = e.one("arith.bitcast", [a[0]], i)
    one, sign = e.const(i, 1), e.const(i, 1 << (bits - 1))
    up, down = e.bin("arith.addi", pattern, one), e.bin("arith.subi", pattern, one)
    below = e.cmpf("olt", x, y)
    if "E8M0" in str(t):  # without zero and sign
        moved = e.select(below, up, down)
    else:
        zero = e.const(x.type, 0.0)
        moved = e.select(e.cmpi("eq", below, e.cmpf("ogt", x, zero)), up, down)
        if "FNUZ" in str(t):  # the pattern of -0 is NaN
            moved = e.select(e.cmpi("eq", moved, sign), e.const(i, 0), moved)
        negative = e.cmpf("olt", y, zero)
        moved = e.select(e.cmpf("oeq", x, zero), e.select(negative, e.bin("arith.ori", sign, one), one), moved)
    moved = e.one("arith.bitcast", [moved], t)
    moved = e.select(e.bin("arith.ori", e.cmpf("oeq", x, y), e.cmpf("uno", y, y)), a[1], moved)
    return e.select(e.cmpf("uno", x, x), a[0], moved)


def _select(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    return e.select(*a)


def _create(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    return e.one("complex.create", a, s.result)


def _bitcast(e: Emitter, s: Scalar, a: list[ir.Value]) -> ir.Value:
    return a[0] if a[0].type == s.result else e.one("arith.bitcast", a, s.result)


RULES: dict[str, Rule] = {
    "chlo.acos": _math("math.acos", "acos"),
    "chlo.acosh": _math("math.acosh", "acosh"),
    "chlo.asin": _math("math.asin", "asin"),
    "chlo.asinh": _math("math.asinh", "asinh"),
    "chlo.atan": _math("math.atan", "atan"),
    "chlo.atanh": _math("math.atanh", "atanh"),
    "chlo.cosh": _math("math.cosh", "cosh"),
    "chlo.erf": _math("math.erf"),
    "chlo.erfc": _math("math.erfc"),
    "chlo.sinh": _math("math.sinh", "sinh"),
    "chlo.tan": _math("math.tan", "tan"),
    "chlo.next_after": _next_after,
    "stablehlo.abs": _absolute,
    "stablehlo.add": _arith("arith.addf", "arith.addi", "arith.ori", "complex.add"),
    "stablehlo.and": _arith("", "arith.andi", "arith.andi", ""),
    "stablehlo.atan2": _atan2,
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.cbrt": _math("math.cbrt", "cbrt"),
    "stablehlo.ceil": _math("math.ceil"),
    "stablehlo.clamp": _clamp,
    "stablehlo.compare": _compare,
    "stablehlo.complex": _create,
    "stablehlo.convert": _convert,
    "stablehlo.cosine": _math("math.cos", "cos"),
    "stablehlo.count_leading_zeros": _math("math.ctlz"),
    "stablehlo.divide": _divide,
    "stablehlo.exponential": _math("math.exp", "exp"),
    "stablehlo.exponential_minus_one": _math("math.expm1", "expm1"),
    "stablehlo.floor": _math("math.floor"),
    "stablehlo.imag": _part("complex.im"),
    "stablehlo.is_finite": _is_finite,
    "stablehlo.log": _math("math.log", "log"),
    "stablehlo.log_plus_one": _math("math.log1p", "log1p"),
    "stablehlo.logistic": _logistic,
    "stablehlo.maximum": _extremum(True),
    "stablehlo.minimum": _extremum(False),
    "stablehlo.multiply": _arith("arith.mulf", "arith.muli", "arith.andi", "complex.mul"),
    "stablehlo.negate": _negate,
    "stablehlo.not": _not,
    "stablehlo.or": _arith("", "arith.ori", "arith.ori", ""),
    "stablehlo.popcnt": _math("math.ctpop"),
    "stablehlo.power": _power,
    "stablehlo.real": _part("complex.re"),
    "stablehlo.reduce_precision": _reduce_precision,
    "stablehlo.remainder": _remainder,
    "stablehlo.round_nearest_afz": _math("math.round"),
    "stablehlo.round_nearest_even": _math("math.roundeven"),
    "stablehlo.rsqrt": _math("math.rsqrt", "rsqrt"),
    "stablehlo.select": _select,
    "stablehlo.shift_left": _shift("arith.shli"),
    "stablehlo.shift_right_arithmetic": _shift("arith.shrsi"),
    "stablehlo.shift_right_logical": _shift("arith.shrui"),
    "stablehlo.sign": _sign,
    "stablehlo.sine": _math("math.sin", "sin"),
    "stablehlo.sqrt": _math("math.sqrt", "sqrt"),
    "stablehlo.subtract": _arith("arith.subf", "arith.subi", "arith.xori", "complex.sub"),
    "stablehlo.tan": _math("math.tan", "tan"),
    "stablehlo.tanh": _math("math.tanh", "tanh"),
    "stablehlo.xor": _arith("", "arith.xori", "arith.xori", ""),
}


#: what does not compute, and so takes floats of any width as they are
_AS_IT_IS = frozenset(
    {"chlo.next_after", *(f"stablehlo.{n}" for n in ("bitcast_convert", "convert", "real", "select"))}
)


def emit_scalar(e: Emitter, op: ir.Operation, arguments: Sequence[ir.Value], result: ir.Type) -> ir.Value:
    """The element of ``op`` (one of ``RULES``) for the element values ``arguments``.

    On floats of 8 bits and fewer an op computes in f32 and is rounded once: sums, products, quotients and square roots
    are then those of exact arithmetic, since f32 has more than twice their digits (Figueroa, "When is double rounding
    innocuous?", 1995).
    """
    rule, values = RULES[op.name], list(arguments)
    if op.name in _AS_IT_IS or not any(is_narrow_float(v.type) for v in values):
        return rule(e, Scalar.of(op, result), values)
    f32 = ir.F32Type.get()
    wide = [e.to_float(v, f32) if is_narrow_float(v.type) else v for v in values]
    if not is_narrow_float(result):
        return rule(e, Scalar.of(op, result), wide)
    return e.to_float(rule(e, Scalar.of(op, f32), wide), result)
