"""``kc-expand-small-floats``: conversions from and to floats of 8 bits and fewer as integer and f64 arithmetic."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import arith, ir
from kc.pass_base import Pass
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext


@dataclasses.dataclass(frozen=True)
class Format:
    """A float of at most 8 bits: a sign unless ``unsigned``, then exponent and mantissa bits; the exponent's bias.

    ``special`` is what the patterns at the top are: ``ieee``, infinities and NaNs in the topmost exponent; ``nan``, all
    ones is NaN and overflow gives it; ``fnuz``, the same but with NaN where negative zero would be; ``none``, every
    pattern is a finite number, so overflow and infinities give the largest and NaN gives the zero of the other sign, as
    ml_dtypes does. (The ONNX and OCP formats, as LLVM's APFloat defines them.)
    """

    exponent: int
    mantissa: int
    bias: int
    special: str = "nan"
    unsigned: bool = False

    @property
    def bits(self) -> int:
        return self.exponent + self.mantissa + int(not self.unsigned)

    @property
    def sign(self) -> int:
        """The bit of the sign."""
        return 1 << (self.bits - 1)

    @property
    def largest(self) -> float:
        """The largest finite value."""
        top = (1 << self.exponent) - 1 - int(self.special == "ieee")
        # The all-ones mantissa of the top exponent is NaN where nothing else is.
        ones = (1 << self.mantissa) - 1 - int(self.special == "nan")
        return (1 + ones / (1 << self.mantissa)) * 2.0 ** (top - self.bias)

    @property
    def nan(self) -> int:
        """The pattern that conversions make of NaN."""
        if self.special in ("fnuz", "none"):
            return self.sign
        if self.special == "ieee":
            return (((1 << self.exponent) - 1) << self.mantissa) | (1 << (self.mantissa - 1))
        return self.sign - 1

    @property
    def overflow(self) -> int:
        """The pattern (without sign) of what is too large."""
        if self.special == "ieee":
            return ((1 << self.exponent) - 1) << self.mantissa
        return self.sign - 1 if self.special == "none" else self.nan


FORMATS = {
    "f8E5M2": Format(5, 2, 15, "ieee"),
    "f8E4M3": Format(4, 3, 7, "ieee"),
    "f8E3M4": Format(3, 4, 3, "ieee"),
    "f8E4M3FN": Format(4, 3, 7),
    "f8E5M2FNUZ": Format(5, 2, 16, "fnuz"),
    "f8E4M3FNUZ": Format(4, 3, 8, "fnuz"),
    "f8E4M3B11FNUZ": Format(4, 3, 11, "fnuz"),
    "f8E8M0FNU": Format(8, 0, 127, unsigned=True),
    "f6E2M3FN": Format(2, 3, 1, "none"),
    "f6E3M2FN": Format(3, 2, 3, "none"),
    "f4E2M1FN": Format(2, 1, 1, "none"),
}

_TO_FLOAT = ("arith.truncf", "arith.sitofp", "arith.uitofp")
_FROM_FLOAT = ("arith.extf", "arith.fptosi", "arith.fptoui")


@dataclasses.dataclass(frozen=True)
class ExpandSmallFloats(Pass):
    """Expand ``arith`` conversions whose source or result is a float of 8, 6 or 4 bits; no machine of kc's has them.

    Run after ``arith-emulate-unsupported-floats``, which leaves only conversions and constants of these types. In
    memory each is a byte. A value is rounded once, to nearest even; NaN stays NaN, overflow is infinity where the
    format has it, else NaN, else the largest number. ::

        %y = arith.extf %x : f8E5M2 to f32

    becomes ``arith.bitcast %x : f8E5M2 to i8`` and integer arithmetic that puts the bits of an f64 together, which
    ``arith.truncf`` narrows exactly.
    """

    name: ClassVar[str] = "kc-expand-small-floats"
    anchor: ClassVar[str] = "any"
    level: ClassVar[str] = "loops"
    dialects: ClassVar[tuple[str, ...]] = ("arith",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        for inner in walk_ops(op, (*_TO_FLOAT, *_FROM_FLOAT, "arith.constant", "arith.negf")):
            result = inner.results[0].type
            if isinstance(result, ir.ShapedType):
                result_element, shape = result.element_type, result
            else:
                result_element, shape = result, None
            source = inner.operands[0].type if len(inner.operands) else result
            source_element = source.element_type if isinstance(source, ir.ShapedType) else source
            wide = FORMATS.get(str(source_element)) if inner.name in _FROM_FLOAT else None
            narrow = FORMATS.get(str(result_element)) if inner.name not in _FROM_FLOAT else None
            if wide is None and narrow is None:
                continue
            if shape is not None and not isinstance(shape, ir.VectorType):
                continue  # constants of tensors and memrefs are bytes already
            with inner.location, ir.InsertionPoint(inner):
                math = _Math(shape)
                if wide is not None:
                    value = _widen(math, inner.operands[0], wide)
                    value = _finish(math, inner.name, value, result_element)
                elif inner.name == "arith.constant":
                    value = _constant(inner, math, result)
                elif inner.name == "arith.negf":
                    value = _negate(math, inner.operands[0], narrow, result)
                else:
                    assert narrow is not None
                    value = _narrow(math, _to_double(math, inner), narrow)
                    value = arith.bitcast(result, value)
                inner.results[0].replace_all_uses_with(value)
            inner.erase()


class _Math:
    """Types and constants of one shape: scalars, or vectors like ``like``."""

    def __init__(self, like: ir.VectorType | None):
        self._like = like

    def of(self, element: ir.Type) -> ir.Type:
        if self._like is None:
            return element
        return ir.VectorType.get(
            self._like.shape,
            element,
            scalable=[bool(s) for s in self._like.scalable_dims] if self._like.scalable else None,
        )

    def bits(self, bits: int) -> ir.Type:
        return self.of(ir.IntegerType.get_signless(bits))

    @property
    def f64(self) -> ir.Type:
        return self.of(ir.F64Type.get())

    def integer(self, value: int, bits: int = 64) -> ir.Value:
        element = ir.IntegerAttr.get(ir.IntegerType.get_signless(bits), value)
        return self._make(element, self.bits(bits))

    def double(self, value: float) -> ir.Value:
        return self._make(ir.FloatAttr.get(ir.F64Type.get(), value), self.f64)

    def _make(self, element: ir.Attribute, kind: ir.Type) -> ir.Value:
        attribute = element if self._like is None else ir.DenseElementsAttr.get_splat(kind, element)
        return ir.Operation.create("arith.constant", results=[kind], attributes={"value": attribute}).results[0]


def _widen(math: _Math, value: ir.Value, form: Format) -> ir.Value:
    """The f64 of a small float: exact."""
    bits = arith.extui(math.bits(64), arith.bitcast(math.bits(form.bits), value))
    eq, uge = arith.CmpIPredicate.eq, arith.CmpIPredicate.uge
    nan = math.integer(0x7FF8 << 48)
    if form.unsigned:  # powers of two
        power = arith.shli(arith.addi(bits, math.integer(1023 - form.bias)), math.integer(52))
        return arith.bitcast(math.f64, arith.select(arith.cmpi(eq, bits, math.integer(0xFF)), nan, power))
    magnitude = arith.andi(bits, math.integer(form.sign - 1))
    exponent = arith.shrui(magnitude, math.integer(form.mantissa))
    normal = arith.addi(arith.shli(magnitude, math.integer(52 - form.mantissa)), math.integer((1023 - form.bias) << 52))
    smallest = 2.0 ** (1 - form.bias - form.mantissa)
    subnormal = arith.bitcast(math.bits(64), arith.mulf(arith.uitofp(math.f64, magnitude), math.double(smallest)))
    absolute = arith.select(arith.cmpi(eq, exponent, math.integer(0)), subnormal, normal)
    if form.special == "ieee":
        top = ((1 << form.exponent) - 1) << form.mantissa
        absolute = arith.select(arith.cmpi(uge, magnitude, math.integer(top)), nan, absolute)
        absolute = arith.select(arith.cmpi(eq, magnitude, math.integer(top)), math.integer(0x7FF << 52), absolute)
    elif form.special == "nan":
        absolute = arith.select(arith.cmpi(eq, magnitude, math.integer(form.nan)), nan, absolute)
    sign = arith.shli(arith.andi(bits, math.integer(form.sign)), math.integer(64 - form.bits))
    whole = arith.ori(absolute, sign)
    if form.special == "fnuz":
        whole = arith.select(arith.cmpi(eq, bits, math.integer(form.nan)), nan, whole)
    return arith.bitcast(math.f64, whole)


def _narrow(math: _Math, value: ir.Value, form: Format) -> ir.Value:
    """An f64 rounded once to the small float, as an integer of its bits.

    Adding and subtracting ``c = 2**(e + 52 - mantissa)``, where ``e`` is the exponent of the value but at least that
    of the smallest normal number, rounds to a multiple of the spacing of the format at ``e``: the last bit of ``c``.
    """
    bits = arith.bitcast(math.bits(64), value)
    if form.unsigned:
        return arith.trunci(math.bits(form.bits), _narrow_to_power(math, value, bits, form))
    absolute_bits = arith.andi(bits, math.integer((1 << 63) - 1))
    absolute = arith.bitcast(math.f64, absolute_bits)
    exponent = arith.shrui(absolute_bits, math.integer(52))
    least = 1023 + 1 - form.bias
    # Values far above the range would make c infinite; they overflow below whatever c is.
    clamped = arith.minui(arith.maxui(exponent, math.integer(least)), math.integer(1023 + 200))
    c = arith.bitcast(math.f64, arith.shli(arith.addi(clamped, math.integer(52 - form.mantissa)), math.integer(52)))
    rounded = arith.subf(arith.addf(absolute, c), c)
    ult, ugt = arith.CmpFPredicate.OLT, arith.CmpFPredicate.OGT
    normal = arith.subi(
        arith.shrui(arith.bitcast(math.bits(64), rounded), math.integer(52 - form.mantissa)),
        math.integer((1023 - form.bias) << form.mantissa),
    )
    steps = arith.mulf(rounded, math.double(2.0 ** (form.mantissa - (1 - form.bias))))
    small = arith.cmpf(ult, rounded, math.double(2.0 ** (1 - form.bias)))
    # Only where the value is small is the conversion to an integer in range.
    subnormal = arith.fptoui(math.bits(64), arith.select(small, steps, math.double(0.0)))
    pattern = arith.select(small, subnormal, normal)
    too_large = arith.cmpf(ugt, rounded, math.double(form.largest))
    is_nan = arith.cmpf(arith.CmpFPredicate.UNO, value, value)
    sign = arith.andi(arith.shrui(bits, math.integer(64 - form.bits)), math.integer(form.sign))
    if form.special == "fnuz":  # no negative zero, and the NaN has no sign
        sign = arith.select(arith.cmpi(arith.CmpIPredicate.eq, pattern, math.integer(0)), math.integer(0), sign)
        whole = arith.ori(pattern, sign)
        whole = arith.select(arith.ori(too_large, is_nan), math.integer(form.nan), whole)
    else:
        pattern = arith.select(too_large, math.integer(form.overflow), pattern)
        if form.special == "none":
            other = arith.xori(sign, math.integer(form.sign))
            whole = arith.select(is_nan, other, arith.ori(pattern, sign))
        else:
            whole = arith.ori(arith.select(is_nan, math.integer(form.nan), pattern), sign)
    return arith.trunci(math.bits(form.bits), whole)


def _narrow_to_power(math: _Math, value: ir.Value, bits: ir.Value, form: Format) -> ir.Value:
    """The exponent of the nearest power of two, the larger of two at the same distance; what is no such number, such
    as zero and what is negative, is NaN. The smallest power holds everything down to zero."""
    up = arith.shrui(arith.addi(bits, math.integer(1 << 51)), math.integer(52))
    power = arith.maxsi(arith.subi(up, math.integer(1023 - form.bias)), math.integer(0))
    positive = arith.cmpf(arith.CmpFPredicate.OGT, value, math.double(0.0))
    small = arith.cmpf(arith.CmpFPredicate.OLT, value, math.double(1.5 * 2.0**form.bias))
    return arith.select(arith.andi(positive, small), power, math.integer(0xFF))


def _to_double(math: _Math, op: ir.Operation) -> ir.Value:
    """The operand of a conversion to an small float as f64. Integers beyond 2**53 round, far above any range here."""
    value = op.operands[0]
    if op.name == "arith.sitofp":
        return arith.sitofp(math.f64, value)
    if op.name == "arith.uitofp":
        return arith.uitofp(math.f64, value)
    element = value.type.element_type if isinstance(value.type, ir.ShapedType) else value.type
    if str(element) in FORMATS:
        return _widen(math, value, FORMATS[str(element)])
    return value if str(element) == "f64" else arith.extf(math.f64, value)


def _finish(math: _Math, name: str, value: ir.Value, element: ir.Type) -> ir.Value:
    """The conversion that remains once the small float is an f64: all of its values are exact in f32, bf16 and f16."""
    if name == "arith.fptosi":
        return arith.fptosi(math.of(element), value)
    if name == "arith.fptoui":
        return arith.fptoui(math.of(element), value)
    return value if str(element) == "f64" else arith.truncf(math.of(element), value)


def _constant(op: ir.Operation, math: _Math, result: ir.Type) -> ir.Value:
    """A constant of the small type as its bits."""
    import ml_dtypes
    import numpy

    attribute = op.attributes["value"]
    element = result.element_type if isinstance(result, ir.ShapedType) else result
    name = str(element)[2:].lower()
    form = FORMATS[str(element)]
    dtype = numpy.dtype(getattr(ml_dtypes, f"float{form.bits}_{name}"))
    carrier = math.bits(form.bits)
    if isinstance(attribute, ir.DenseElementsAttr):
        from kc.params import constant_bytes

        count = 1
        for extent in ir.ShapedType(result).shape:
            count *= extent
        data = constant_bytes(op, "value", count)
        if data is None:  # a splat
            scalar = ir.FloatAttr(attribute.get_splat_value()).value
            return arith.bitcast(result, math.integer(int(numpy.array(scalar, dtype).view(numpy.uint8)), form.bits))
        kind = ir.IntegerType.get_signless(form.bits)
        values = [ir.IntegerAttr.get(kind, byte) for byte in data]
        bytes_ = {"value": ir.DenseElementsAttr.get(values, carrier)}
        return arith.bitcast(result, ir.Operation.create("arith.constant", results=[carrier], attributes=bytes_).result)
    byte = int(numpy.array(ir.FloatAttr(attribute).value, dtype).view(numpy.uint8))
    return arith.bitcast(result, math.integer(byte, form.bits))


def _negate(math: _Math, value: ir.Value, form: Format | None, result: ir.Type) -> ir.Value:
    """The sign bit turned over, but for the zero and the NaN of formats without a negative zero."""
    assert form is not None
    if form.unsigned:  # no number has a negative
        return arith.bitcast(result, math.integer(0xFF, form.bits))
    pattern = arith.bitcast(math.bits(form.bits), value)
    turned = arith.xori(pattern, math.integer(form.sign, form.bits))
    if form.special == "fnuz":
        magnitude = arith.andi(pattern, math.integer(form.sign - 1, form.bits))
        zero = arith.cmpi(arith.CmpIPredicate.eq, magnitude, math.integer(0, form.bits))
        turned = arith.select(zero, pattern, turned)
    return arith.bitcast(result, turned)
