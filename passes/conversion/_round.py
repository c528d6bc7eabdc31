"""Rounding one float: to an integer with saturation, and to fewer exponent and mantissa bits."""

from __future__ import annotations

from kc.bindings import ir
from kc.passes.conversion._emit import Emitter, int_type, width

# element type -> (exponent bits, mantissa bits)
_FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def float_to_int(e: Emitter, value: ir.Value, to: ir.Type, unsigned: bool) -> ir.Value:
    """Truncated towards zero; out of range saturates and NaN gives 0 (``arith.fptosi`` alone is undefined there)."""
    if width(value.type) < 32:
        value = e.one("arith.extf", [value], ir.F32Type.get())
    t, bits = value.type, width(to)
    low = 0 if unsigned else -(1 << (bits - 1))
    high = 1 << (bits if unsigned else bits - 1)
    # both ends are powers of two, hence exact; ``value > low - 1`` would round for wide integers, but low itself
    # converts
    below = e.cmpf("olt", value, e.const(t, low))
    above = e.cmpf("oge", value, e.const(t, high))
    unordered = e.cmpf("uno", value, value)
    outside = e.bin("arith.ori", e.bin("arith.ori", below, above), unordered)
    inside = e.select(outside, e.const(t, 0.0), value)
    result = e.one("arith.fptoui" if unsigned else "arith.fptosi", [inside], to)
    result = e.select(below, e.const(to, low), result)
    return e.select(above, e.const(to, high - 1), result)


def reduce_precision(e: Emitter, value: ir.Value, exponent: int, mantissa: int) -> ir.Value:
    """``stablehlo.reduce_precision``: rounded to nearest even in a format of ``exponent`` and ``mantissa`` bits.

    Overflow gives infinity, underflow a zero of the same sign; NaN stays NaN unless the format has no mantissa to hold
    it, where it becomes an infinity.
    """
    t, bits = value.type, width(value.type)
    own_exponent, own_mantissa = _FORMATS[str(t)]
    i = int_type(bits)
    pattern = e.one("arith.bitcast", [value], i)
    sign_mask = 1 << (bits - 1)
    inf_bits = ((1 << own_exponent) - 1) << own_mantissa
    magnitude = e.bin("arith.andi", pattern, e.const(i, sign_mask - 1))
    is_nan = e.cmpi("ugt", magnitude, e.const(i, inf_bits))
    sign = e.bin("arith.andi", pattern, e.const(i, sign_mask))
    if mantissa < own_mantissa:
        dropped = own_mantissa - mantissa
        last = e.bin("arith.andi", e.bin("arith.shrui", magnitude, e.const(i, dropped)), e.const(i, 1))
        bias = e.bin("arith.addi", last, e.const(i, (1 << (dropped - 1)) - 1))
        magnitude = e.bin("arith.andi", e.bin("arith.addi", magnitude, bias), e.const(i, -(1 << dropped)))
    if exponent < own_exponent:
        half, own_half = (1 << (exponent - 1)) - 1, (1 << (own_exponent - 1)) - 1
        largest = ((own_half + half + 1) << own_mantissa) - 1  # everything up to the top binade
        least = (own_half - half + 1) << own_mantissa  # the smallest normal of the target
        magnitude = e.select(e.cmpi("ugt", magnitude, e.const(i, largest)), e.const(i, inf_bits), magnitude)
        magnitude = e.select(e.cmpi("ult", magnitude, e.const(i, least)), e.const(i, 0), magnitude)
    rounded = e.bin("arith.ori", magnitude, sign)
    special = pattern if mantissa else e.bin("arith.ori", sign, e.const(i, inf_bits))
    return e.one("arith.bitcast", [e.select(is_nan, special, rounded)], t)
