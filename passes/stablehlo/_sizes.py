"""Shape arithmetic in StableHLO: the sizes of a value as tensors of i64."""

from __future__ import annotations

from collections.abc import Sequence

from kc.bindings import ir


class Sizes:
    """Builds shape arithmetic before ``op``. Needs an active context."""

    def __init__(self, op: ir.Operation):
        self._ip, self._loc = ir.InsertionPoint(op), op.location

    def constant(self, values: Sequence[int]) -> ir.Value:
        """``tensor<n x i64>`` with these numbers."""
        i64 = ir.IntegerType.get_signless(64)
        numbers = [ir.IntegerAttr.get(i64, n) for n in values]
        value = ir.DenseElementsAttr.get(numbers, self._type(len(values)))
        return self._op("constant", [], self._type(len(values)), {"value": value})

    def size(self, value: ir.Value, axis: int) -> ir.Value:
        """The size of dimension ``axis`` as ``tensor<1xi64>``."""
        type_ = ir.RankedTensorType(value.type)
        if not type_.is_dynamic_dim(axis):
            return self.constant([type_.get_dim_size(axis)])
        i32 = ir.IntegerType.get_signless(32)
        scalar = ir.RankedTensorType.get([], i32, loc=self._loc)
        dimension = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis)}
        return self.vector(self._op("get_dimension_size", [value], scalar, dimension))

    def vector(self, scalar: ir.Value) -> ir.Value:
        """An integer scalar as ``tensor<1xi64>``."""
        i64 = ir.IntegerType.get_signless(64)
        wide = ir.RankedTensorType.get([], i64, loc=self._loc)
        if scalar.type != wide:
            scalar = self._op("convert", [scalar], wide)
        return self._op("reshape", [scalar], self._type(1))

    def join(self, sizes: Sequence[ir.Value]) -> ir.Value:
        """``tensor<1xi64>`` values one after another as ``tensor<n x i64>``."""
        if not sizes:
            return self.constant([])
        dimension = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)}
        return self._op("concatenate", list(sizes), self._type(len(sizes)), dimension)

    def of(self, value: ir.Value) -> ir.Value:
        """All sizes of ``value``."""
        return self.join([self.size(value, axis) for axis in range(ir.RankedTensorType(value.type).rank)])

    def combine(self, name: str, a: ir.Value, b: ir.Value) -> ir.Value:
        """``stablehlo.<name>`` of two sizes."""
        return self._op(name, [a, b], a.type)

    def unless_one(self, a: ir.Value, b: ir.Value) -> ir.Value:
        """``a`` where it is not 1, else ``b``: the size of two that broadcast to each other."""
        i1 = ir.RankedTensorType.get([1], ir.IntegerType.get_signless(1), loc=self._loc)
        equal = {"comparison_direction": ir.Attribute.parse("#stablehlo<comparison_direction EQ>")}
        one = self._op("compare", [a, self.constant([1])], i1, equal)
        return self._op("select", [one, b, a], a.type)

    def _type(self, count: int) -> ir.Type:
        return ir.RankedTensorType.get([count], ir.IntegerType.get_signless(64), loc=self._loc)

    def _op(
        self, name: str, operands: list[ir.Value], type_: ir.Type, attributes: dict[str, ir.Attribute] | None = None
    ) -> ir.Value:
        return ir.Operation.create(
            f"stablehlo.{name}",
            results=[type_],
            operands=operands,
            attributes=attributes or {},
            loc=self._loc,
            ip=self._ip,
        ).result
