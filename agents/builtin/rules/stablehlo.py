"""Rules on StableHLO that need a look at numbers, which PDL does not have."""
from __future__ import annotations

import math

import kc
from kc.bindings import ir


def _splat(value: ir.Value) -> float | None:
    """The one finite float that all elements of a constant are, else None."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.constant":
        return None
    attribute = owner.attributes["value"]
    if not isinstance(attribute, ir.DenseElementsAttr) or not attribute.is_splat:
        return None
    element = attribute.get_splat_value()
    if not isinstance(element, ir.FloatAttr) or not math.isfinite(element.value):
        return None
    return float(element.value)


def _by_reciprocal(op: ir.OpView, rewriter: kc.rewrite.Rewriter, number: float) -> None:
    x, divisor = op.operands
    with rewriter.ip, op.location:
        kind = divisor.type
        same = ir.DenseElementsAttr.get_splat(kind, ir.FloatAttr.get(kind.element_type, 1.0 / number))
        constant = ir.Operation.create("stablehlo.constant", results=[kind], attributes={"value": same})
        product = ir.Operation.create("stablehlo.multiply", results=[kind], operands=[x, constant.result])
    rewriter.replace_op(op, product)


@kc.rewrite("stablehlo.divide", level="stablehlo", name="divide-power-of-two")
def divide_power_of_two(op: ir.OpView, rewriter: kc.rewrite.Rewriter) -> bool | None:
    """x / 2^k -> x * 2^-k: both round the same real number."""
    number = _splat(op.operands[1])
    if not number or abs(math.frexp(number)[0]) != 0.5 or not 2.0**-14 <= abs(number) <= 2.0**14:
        return False
    _by_reciprocal(op, rewriter, number)
    return None


@kc.rewrite("stablehlo.divide", level="stablehlo", name="divide-constant")
def divide_constant(op: ir.OpView, rewriter: kc.rewrite.Rewriter) -> bool | None:
    """x / c -> x * (1 / c), which rounds twice."""
    number = _splat(op.operands[1])
    if not number or abs(math.frexp(number)[0]) == 0.5 or not 2.0**-14 <= abs(number) <= 2.0**14:
        return False
    _by_reciprocal(op, rewriter, number)
    return None


divide_constant.assumes = ("arcp",)  # type: ignore[attr-defined]
