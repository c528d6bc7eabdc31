"""``kc-expand-small-floats``: conversions from and to 8-bit floating point as integer and f64 arithmetic."""

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
    """An 8-bit float: exponent and mantissa bits, bias; ``inf``: IEEE infinities and NaNs in the topmost exponent.

    Without ``inf`` overflow gives NaN. ``fnuz``: no negative zero, its pattern (0x80) is the one NaN; otherwise without
    ``inf`` NaN is all ones. (ONNX and OCP 8-bit formats, as LLVM's APFloat defines them.)
    """

    exponent: int
    mantissa: int
    bias: int
    inf: bool = False
    fnuz: bool = False

    @property
    def largest(self) -> float:
        """The largest finite value."""
        top = (1 << self.exponent) - 1 - int(self.inf)
        # The all-ones mantissa of the top exponent is NaN where there are neither infinities nor a NaN at negative
        # zero.
        ones = (1 << self.mantissa) - 1 - int(not self.inf and not self.fnuz)
        return (1 + ones / (1 << self.mantissa)) * 2.0 ** (top - self.bias)

    @property
    def nan(self) -> int:
        """The pattern of the NaN that conversions make."""
        if self.fnuz:
            return 0x80
        if self.inf:
            return (((1 << self.exponent) - 1) << self.mantissa) | (1 << (self.mantissa - 1))
        return 0x7F


FORMATS = {
    "f8E5M2": Format(5, 2, 15, inf=True),
    "f8E4M3": Format(4, 3, 7, inf=True),
    "f8E3M4": Format(3, 4, 3, inf=True),
    "f8E4M3FN": Format(4, 3, 7),
    "f8E5M2FNUZ": Format(5, 2, 16, fnuz=True),
    "f8E4M3FNUZ": Format(4, 3, 8, fnuz=True),
    "f8E4M3B11FNUZ": Format(4, 3, 11, fnuz=True),
}

_TO_FLOAT = ("arith.truncf", "arith.sitofp", "arith.uitofp")
_FROM_FLOAT = ("arith.extf", "arith.fptosi", "arith.fptoui")


@dataclasses.dataclass(frozen=True)
class ExpandSmallFloats(Pass):
    """Expand ``arith`` conversions whose source or result is an 8-bit float; no machine of kc's has them all.

    Run after ``arith-emulate-unsupported-floats``, which leaves only conversions and constants of these types. In
    memory they are bytes. A value is rounded once, to nearest even; NaN stays NaN, overflow is infinity where the
    format has it and NaN elsewhere. ::

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
    """The f64 of an 8-bit float: exact."""
    byte = arith.bitcast(math.bits(8), value)
    bits = arith.extui(math.bits(64), byte)
    magnitude = arith.andi(bits, math.integer(0x7F))
    exponent = arith.shrui(magnitude, math.integer(form.mantissa))
    normal = arith.addi(arith.shli(magnitude, math.integer(52 - form.mantissa)), math.integer((1023 - form.bias) << 52))
    smallest = 2.0 ** (1 - form.bias - form.mantissa)
    subnormal = arith.bitcast(math.bits(64), arith.mulf(arith.uitofp(math.f64, magnitude), math.double(smallest)))
    eq, uge = arith.CmpIPredicate.eq, arith.CmpIPredicate.uge
    absolute = arith.select(arith.cmpi(eq, exponent, math.integer(0)), subnormal, normal)
    nan = math.integer(0x7FF8 << 48)
    if form.inf:
        top = ((1 << form.exponent) - 1) << form.mantissa
        absolute = arith.select(arith.cmpi(uge, magnitude, math.integer(top)), nan, absolute)
        absolute = arith.select(arith.cmpi(eq, magnitude, math.integer(top)), math.integer(0x7FF << 52), absolute)
    elif not form.fnuz:
        absolute = arith.select(arith.cmpi(eq, magnitude, math.integer(0x7F)), nan, absolute)
    sign = arith.shli(arith.andi(bits, math.integer(0x80)), math.integer(56))
    whole = arith.ori(absolute, sign)
    if form.fnuz:
        whole = arith.select(arith.cmpi(eq, bits, math.integer(0x80)), nan, whole)
    return arith.bitcast(math.f64, whole)


def _narrow(math: _Math, value: ir.Value, form: Format) -> ir.Value:
    """An f64 rounded once to the 8-bit float, as i8.

    Adding and subtracting ``c = 2**(e + 52 - mantissa)``, where ``e`` is the exponent of the value but at least that
    of the smallest normal number, rounds to a multiple of the spacing of the format at ``e``: the last bit of ``c``.
    """
    bits = arith.bitcast(math.bits(64), value)
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
    overflow = (((1 << form.exponent) - 1) << form.mantissa) if form.inf else form.nan
    too_large = arith.cmpf(ugt, rounded, math.double(form.largest))
    is_nan = arith.cmpf(arith.CmpFPredicate.UNO, value, value)
    sign = arith.andi(arith.shrui(bits, math.integer(56)), math.integer(0x80))
    if form.fnuz:  # no negative zero, and the NaN has no sign
        sign = arith.select(arith.cmpi(arith.CmpIPredicate.eq, pattern, math.integer(0)), math.integer(0), sign)
        whole = arith.ori(pattern, sign)
        whole = arith.select(arith.ori(too_large, is_nan), math.integer(form.nan), whole)
    else:
        pattern = arith.select(too_large, math.integer(overflow), pattern)
        pattern = arith.select(is_nan, math.integer(form.nan), pattern)
        whole = arith.ori(pattern, sign)
    return arith.trunci(math.bits(8), whole)


def _to_double(math: _Math, op: ir.Operation) -> ir.Value:
    """The operand of a conversion to an 8-bit float as f64. Integers beyond 2**53 round, far above any range here."""
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
    """The conversion that remains once the 8-bit float is an f64: all of its values are exact in f32, bf16 and f16."""
    if name == "arith.fptosi":
        return arith.fptosi(math.of(element), value)
    if name == "arith.fptoui":
        return arith.fptoui(math.of(element), value)
    return value if str(element) == "f64" else arith.truncf(math.of(element), value)


def _constant(op: ir.Operation, math: _Math, result: ir.Type) -> ir.Value:
    """A constant of the 8-bit type as its byte."""
    import ml_dtypes
    import numpy

    attribute = op.attributes["value"]
    element = result.element_type if isinstance(result, ir.ShapedType) else result
    name = str(element)[2:].lower()
    dtype = numpy.dtype(getattr(ml_dtypes, f"float8_{name}"))
    if isinstance(attribute, ir.DenseElementsAttr):
        from kc.params import constant_bytes

        count = 1
        for extent in ir.ShapedType(result).shape:
            count *= extent
        data = constant_bytes(op, "value", count)
        if data is None:  # a splat
            scalar = ir.FloatAttr(attribute.get_splat_value()).value
            return arith.bitcast(result, math.integer(int(numpy.array(scalar, dtype).view(numpy.uint8)), 8))
        values = numpy.frombuffer(data, numpy.int8).reshape(ir.ShapedType(result).shape)
        bytes_ = {"value": ir.DenseElementsAttr.get(values, type=math.bits(8))}
        return arith.bitcast(
            result, ir.Operation.create("arith.constant", results=[math.bits(8)], attributes=bytes_).result
        )
    byte = int(numpy.array(ir.FloatAttr(attribute).value, dtype).view(numpy.uint8))
    return arith.bitcast(result, math.integer(byte, 8))


def _negate(math: _Math, value: ir.Value, form: Format | None, result: ir.Type) -> ir.Value:
    """The sign bit turned over, but for the zero and the NaN of formats without a negative zero."""
    assert form is not None
    byte = arith.bitcast(math.bits(8), value)
    turned = arith.xori(byte, math.integer(0x80, 8))
    if form.fnuz:
        magnitude = arith.andi(byte, math.integer(0x7F, 8))
        turned = arith.select(arith.cmpi(arith.CmpIPredicate.eq, magnitude, math.integer(0, 8)), byte, turned)
    return arith.bitcast(result, turned)
