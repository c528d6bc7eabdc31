"""Shape arithmetic in StableHLO: the sizes of a value as tensors of i64."""

from __future__ import annotations

from collections.abc import Sequence

from kc.bindings import ir
from kc.passes.stablehlo._build import Builder


class Sizes:
    """Builds shape arithmetic before ``op``. Needs an active context."""

    def __init__(self, op: ir.Operation):
        self._build = Builder(op)

    def constant(self, values: Sequence[int]) -> ir.Value:
        """``tensor<n x i64>`` with these numbers."""
        i64 = ir.IntegerType.get_signless(64)
        numbers = [ir.IntegerAttr.get(i64, n) for n in values]
        value = ir.DenseElementsAttr.get(numbers, self._type(len(values)))
        return self._build.make("constant", [], self._type(len(values)), {"value": value})

    def size(self, value: ir.Value, axis: int) -> ir.Value:
        """The size of dimension ``axis`` as ``tensor<1xi64>``."""
        type_ = ir.RankedTensorType(value.type)
        if not type_.is_dynamic_dim(axis):
            return self.constant([type_.get_dim_size(axis)])
        i32 = ir.IntegerType.get_signless(32)
        scalar = self._build.tensor([], i32)
        dimension = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), axis)}
        return self.vector(self._build.make("get_dimension_size", [value], scalar, dimension))

    def vector(self, scalar: ir.Value) -> ir.Value:
        """An integer scalar as ``tensor<1xi64>``."""
        i64 = ir.IntegerType.get_signless(64)
        wide = self._build.tensor([], i64)
        if scalar.type != wide:
            scalar = self._build.make("convert", [scalar], wide)
        return self._build.make("reshape", [scalar], self._type(1))

    def join(self, sizes: Sequence[ir.Value]) -> ir.Value:
        """``tensor<1xi64>`` values one after another as ``tensor<n x i64>``."""
        if not sizes:
            return self.constant([])
        dimension = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)}
        return self._build.make("concatenate", list(sizes), self._type(len(sizes)), dimension)

    def of(self, value: ir.Value) -> ir.Value:
        """All sizes of ``value``."""
        return self.join([self.size(value, axis) for axis in range(ir.RankedTensorType(value.type).rank)])

    def combine(self, name: str, a: ir.Value, b: ir.Value) -> ir.Value:
        """``stablehlo.<name>`` of two sizes."""
        return self._build.make(name, [a, b], a.type)

    def unless_one(self, a: ir.Value, b: ir.Value) -> ir.Value:
        """``a`` where it is not 1, else ``b``: the size of two that broadcast to each other."""
        i1 = self._build.tensor([1], ir.IntegerType.get_signless(1))
        equal = {"comparison_direction": ir.Attribute.parse("#stablehlo<comparison_direction EQ>")}
        one = self._build.make("compare", [a, self.constant([1])], i1, equal)
        return self._build.make("select", [one, b, a], a.type)

    def _type(self, count: int) -> ir.RankedTensorType:
        return self._build.tensor([count], ir.IntegerType.get_signless(64))
