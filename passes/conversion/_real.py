"""Arithmetic in f64 on the parts of complex numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kc.bindings import ir
from kc.passes.conversion._emit import Emitter

#: real and imaginary part, f64
Pair = tuple[ir.Value, ir.Value]

#: a power of two whose square is far from the ends of f64, and from where on squares are scaled
SCALE, LARGE = 2.0**600, 2.0**500
#: functions that are no more than an instruction
_INSTRUCTIONS = frozenset({"absf", "sqrt"})


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


def parts(e: Emitter, z: ir.Value) -> Pair:
    """Real and imaginary part in f64."""
    part = ir.ComplexType(z.type).element_type
    return (
        e.to_float(e.one("complex.re", [z], part), ir.F64Type.get()),
        e.to_float(e.one("complex.im", [z], part), ir.F64Type.get()),
    )


def join(e: Emitter, pair: Pair, type_: ir.Type) -> ir.Value:
    part = ir.ComplexType(type_).element_type
    return e.one("complex.create", [e.to_float(p, part) for p in pair], type_)
