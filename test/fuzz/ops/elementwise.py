"""Elementwise operations: arithmetic, functions, bits, comparison, selection."""

from __future__ import annotations

import dataclasses

from .. import values
from ..builder import Builder, generic
from ..facts import Facts, join, product, rounded, total
from ..program import Value
from ..tensors import (
    ARITHMETIC,
    COMPLEX,
    FLOATS,
    FLOATS8,
    INTEGERS,
    Dyn,
    Tensor,
    bits,
    is_inexact,
    is_integer,
    part,
)
from .regions import total_order_key

#: functions that round: smooth, so that their error is a few roundings times their condition
FUNCTIONS = (
    "exponential",
    "log",
    "tanh",
    "logistic",
    "rsqrt",
    "cbrt",
    "sine",
    "cosine",
    "tan",
    "exponential_minus_one",
    "log_plus_one",
)
COMPLEX_FUNCTIONS = (
    "exponential",
    "log",
    "tanh",
    "sine",
    "cosine",
    "sqrt",
    "rsqrt",
    "exponential_minus_one",
    "log_plus_one",
)
INTEGER_OPERATIONS = (
    *("add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor", "divide", "remainder", "power"),
    *("shift_left", "shift_right_logical", "shift_right_arithmetic"),
)
CHLO = (
    "erf",
    "erfc",
    "sinh",
    "cosh",
    "asin",
    "acos",
    "atan",
    "asinh",
    "acosh",
    "atanh",
    "lgamma",
    "digamma",
    "erf_inv",
)


INTEGRAL = ("floor", "ceil", "round_nearest_even", "round_nearest_afz")


def unary(b: Builder) -> None:
    x = b.any((*FLOATS, *INTEGERS, *COMPLEX, *FLOATS8))
    t, f = x.type, x.facts
    clean = dataclasses.replace(f, bits=False)
    if is_integer(t.element):
        name = b.c.one_of(("negate", "abs", "sign", "not", "popcnt", "count_leading_zeros"))
        if name in ("abs", "sign") and t.element.startswith("ui"):
            name = "not"
        b.op(
            name,
            [x],
            t,
            Facts(f.exact, f.mag if name in ("negate", "abs", "sign") and not t.element.startswith("ui") else None),
        )
    elif t.element in COMPLEX:
        name = b.c.one_of(("negate", "real", "imag"))
        kind = t if name == "negate" else t.of(part(t.element))
        b.op(name, [x], kind, f if name != "negate" else clean)
    else:
        name = b.c.one_of(("negate", "abs", "sign", *INTEGRAL, "sqrt", "is_finite"))
        if name == "is_finite":
            b.op(name, [x], t.of("i1"), Facts(f.exact, 1))
        elif name in INTEGRAL and t.element in FLOATS8 and not b.in_region:
            _integral8(b, name, x)
        elif name == "sqrt":
            facts = rounded(Facts(f.exact, None, nan=True, bits=False), t.element)
            if facts.exact or not b.exact:
                b.op(name, [x], t, facts, rounds=True)
            else:
                b.op("negate", [x], t, clean)
        elif name in ("negate", "abs") or (name in INTEGRAL and t.element in FLOATS8):
            b.op(name if name not in INTEGRAL else "negate", [x], t, clean)
        elif name == "sign":
            b.op(name, [x], t, Facts(f.exact, 1.0, 1.0, f.nan, False))
        else:
            whole = Facts(f.exact, None if f.mag is None else f.mag + 1, 1.0, f.nan, False)
            b.op(name, [x], t, rounded(whole, t.element) if f.mag is not None else dataclasses.replace(clean, mag=None))


def _integral8(b: Builder, name: str, x: Value) -> None:
    """Round an 8-bit float to a whole number; the interpreter, whose answers are NaN, gets it as f32."""
    t, clean = x.type, dataclasses.replace(x.facts, bits=False)
    facts = dataclasses.replace(clean, mag=None)
    if x.facts.mag is not None:
        facts = rounded(dataclasses.replace(clean, mag=x.facts.mag + 1, step=1.0), t.element)
    wide = t.of("f32")
    plain, whole = Value(b.name(), wide, clean), Value(b.name(), wide, clean)
    reference = (
        f"%{plain.name} = " + generic("convert", [x], [wide]),
        f"%{whole.name} = " + generic(name, [plain], [wide]),
        generic("convert", [whole], [t]),
    )
    b.emit(generic(name, [x], [t]), [(t, facts)], reference=reference)


def function(b: Builder) -> None:
    """A transcendental function (inexact programs only)."""
    x = b.any((*FLOATS, *FLOATS, *COMPLEX))
    t = x.type
    chlo = t.element in FLOATS and b.c.chance(25)
    name = b.c.one_of(COMPLEX_FUNCTIONS if t.element in COMPLEX else CHLO if chlo else FUNCTIONS)
    if name == "log" and t.element in COMPLEX and (x.facts.mag is not None or x.facts.nan):
        name = "tanh"  # of 0 the interpreter's logarithm has a NaN for its imaginary part
    if name in ("log_plus_one", "exponential_minus_one") and t.element in COMPLEX:
        name = "tanh"  # the interpreter takes log(1 + z) and exp(z) - 1, and so loses what is small
    facts = Facts(False, None, nan=True, bits=False)
    b.op(f"chlo.{name}" if chlo else name, [x], t, facts, rounds=True)


def binary(b: Builder) -> None:
    x = b.any((*ARITHMETIC, "i1", *FLOATS8))
    y = _partner(b, x)
    arithmetic(b, x, y)


def _partner(b: Builder, x: Value) -> Value:
    return x if b.c.chance(10) else b.like(x.type)


def arithmetic(b: Builder, x: Value, y: Value) -> Value:
    """A binary operation on two values of one type."""
    t = x.type
    if t.element == "i1":
        name = b.c.one_of(("and", "or", "xor", "add", "multiply", "maximum", "minimum"))
        return b.op(name, [x, y], t, join(x.facts, y.facts))
    if is_integer(t.element):
        return _integer(b, x, y)
    names = ["add", "subtract", "multiply"]
    if t.element not in COMPLEX:
        names += ["maximum", "minimum", "divide", "remainder"]
    if not b.exact:
        # a complex 0 to the power of 0 is 1 in NumPy and in kc, and NaN in the interpreter
        names += ["divide"] if t.element in COMPLEX else ["power", "divide", "atan2"]
    name = b.c.one_of(names)
    either = join(x.facts, y.facts)
    if name in ("maximum", "minimum"):
        return b.op(name, [x, y], t, dataclasses.replace(either, bits=False))
    if name in ("power", "atan2") or (name == "divide" and t.element in COMPLEX):
        facts = Facts(False, None, nan=True, bits=False)
    elif name in ("add", "subtract"):
        facts = rounded(total(x.facts, y.facts), t.element)
    elif name == "multiply":
        facts = rounded(product(x.facts, y.facts), t.element)
    elif name == "remainder":
        facts = Facts(either.exact, either.mag, either.step, True, False)
    else:
        facts = rounded(Facts(either.exact, None, nan=True, bits=False), t.element)
    if b.exact and not facts.exact:
        if t.element in COMPLEX:
            return b.op("negate", [x], t, dataclasses.replace(x.facts, bits=False))
        return b.op("minimum", [x, y], t, dataclasses.replace(either, bits=False))
    return b.op(name, [x, y], t, facts, rounds=name != "remainder")


def _integer(b: Builder, x: Value, y: Value) -> Value:
    t = x.type
    name = b.c.one_of(INTEGER_OPERATIONS)
    exact = x.facts.exact and y.facts.exact
    if name in ("divide", "remainder"):
        y = divisor(b, t)
        exact = x.facts.exact
    if name == "power":
        y = b.like(t, values.POSITIVE)
        exact = x.facts.exact
    if name == "add" or (name == "subtract" and not t.element.startswith("ui")):
        facts = rounded(total(x.facts, y.facts), t.element)
    elif name == "multiply":
        facts = rounded(product(x.facts, y.facts), t.element)
    elif name in ("maximum", "minimum"):
        facts = join(x.facts, y.facts)
    else:
        facts = Facts(exact, None)
    return b.op(name, [x, y], t, dataclasses.replace(facts, exact=exact, bits=True))


def divisor(b: Builder, t: Tensor) -> Value:
    """Positive integers: the specification leaves x / 0 and INT_MIN / -1 to the implementation (see test_cases.py)."""
    if not b.special or any(isinstance(n, Dyn) for n in t.shape):
        return b.like(t, values.POSITIVE)
    y, one = b.like(t, values.EDGES), b.scalar(t.element, values.POSITIVE)
    ones = b.op("broadcast_in_dim", [one], t, one.facts, "broadcast_dimensions = array<i64>")
    return b.op("maximum", [y, ones], t, Facts(y.facts.exact, None))


def compare(b: Builder) -> None:
    x = b.any((*ARITHMETIC, "i1", *FLOATS8))
    y = _partner(b, x)
    element = x.type.element
    direction = b.c.one_of(("EQ", "NE") if element in COMPLEX else ("LT", "EQ", "NE", "GE", "GT", "LE"))
    kind = "FLOAT" if is_inexact(element) else "SIGNED" if element.startswith("i") and element != "i1" else "UNSIGNED"
    direction_attribute = f"comparison_direction = #stablehlo<comparison_direction {direction}>, compare_type = "
    out, facts = x.type.of("i1"), Facts(x.facts.exact and y.facts.exact, 1)
    if b.exact and element in FLOATS and x.facts.bits and y.facts.bits and not b.in_region and b.c.chance(30):
        keys = [Value(f"{b.name()}k", x.type.of(f"i{bits(element)}"), v.facts) for v in (x, y)]
        lines = [
            line
            for k, v in zip(keys, (x, y), strict=True)
            for line in total_order_key(k.name, v.name, v.type.shape, element)
        ]
        signed = generic("compare", keys, [out], f"{direction_attribute}#stablehlo<comparison_type SIGNED>")
        text = generic("compare", [x, y], [out], f"{direction_attribute}#stablehlo<comparison_type TOTALORDER>")
        b.emit(text, [(out, facts)], reference=(*lines, signed))
        return
    b.op("compare", [x, y], out, facts, f"{direction_attribute}#stablehlo<comparison_type {kind}>")


def select(b: Builder) -> None:
    x = b.any((*ARITHMETIC, "i1", *FLOATS8))
    y = _partner(b, x)
    p = b.like(x.type.of("i1")) if b.c.chance(70) else b.scalar("i1")
    facts = join(x.facts, y.facts)
    b.op("select", [p, x, y], x.type, dataclasses.replace(facts, exact=facts.exact and p.facts.exact))


def clamp(b: Builder) -> None:
    x = b.any((*FLOATS, *INTEGERS, *FLOATS8))
    bound = x.type if b.c.chance(60) else x.type.shaped()
    low, high = b.like(bound), b.like(bound)
    facts = dataclasses.replace(join(x.facts, low.facts, high.facts), bits=False)
    b.op("clamp", [low, x, high], x.type, facts)


def complex_parts(b: Builder) -> None:
    re = b.any(("f32", "f64"))
    im = _partner(b, re)
    b.op("complex", [re, im], re.type.of(f"complex<{re.type.element}>"), join(re.facts, im.facts))


def absolute_complex(b: Builder) -> None:
    x = b.any(COMPLEX)
    b.op("abs", [x], x.type.of(part(x.type.element)), Facts(False, None, nan=True, bits=False), rounds=True)
