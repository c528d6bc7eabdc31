"""``dot_general`` and ``convolution`` of quantised operands in integers."""

from __future__ import annotations

import math

from kc.bindings import ir
from kc.bindings import stablehlo_api as api
from kc.passes.stablehlo._build import Builder
from kc.passes.stablehlo._quantization import Quantization, quantization_of, spread_array, stored_of

DOTS = frozenset({"stablehlo.convolution", "stablehlo.dot", "stablehlo.dot_general", "stablehlo.dynamic_conv"})


def integer_dot(op: ir.Operation) -> ir.Value | None:
    """The quantised result of a contraction of two quantised operands; None when it has to be done in floats.

    With ``l``, ``r``, ``o`` for the operands and the result, the sum of ``(l - zl) * (r - zr)`` is an exact integer,
    and the stored result is ``round(sum * (sl * sr / so)) + zo``: one rounding where the float form has one per term.
    Left to floats are sums that i64 might not hold, and scales that differ along a contracted dimension.
    """
    lhs, rhs, out = (quantization_of(v.type) for v in (op.operands[0], op.operands[1], op.results[0]))
    if lhs is None or rhs is None or out is None or not lhs.per_tensor:
        return None
    terms = _terms(op)
    axis = None if rhs.axis is None else _output_axis(op, rhs.axis)
    if terms is None or (rhs.axis is not None and axis is None) or (out.axis is not None and out.axis != axis):
        return None
    largest = terms * _most(lhs) * _most(rhs)
    if largest >= 1 << 63:
        return None
    wide = ir.IntegerType.get_signless(32 if largest < 1 << 31 else 64)
    b = Builder(op)
    # narrow operands are what the contraction is fast on
    narrow = all(q.symmetric and ir.IntegerType(q.storage).is_signless for q in (lhs, rhs))
    left, right = (_centred(b, v, q, None if narrow else wide) for v, q in zip(op.operands, (lhs, rhs), strict=False))
    attributes = {name: op.attributes[name] for name in op.attributes if name not in ("precision_config", "algorithm")}
    total = b.make(op.name, [left, right, *list(op.operands)[2:]], b.like(op.results[0], wide), attributes)
    channels = max(len(rhs.scales), len(out.scales))
    factors = [lhs.scales[0] * _at(rhs.scales, k) / _at(out.scales, k) for k in range(channels)]
    real = b.convert(total, out.expressed)
    if axis is None or len(set(factors)) == 1:
        factor = b.spread(b.scalar(factors[0], out.expressed), real)
    else:
        factor = spread_array(b, factors, axis, real, out.expressed)
    stored = stored_of(b, b.bin("multiply", real, factor), out)
    # the pass gives results the stored type later on: until then this one says that it is quantised
    return b.make("bitcast_convert", [stored], op.results[0].type)


def _at(values: tuple[float, ...], k: int) -> float:
    return values[k if len(values) > 1 else 0]


def _most(q: Quantization) -> int:
    """The largest magnitude of ``stored - zero``."""
    bits = ir.IntegerType(q.storage).width
    unsigned = ir.IntegerType(q.storage).is_unsigned
    least, most = (0, (1 << bits) - 1) if unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    return max(max(abs(least - z), abs(most - z)) for z in q.zeros)


def _centred(b: Builder, value: ir.Value, q: Quantization, wide: ir.Type | None) -> ir.Value:
    """``stored - zero`` in the type ``wide``; the stored numbers themselves when that is None."""
    stored = b.make("bitcast_convert", [value], b.like(value, q.storage))
    if wide is None:
        return stored
    wider = b.convert(stored, wide)
    if q.symmetric:
        return wider
    if q.axis is None:
        return b.bin("subtract", wider, b.spread(b.scalar(q.zeros[0], wide), wider))
    return b.bin("subtract", wider, spread_array(b, q.zeros, q.axis, wider, wide))


def _terms(op: ir.Operation) -> int | None:
    """How many products one element of the result adds up; None when that is only known at run time."""
    left, right = (ir.RankedTensorType(v.type) for v in list(op.operands)[:2])
    if op.name == "stablehlo.dot":
        extents = [left.shape[-1]]
        known = [not left.is_dynamic_dim(left.rank - 1)]
    elif op.name == "stablehlo.dot_general":
        axes = list(api.DotDimensionNumbers(op.attributes["dot_dimension_numbers"]).lhs_contracting_dimensions)
        extents = [left.shape[a] for a in axes]
        known = [not left.is_dynamic_dim(a) for a in axes]
    else:
        last = api.ConvDimensionNumbers(op.attributes["dimension_numbers"]).kernel_output_feature_dimension
        axes = [a for a in range(right.rank) if a != last]
        extents = [right.shape[a] for a in axes]
        known = [not right.is_dynamic_dim(a) for a in axes]
    return math.prod(extents) if all(known) else None


def _output_axis(op: ir.Operation, axis: int) -> int | None:
    """Where dimension ``axis`` of the right operand is in the result; None when it is summed over."""
    rank = ir.RankedTensorType(op.results[0].type).rank
    if op.name == "stablehlo.dot":
        return rank - 1 if axis == ir.RankedTensorType(op.operands[1].type).rank - 1 and axis else None
    if op.name == "stablehlo.dot_general":
        numbers = api.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
        batch = list(numbers.rhs_batching_dimensions)
        if axis in batch:
            return batch.index(axis)
        used = [*batch, *numbers.rhs_contracting_dimensions]
        free = [a for a in range(ir.RankedTensorType(op.operands[1].type).rank) if a not in used]
        return rank - len(free) + free.index(axis) if axis in free else None
    numbers = api.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    return numbers.output_feature_dimension if axis == numbers.kernel_output_feature_dimension else None
