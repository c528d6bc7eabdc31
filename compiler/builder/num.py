"""Numbers that emit ops: Python operators over scalar or vector values, so that formulas read as formulas.

``Scope`` fixes the shape (scalar, or a vector of any rank); a ``Num`` in it is one value with its element type::

    m = Scope(ops, like=value)
    x = m.wrap(value, "f32")
    y = m.fma(x, 2.0, 1.0)               # Python numbers become constants of the other operand's type
    y = m.where(y < 0.0, -y, y)
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

from kc.builder.expr import Ops, literal_text

Number = Union["Num", int, float]

_FLOAT_PREDICATES = {"oeq": 1, "ogt": 2, "oge": 3, "olt": 4, "ole": 5, "une": 13, "uno": 14}
_INT_PREDICATES = {"eq": 0, "ne": 1, "slt": 2, "sle": 3, "sgt": 4, "sge": 5, "ult": 6}


class Num:
    """One value. Arithmetic is IEEE on floats and wraps on integers; ``>>`` is arithmetic, ``.shr`` logical."""

    __slots__ = ("kind", "scope", "value")

    def __init__(self, scope: Scope, value: Any, kind: str) -> None:
        self.scope, self.value, self.kind = scope, value, kind

    def _binary(self, float_name: str | None, int_name: str | None, other: Number, swap: bool = False) -> Num:
        name = float_name if self.kind[0] == "f" else int_name
        assert name is not None
        a, b = self, self.scope.like(other, self)
        if swap:
            a, b = b, a
        return Num(self.scope, self.scope.ops.create(name, [a.value, b.value], self.value.type), self.kind)

    def __add__(self, other: Number) -> Num:
        return self._binary("arith.addf", "arith.addi", other)

    def __sub__(self, other: Number) -> Num:
        return self._binary("arith.subf", "arith.subi", other)

    def __rsub__(self, other: Number) -> Num:
        return self._binary("arith.subf", "arith.subi", other, swap=True)

    def __mul__(self, other: Number) -> Num:
        return self._binary("arith.mulf", "arith.muli", other)

    def __truediv__(self, other: Number) -> Num:
        return self._binary("arith.divf", None, other)

    def __rtruediv__(self, other: Number) -> Num:
        return self._binary("arith.divf", None, other, swap=True)

    def __and__(self, other: Number) -> Num:
        return self._binary(None, "arith.andi", other)

    def __or__(self, other: Number) -> Num:
        return self._binary(None, "arith.ori", other)

    def __xor__(self, other: Number) -> Num:
        return self._binary(None, "arith.xori", other)

    def __lshift__(self, other: Number) -> Num:
        return self._binary(None, "arith.shli", other)

    def __rshift__(self, other: Number) -> Num:
        return self._binary(None, "arith.shrsi", other)

    def shr(self, other: Number) -> Num:
        return self._binary(None, "arith.shrui", other)

    def __neg__(self) -> Num:
        return self._unary("arith.negf") if self.kind[0] == "f" else 0 - self

    def __abs__(self) -> Num:
        return self._unary("math.absf")

    def sqrt(self) -> Num:
        return self._unary("math.sqrt")

    def _unary(self, name: str) -> Num:
        return Num(self.scope, self.scope.ops.create(name, [self.value], self.value.type), self.kind)

    # -- comparisons: ordered on floats (false for NaN) except ``ne``; signed on integers

    def _compare(self, float_predicate: str, int_predicate: str, other: Number) -> Num:
        b, m = self.scope.like(other, self), self.scope
        if self.kind[0] == "f":
            name, number = "arith.cmpf", _FLOAT_PREDICATES[float_predicate]
        else:
            name, number = "arith.cmpi", _INT_PREDICATES[int_predicate]
        return Num(m, m.ops.create(name, [self.value, b.value], m.type("i1"), {"predicate": f"{number} : i64"}), "i1")

    def __lt__(self, other: Number) -> Num:
        return self._compare("olt", "slt", other)

    def __le__(self, other: Number) -> Num:
        return self._compare("ole", "sle", other)

    def __gt__(self, other: Number) -> Num:
        return self._compare("ogt", "sgt", other)

    def __ge__(self, other: Number) -> Num:
        return self._compare("oge", "sge", other)

    def eq(self, other: Number) -> Num:
        return self._compare("oeq", "eq", other)

    def ne(self, other: Number) -> Num:
        return self._compare("une", "ne", other)

    def ult(self, other: Number) -> Num:
        """Unsigned less-than of integers."""
        return self._compare("olt", "ult", other)

    def isnan(self) -> Num:
        return self._compare("uno", "eq", self)

    # -- conversions

    def to(self, kind: str) -> Num:
        """Numeric conversion: between float widths, integer widths (sign-extended), or integer (signed) and float."""
        if kind == self.kind:
            return self
        sizes = int(kind[1:]), int(self.kind[1:])
        name = {("f", "f"): "arith.extf" if sizes[0] > sizes[1] else "arith.truncf",
                ("i", "i"): "arith.extsi" if sizes[0] > sizes[1] else "arith.trunci",
                ("f", "i"): "arith.sitofp", ("i", "f"): "arith.fptosi"}[kind[0], self.kind[0]]
        return self.convert(name, kind)

    def convert(self, name: str, kind: str) -> Num:
        return Num(self.scope, self.scope.ops.create(name, [self.value], self.scope.type(kind)), kind)

    def bits(self) -> Num:
        """The float's bit pattern as an integer of the same width."""
        return self.convert("arith.bitcast", "i" + self.kind[1:])

    def as_float(self) -> Num:
        """The float whose bit pattern this integer is."""
        return self.convert("arith.bitcast", "f" + self.kind[1:])


class Scope:
    """Straight-line code over values of one shape: that of ``like``, a value of any element type."""

    def __init__(self, ops: Ops, like: Any) -> None:
        self.ops = ops
        text = str(like.type)
        #: ``vector<4x8x`` for a vector, empty for a scalar
        self._prefix = text[: text.rindex("x") + 1] if text.startswith("vector<") else ""
        self._constants: dict[tuple[str, str], Num] = {}

    def type(self, kind: str) -> Any:
        return self.ops.type(f"{self._prefix}{kind}>" if self._prefix else kind)

    def wrap(self, value: Any, kind: str) -> Num:
        return Num(self, value, kind)

    def constant(self, value: int | float, kind: str) -> Num:
        if kind == "i64" and value >= 1 << 63:
            value = int(value) - (1 << 64)
        text = literal_text(value, kind)
        found = self._constants.get((text, kind))
        if found is None:
            if self._prefix:
                literal = f"dense<{text}> : {self.type(kind)}"
                constant = self.ops.create("arith.constant", [], self.type(kind), {"value": literal})
            else:
                constant = self.ops.constant(value, kind)
            found = self._constants[text, kind] = Num(self, constant, kind)
        return found

    def like(self, value: Number, other: Num) -> Num:
        return value if isinstance(value, Num) else self.constant(value, other.kind)

    def fma(self, a: Number, b: Number, c: Number) -> Num:
        first = next(v for v in (a, b, c) if isinstance(v, Num))
        args = [self.like(v, first).value for v in (a, b, c)]
        return Num(self, self.ops.fma(*args), first.kind)

    def exact_fma(self, a: Num, b: Number, c: Num) -> Num:
        """``a * b + c`` rounded once, whatever the target: for error terms, where fusing is the point."""
        operands = [a.value, self.like(b, a).value, c.value]
        return Num(self, self.ops.create("math.fma", operands, a.value.type), a.kind)

    def poly(self, x: Num, coefficients: Sequence[float]) -> Num:
        """``sum coefficients[i] * x**i`` by Horner's rule; long ones in two chains, of even and of odd powers."""
        if len(coefficients) >= 8:
            square = x * x
            return self.fma(self.poly(square, coefficients[1::2]), x, self.poly(square, coefficients[0::2]))
        result: Number = coefficients[-1]
        for coefficient in reversed(coefficients[:-1]):
            result = self.fma(result, x, coefficient)
        return self.like(result, x)

    def where(self, condition: Num, a: Number, b: Number) -> Num:
        first = a if isinstance(a, Num) else b
        assert isinstance(first, Num)
        args = [condition.value, self.like(a, first).value, self.like(b, first).value]
        return Num(self, self.ops.create("arith.select", args, args[1].type), first.kind)

    def minimum(self, a: Num, b: Number) -> Num:
        """The smaller; a NaN in ``a`` stays."""
        return self.where(a > b, b, a)

    def maximum(self, a: Num, b: Number) -> Num:
        """The larger; a NaN in ``a`` stays."""
        return self.where(a < b, b, a)

    def copysign(self, magnitude: Num, sign: Num) -> Num:
        ops = [magnitude.value, sign.value]
        return Num(self, self.ops.create("math.copysign", ops, magnitude.value.type), magnitude.kind)

    def multiply_extended(self, a: Num, b: Num) -> tuple[Num, Num]:
        """Low and high half of the unsigned product of two integers."""
        from kc.bindings import ir

        op = ir.Operation.create("arith.mului_extended", results=[a.value.type] * 2, operands=[a.value, b.value],
                                 loc=self.ops.location)
        return Num(self, op.results[0], a.kind), Num(self, op.results[1], a.kind)

    def if_any(self, condition: Num, then: Callable[[Scope], Sequence[Num]], otherwise: Sequence[Num]) -> list[Num]:
        """``then`` when any lane of ``condition`` holds, else ``otherwise``: an ``scf.if``, for paths rarely taken."""
        from kc.bindings import ir

        flag = condition.value
        if self._prefix:
            shape = self._prefix[len("vector<"):-1].split("x")
            if len(shape) > 1:
                count = 1
                for size in shape:
                    count *= int(size)
                flag = self.ops.create("vector.shape_cast", [flag], self.ops.type(f"vector<{count}xi1>"))
            flag = self.ops.create("vector.reduction", [flag], self.ops.type("i1"), {"kind": "#vector.kind<or>"})
        types = [v.value.type for v in otherwise]
        op = ir.Operation.create("scf.if", results=types, operands=[flag], regions=2, loc=self.ops.location)
        inner = Scope(self.ops, otherwise[0].value)
        for region, make in zip(op.regions, (lambda: then(inner), lambda: otherwise), strict=True):
            with ir.InsertionPoint(region.blocks.append()):
                self.ops.create("scf.yield", [v.value for v in make()])
        return [Num(self, result, v.kind) for result, v in zip(op.results, otherwise, strict=True)]
