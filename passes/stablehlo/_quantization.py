"""Quantised element types, and StableHLO's ``quantize`` and ``dequantize`` written out (specification, "Quantization
computations")."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from kc.bindings import ir
from kc.passes.stablehlo._build import Builder


@dataclasses.dataclass(frozen=True)
class Quantization:
    """``real = (stored - zero) * scale`` with ``low <= stored <= high``.

    ``scales`` and ``zeros`` have one entry, or one for each index of dimension ``axis``.
    """

    storage: ir.Type
    expressed: ir.Type
    low: int
    high: int
    scales: tuple[float, ...]
    zeros: tuple[int, ...]
    axis: int | None = None

    @property
    def per_tensor(self) -> bool:
        return self.axis is None

    @property
    def symmetric(self) -> bool:
        return not any(self.zeros)

    def agrees(self, other: Quantization) -> bool:
        """Whether the same stored numbers mean the same, up to where the quantised dimension stands."""
        return dataclasses.replace(self, axis=None) == dataclasses.replace(other, axis=None)


def quantization_of(type_: ir.Type) -> Quantization | None:
    """The quantisation of a tensor type's elements; None of other types.

    By blocks (sub-channel) no op of StableHLO takes a tensor; the census refuses it in signatures.
    """
    from kc.bindings import quant

    if not isinstance(type_, ir.RankedTensorType):
        return None
    element = ir.RankedTensorType(type_).element_type
    if not isinstance(element, quant.QuantizedType):
        return None
    base = quant.QuantizedType(element)
    bits = base.storage_type_integral_width
    make = ir.IntegerType.get_signless if base.is_signed else ir.IntegerType.get_unsigned
    common = (make(bits), base.expressed_type, base.storage_type_min, base.storage_type_max)
    if isinstance(element, quant.UniformQuantizedType):
        whole = quant.UniformQuantizedType(element)
        return Quantization(*common, (whole.scale,), (whole.zero_point,))
    if isinstance(element, quant.UniformQuantizedPerAxisType):
        axis = quant.UniformQuantizedPerAxisType(element)
        return Quantization(*common, tuple(axis.scales), tuple(axis.zero_points), axis.quantized_dimension)
    return None


def dequantize(b: Builder, stored: ir.Value, q: Quantization) -> ir.Value:
    """The numbers that ``stored`` stands for, of the expressed type."""
    difference = centred(b, stored, q)
    return b.bin("multiply", b.convert(difference, q.expressed), _spread(b, q.scales, q, difference, q.expressed))


def centred(b: Builder, stored: ir.Value, q: Quantization) -> ir.Value:
    """``stored - zero``, exact: in a float that holds it, or a wider integer."""
    bits = ir.IntegerType(q.storage).width
    if q.symmetric:
        return stored
    if bits <= 16 and isinstance(q.expressed, (ir.F32Type, ir.F64Type)):
        wide = q.expressed
    else:
        wide = ir.IntegerType.get_signless(32 if bits <= 16 else 64)
    return b.bin("subtract", b.convert(stored, wide), _spread(b, q.zeros, q, stored, wide))


def quantize(b: Builder, real: ir.Value, q: Quantization) -> ir.Value:
    """The stored numbers nearest to ``real``, clamped to the range of the type."""
    scaled = b.bin("divide", real, _spread(b, q.scales, q, real, q.expressed))
    return stored_of(b, scaled, q)


def stored_of(b: Builder, scaled: ir.Value, q: Quantization) -> ir.Value:
    """``quantize`` of what has been divided by the scale already."""
    if not q.symmetric:
        scaled = b.bin("add", scaled, _spread(b, q.zeros, q, scaled, b.element(scaled)))
    low, high = (b.scalar(limit, b.element(scaled)) for limit in (q.low, q.high))
    clamped = b.make("clamp", [low, scaled, high], scaled.type)
    return b.convert(b.unary("round_nearest_even", clamped), q.storage)


def _spread(b: Builder, numbers: Sequence[float | int], q: Quantization, like: ir.Value, element: ir.Type) -> ir.Value:
    """``numbers`` (scales or zero points) over the shape of ``like``."""
    if q.axis is None or len(set(numbers)) == 1:
        return b.spread(b.scalar(numbers[0], element), like)
    return spread_array(b, numbers, q.axis, like, element)


def spread_array(b: Builder, numbers: Sequence[float | int], axis: int, like: ir.Value, element: ir.Type) -> ir.Value:
    """One number for each index of dimension ``axis``, over the shape of ``like``."""
    array = _constant(b, numbers, b.tensor([len(numbers)], element))
    type_ = b.like(like, element)
    dims = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([axis])}
    if type_.has_static_shape:
        return b.make("broadcast_in_dim", [array], type_, dims)
    return b.make("dynamic_broadcast_in_dim", [array, b.sizes(like)], type_, dims)


def _constant(b: Builder, numbers: Sequence[float | int], type_: ir.RankedTensorType) -> ir.Value:
    element = type_.element_type
    if isinstance(element, ir.IntegerType):
        items: list[ir.Attribute] = [ir.IntegerAttr.get(element, int(n)) for n in numbers]
    else:
        items = [ir.FloatAttr.get(element, float(n), loc=b.location) for n in numbers]
    return b.make("constant", [], type_, {"value": ir.DenseElementsAttr.get(items, type_)})
