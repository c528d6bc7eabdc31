"""Results that MLIR leaves undefined, made visible: a number that no right program asks for takes their place.

A shift by the width of its type or more is poison, and so is a float made an integer that cannot hold it. What a
machine makes of these (x86 takes the amount of one shift modulo 32 and gives 0 for another) is often what a wrong
program needs, so that its results look right. Here such a result is a number of its own, the same for the same
operands; a program that throws it away, as it may, is none the worse for it.
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kc.bindings import ir

_SHIFTS = ("arith.shli", "arith.shrsi", "arith.shrui")
_CONVERSIONS = ("arith.fptosi", "arith.fptoui")
#: ops whose result may be undefined
OPS = frozenset((*_SHIFTS, *_CONVERSIONS))
#: what stands for an undefined result, or what it is xored with: no pattern that shifts or signs could make up for
_BITS = 0x5BD1E995A3C59AC3
#: predicates of arith.cmpi and arith.cmpf
_UNSIGNED_LESS, _GREATER, _GREATER_OR_EQUAL, _LESS = 6, 2, 3, 4
#: float types by their name -> significant bits, exponent of the largest number
_FLOATS = {"f64": (53, 1023), "f32": (24, 127), "bf16": (8, 127), "f16": (11, 15)}


def mark(module: ir.Module) -> None:
    """Let every such op (in place) give what stands for an undefined result where its own is that."""
    from kc.bindings import ir
    from kc.rewrite import walk_ops

    for op in list(walk_ops(module, tuple(OPS))):
        with module.context, op.location:
            made = _Made(ir.InsertionPoint(op))
            told = _shift(op, made) if op.name in _SHIFTS else _conversion(op, made)
            if told is not None:
                op.results[0].replace_all_uses_with(told)
                op.erase()


def _shift(op: ir.Operation, made: _Made) -> ir.Value | None:
    value, amount = op.operands
    width = _width(value.type)
    if width is None or width < 2:
        return None
    fits = made.compare("arith.cmpi", _UNSIGNED_LESS, amount, made.integer(amount.type, width))
    other = made.op("arith.xori", [value, made.integer(value.type, _bits(width))], value.type)
    return made.op("arith.select", [fits, made.again(op), other], value.type)


def _conversion(op: ir.Operation, made: _Made) -> ir.Value | None:
    value, kind = op.operands[0], op.results[0].type
    width, name = _width(kind), str(_element(value.type))
    if width is None or width < 2 or name not in _FLOATS:
        return None
    digits, top = _FLOATS[name]
    signed = op.name == "arith.fptosi"
    power = width - signed
    high = math.ldexp(1.0, power) if power <= top else math.inf
    low, above = -1.0, _GREATER
    if signed:  # the next number below the lowest integer is out, where the float type has one that near
        low, above = (-high, _GREATER_OR_EQUAL) if power >= digits else (-high - 1, _GREATER)
        above = _GREATER if math.isinf(high) else above
    under = made.compare("arith.cmpf", _LESS, value, made.float(value.type, high))
    over = made.compare("arith.cmpf", above, value, made.float(value.type, low))
    fits = made.op("arith.andi", [under, over], under.type)
    return made.op("arith.select", [fits, made.again(op), made.integer(kind, _bits(width))], kind)


class _Made:
    """Makes ops at one place."""

    def __init__(self, at: ir.InsertionPoint):
        self._at = at

    def op(self, name: str, operands: list[ir.Value], kind: ir.Type, **attributes: ir.Attribute) -> ir.Value:
        """The result of an op."""
        from kc.bindings import ir

        made = ir.Operation.create(name, results=[kind], operands=operands, attributes=attributes, ip=self._at)
        return made.results[0]

    def again(self, op: ir.Operation) -> ir.Value:
        """The result of the same op once more."""
        attributes = {name: op.attributes[name] for name in op.attributes}
        return self.op(op.name, list(op.operands), op.results[0].type, **attributes)

    def compare(self, name: str, predicate: int, left: ir.Value, right: ir.Value) -> ir.Value:
        """Whether a comparison holds, element by element."""
        from kc.bindings import ir

        kind: ir.Type = ir.IntegerType.get_signless(1)
        if isinstance(left.type, ir.VectorType):
            vector = left.type
            scalable = list(vector.scalable_dims) if vector.scalable else None
            kind = ir.VectorType.get(vector.shape, kind, scalable=scalable)
        number = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), predicate)
        return self.op(name, [left, right], kind, predicate=number)

    def integer(self, kind: ir.Type, value: int) -> ir.Value:
        """A constant integer."""
        from kc.bindings import ir

        return self._constant(kind, ir.IntegerAttr.get(_element(kind), value))

    def float(self, kind: ir.Type, value: float) -> ir.Value:
        """A constant float."""
        from kc.bindings import ir

        return self._constant(kind, ir.FloatAttr.get(_element(kind), value))

    def _constant(self, kind: ir.Type, number: ir.Attribute) -> ir.Value:
        from kc.bindings import ir

        value = ir.DenseElementsAttr.get_splat(kind, number) if isinstance(kind, ir.VectorType) else number
        return self.op("arith.constant", [], kind, value=value)


def _element(kind: ir.Type) -> ir.Type:
    from kc.bindings import ir

    return kind.element_type if isinstance(kind, ir.VectorType) else kind


def _width(kind: ir.Type) -> int | None:
    """Bits of an integer or index type, None of any other."""
    from kc.bindings import ir

    element = _element(kind)
    if isinstance(element, ir.IndexType):
        return 64
    return element.width if isinstance(element, ir.IntegerType) else None


def _bits(width: int) -> int:
    """``_BITS`` cut to a width, read as signed."""
    value = (_BITS * (1 + (1 << 64)) if width > 64 else _BITS) & ((1 << width) - 1)
    return value - (1 << width) if value >> (width - 1) else value
