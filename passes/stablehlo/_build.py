"""Writing StableHLO in front of an op that is to be replaced."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

from kc.bindings import ir

_DIRECTIONS = {"EQ", "NE", "GE", "GT", "LE", "LT"}


Combine = Callable[["Builder", ir.Value, ir.Value], ir.Value]


class Builder:
    """Makes StableHLO ops with the location of ``op``, before it. Needs an active context."""

    def __init__(self, op: ir.Operation):
        self.location, self.ip = op.location, ir.InsertionPoint(op)

    def at_end(self, block: ir.Block) -> Builder:
        """One that makes ops at the end of ``block``."""
        inner = copy.copy(self)
        inner.ip = ir.InsertionPoint(block)
        return inner

    # --------------------------------------------------------------------------------------------------- ops

    def op(
        self,
        name: str,
        operands: Sequence[ir.Value],
        results: Sequence[ir.Type],
        attributes: dict[str, ir.Attribute] | None = None,
        regions: int = 0,
    ) -> ir.Operation:
        return ir.Operation.create(
            f"stablehlo.{name}" if "." not in name else name,
            results=list(results),
            operands=list(operands),
            attributes=attributes or {},
            regions=regions,
            loc=self.location,
            ip=self.ip,
        )

    def make(
        self, name: str, operands: Sequence[ir.Value], type_: ir.Type, attributes: dict[str, ir.Attribute] | None = None
    ) -> ir.Value:
        return self.op(name, operands, [type_], attributes).result

    def bin(self, name: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        return self.make(name, [lhs, rhs], lhs.type)

    def unary(self, name: str, value: ir.Value) -> ir.Value:
        return self.make(name, [value], value.type)

    # ------------------------------------------------------------------------------------------------- types

    def tensor(self, shape: Sequence[int], element: ir.Type) -> ir.RankedTensorType:
        return ir.RankedTensorType.get(list(shape), element, loc=self.location)

    @staticmethod
    def shape(value: ir.Value) -> list[int]:
        return list(ir.RankedTensorType(value.type).shape)

    @staticmethod
    def element(value: ir.Value) -> ir.Type:
        return ir.RankedTensorType(value.type).element_type

    @staticmethod
    def unsigned(bits: int) -> ir.Type:
        return ir.IntegerType.get_unsigned(bits)

    def like(self, value: ir.Value, element: ir.Type) -> ir.RankedTensorType:
        """The type of ``value`` with other elements."""
        return self.tensor(self.shape(value), element)

    # ------------------------------------------------------------------------------------------------ values

    def scalar(self, number: int | float, element: ir.Type) -> ir.Value:
        """A constant of rank 0."""
        return self.splat(number, self.tensor([], element))

    def splat(self, number: int | float, type_: ir.RankedTensorType) -> ir.Value:
        """A constant whose elements are all ``number``; ``type_`` is static."""
        element = type_.element_type
        if isinstance(element, ir.IntegerType):
            width = element.width
            signed = number - (1 << width) if number >= 1 << (width - 1) and width > 1 else number
            attr: ir.Attribute = ir.IntegerAttr.get(element, int(number if element.is_unsigned else signed))
        elif isinstance(element, ir.ComplexType):  # of which the bindings have no attribute
            value = f"dense<({float(number)!r}, 0.0)> : {type_}"
            made = ir.Operation.parse(f'"stablehlo.constant"() {{value = {value}}} : () -> {type_}')
            self.ip.insert(made)
            return made.results[0]
        else:
            attr = ir.FloatAttr.get(element, float(number), loc=self.location)
        return self.make("constant", [], type_, {"value": ir.DenseElementsAttr.get_splat(type_, attr)})

    def spread(self, scalar: ir.Value, like: ir.Value) -> ir.Value:
        """A tensor of rank 0 over the shape of ``like``; one that has this shape already as it is."""
        if self.shape(scalar) == self.shape(like):
            return scalar
        type_ = self.like(like, self.element(scalar))
        dims = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
        if type_.has_static_shape:
            return self.make("broadcast_in_dim", [scalar], type_, dims)
        return self.make("dynamic_broadcast_in_dim", [scalar, self.sizes(like)], type_, dims)

    def sizes(self, value: ir.Value) -> ir.Value:
        """The extents of ``value`` as a tensor of i32."""
        i32 = ir.IntegerType.get_signless(32)
        parts = [
            self.reshape(
                self.make(
                    "get_dimension_size",
                    [value],
                    self.tensor([], i32),
                    {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis)},
                ),
                [1],
            )
            for axis in range(len(self.shape(value)))
        ]
        return self.concatenate(parts, 0)

    def number(self, number: int | float, like: ir.Value) -> ir.Value:
        """A constant over the shape, and of the type, of ``like``."""
        type_ = ir.RankedTensorType(like.type)
        if type_.has_static_shape:
            return self.splat(number, type_)
        return self.spread(self.scalar(number, type_.element_type), like)

    def convert(self, value: ir.Value, element: ir.Type) -> ir.Value:
        return value if self.element(value) == element else self.make("convert", [value], self.like(value, element))

    def bitcast(self, value: ir.Value, element: ir.Type) -> ir.Value:
        same = self.element(value) == element
        return value if same else self.make("bitcast_convert", [value], self.like(value, element))

    def reshape(self, value: ir.Value, shape: Sequence[int]) -> ir.Value:
        same = self.shape(value) == list(shape)
        return value if same else self.make("reshape", [value], self.tensor(shape, self.element(value)))

    def slice(self, value: ir.Value, starts: Sequence[int], limits: Sequence[int]) -> ir.Value:
        """With step 1; the shape is static."""
        if not any(starts) and list(limits) == self.shape(value):
            return value
        attributes: dict[str, ir.Attribute] = {
            "start_indices": ir.DenseI64ArrayAttr.get(list(starts)),
            "limit_indices": ir.DenseI64ArrayAttr.get(list(limits)),
            "strides": ir.DenseI64ArrayAttr.get([1] * len(starts)),
        }
        shape = [b - a for a, b in zip(starts, limits, strict=True)]
        return self.make("slice", [value], self.tensor(shape, self.element(value)), attributes)

    def item(self, vector: ir.Value, position: int) -> ir.Value:
        """One entry of a vector, as a tensor of rank 0."""
        return self.reshape(self.slice(vector, [position], [position + 1]), [])

    def concatenate(self, values: Sequence[ir.Value], axis: int) -> ir.Value:
        shape = self.shape(values[0])
        shape[axis] = sum(self.shape(value)[axis] for value in values)
        dimension = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis)}
        return self.make("concatenate", values, self.tensor(shape, self.element(values[0])), dimension)

    def vector(self, scalars: Sequence[ir.Value]) -> ir.Value:
        return self.concatenate([self.reshape(value, [1]) for value in scalars], 0)

    def iota(self, type_: ir.RankedTensorType, axis: int = 0) -> ir.Value:
        dimension = {"iota_dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis)}
        return self.make("iota", [], type_, dimension)

    def compare(self, direction: str, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        if direction not in _DIRECTIONS:
            raise ValueError(direction)
        type_ = self.like(lhs, ir.IntegerType.get_signless(1))
        attribute = ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>")
        return self.make("compare", [lhs, rhs], type_, {"comparison_direction": attribute})

    def select(self, condition: ir.Value, then: ir.Value, otherwise: ir.Value) -> ir.Value:
        return self.make("select", [condition, then, otherwise], then.type)

    def reduce(self, value: ir.Value, initial: ir.Value, axes: Sequence[int], combine: Combine) -> ir.Value:
        """``combine(builder, x, y)`` makes one of two, in the region."""
        kept = [n for axis, n in enumerate(self.shape(value)) if axis not in axes]
        dims = {"dimensions": ir.DenseI64ArrayAttr.get(list(axes))}
        type_ = self.tensor(kept, self.element(value))
        made = self.op("reduce", [value, initial], [type_], dims, regions=1)
        block = made.regions[0].blocks.append(initial.type, initial.type, arg_locs=[self.location] * 2)
        inner = self.at_end(block)
        inner.op("return", [combine(inner, *block.arguments)], [])
        return made.result
