"""The body of a contraction: accumulator + lhs * rhs in the accumulator's type."""

from __future__ import annotations

from collections.abc import Sequence

from kc.bindings import ir
from kc.passes.conversion._emit import Emitter, is_complex, is_float, width
from kc.passes.conversion._scalar import convert


def multiply_add(e: Emitter, arguments: Sequence[ir.Value], unsigned: Sequence[bool]) -> ir.Value:
    """``arguments`` are lhs, rhs and accumulator; ``unsigned`` tells how to extend integer operands.

    Float sums may be reassociated and contracted to fused multiply-adds (``fastmath<reassoc,contract>``), nothing more.
    """
    lhs, rhs, acc = arguments
    t = acc.type
    lhs, rhs = convert(e, lhs, t, unsigned[0]), convert(e, rhs, t, unsigned[1])
    if is_complex(t):
        return e.bin("complex.add", acc, e.bin("complex.mul", lhs, rhs))
    if is_float(t):
        product = e.one("arith.mulf", [lhs, rhs], t, {"fastmath": ir.Attribute.parse("#arith.fastmath<contract>")})
        return reassociable_add(e, acc, product)
    if width(t) == 1:
        return e.bin("arith.ori", acc, e.bin("arith.andi", lhs, rhs))
    return e.bin("arith.addi", acc, e.bin("arith.muli", lhs, rhs))


def reassociable_add(e: Emitter, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    fast = ir.Attribute.parse("#arith.fastmath<reassoc,contract>")
    return e.one("arith.addf", [lhs, rhs], lhs.type, {"fastmath": fast})
