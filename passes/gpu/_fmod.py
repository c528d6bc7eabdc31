"""Exact floating-point remainder (C's ``fmod``) in integer arithmetic, for f32 and f64."""

from __future__ import annotations

from typing import Any

from kc.bindings import ir
from kc.passes.gpu._launch import Arith, end_loop, for_loop

_FORMATS = {"f32": (32, 23), "f64": (64, 52)}  # bits, mantissa bits


def expand(a: Arith, x: Any, y: Any) -> Any:
    """``fmod(x, y)`` at the ambient insertion point: the sign is x's, the result exact.

    Long division on the significands: with ``|x| = mx * 2**ex`` and ``|y| = my * 2**ey``, both integers, the
    remainder is ``(mx * 2**(ex - ey)) mod my`` times ``2**ey``, formed bit by bit. NaN when x is infinite, y is zero,
    or one is NaN.
    """
    return _Remainder(a, x.type).emit(x, y)


class _Remainder:
    def __init__(self, a: Arith, kind: Any) -> None:
        self.a, self.kind = a, kind
        self.bits, self.mantissa = _FORMATS[str(kind)]
        self.word = ir.IntegerType.get_signless(self.bits)
        self.bool = ir.IntegerType.get_signless(1)

    def _c(self, value: int) -> Any:
        return self.a.constant(value - (1 << self.bits) if value >> (self.bits - 1) else value, self.word)

    def _op(self, name: str, *operands: Any, a: Arith | None = None) -> Any:
        return (a or self.a).op(f"arith.{name}", list(operands), [operands[0].type])

    def _cmp(self, predicate: str, x: Any, y: Any, a: Arith | None = None) -> Any:
        code = {"eq": 0, "slt": 2, "ult": 6, "uge": 9}[predicate]
        attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), code)
        return (a or self.a).op("arith.cmpi", [x, y], [self.bool], {"predicate": attribute})

    def _select(self, condition: Any, x: Any, y: Any, a: Arith | None = None) -> Any:
        return (a or self.a).op("arith.select", [condition, x, y], [x.type])

    def _parts(self, magnitude: Any) -> tuple[Any, Any]:
        """(significand, exponent field of at least 1) of a finite magnitude's bits."""
        field = self._op("shrui", magnitude, self._c(self.mantissa))
        fraction = self._op("andi", magnitude, self._c((1 << self.mantissa) - 1))
        subnormal = self._cmp("eq", field, self._c(0))
        significand = self._select(subnormal, fraction, self._op("ori", fraction, self._c(1 << self.mantissa)))
        return significand, self._select(subnormal, self._c(1), field)

    def emit(self, x: Any, y: Any) -> Any:
        a = self.a
        rest = (1 << (self.bits - 1)) - 1
        bits_x = a.op("arith.bitcast", [x], [self.word])
        bits_y = a.op("arith.bitcast", [y], [self.word])
        sign = self._op("andi", bits_x, self._c(1 << (self.bits - 1)))
        size_x, size_y = self._op("andi", bits_x, self._c(rest)), self._op("andi", bits_y, self._c(rest))
        infinity = self._c(((1 << (self.bits - 1 - self.mantissa)) - 1) << self.mantissa)
        (mx, ex), (my, ey) = self._parts(size_x), self._parts(size_y)
        # a zero divisor is handled below; 1 keeps the loop's arithmetic defined
        my = self._select(self._cmp("eq", my, self._c(0)), self._c(1), my)
        steps = self._op("maxsi", self._op("subi", ex, ey), self._c(0))
        loop, body = for_loop(a, 0, a.op("arith.index_castui", [steps], [a.index_type]), 1, [self._op("remui", mx, my)])
        with ir.InsertionPoint(body):
            inner = Arith(a.location)
            # the significands have a bit to spare, so twice a value below my does not wrap
            twice = self._op("addi", body.arguments[1], body.arguments[1], a=inner)
            less = self._op("subi", twice, my, a=inner)
            end_loop(inner, body, [self._select(self._cmp("ult", twice, my, inner), twice, less, inner)])
        value = self._assemble(loop.results[0], ey)
        value = self._select(self._cmp("ult", size_x, size_y), size_x, value)
        result = a.op("arith.bitcast", [self._op("ori", value, sign)], [self.kind])
        # a NaN's magnitude lies above infinity's
        usable = self._op("andi", self._cmp("ult", size_x, infinity), self._cmp("uge", infinity, size_y))
        usable = self._op("andi", usable, self._cmp("ult", self._c(0), size_y))
        return self._select(usable, result, a.constant(float("nan"), self.kind))

    def _assemble(self, significand: Any, exponent: Any) -> Any:
        """The bits of ``significand * 2**(exponent - bias - mantissa)``, normalised."""
        zeros = self.a.intrinsic("ctlz", [significand, self.a.constant(False, self.bool)])
        shift = self._op("subi", zeros, self._c(self.bits - 1 - self.mantissa))
        shift = self._op("minsi", self._op("maxsi", shift, self._c(0)), self._op("subi", exponent, self._c(1)))
        shifted = self._op("shli", significand, shift)
        field = self._op("subi", exponent, shift)
        normal = self._cmp("uge", shifted, self._c(1 << self.mantissa))
        fraction = self._op("andi", shifted, self._c((1 << self.mantissa) - 1))
        packed = self._op("ori", fraction, self._op("shli", field, self._c(self.mantissa)))
        return self._select(normal, packed, shifted)
