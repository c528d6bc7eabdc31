"""``kc-decompose-stablehlo``."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.stablehlo._build import Builder
from kc.passes.stablehlo._scan_loop import scan_loop
from kc.passes.stablehlo._sizes import Sizes
from kc.rewrite import replace_op, walk_ops

_BATCH_NORM = ("stablehlo.batch_norm_grad", "stablehlo.batch_norm_inference", "stablehlo.batch_norm_training")

#: custom calls that only say where a value should live; on one device they are their operand
_ANNOTATIONS = ("Sharding", "annotate_device_placement")


@dataclasses.dataclass(frozen=True)
class DecomposeStablehlo(Pass):
    """Batch norms become elementwise ops and reductions, ``chlo.scan`` a loop; annotations of placement go.

    ``batch_norm_training``, ``batch_norm_inference`` and ``batch_norm_grad`` are written out as the StableHLO
    specification defines them, in f32 for narrower floats. After::

        %c = stablehlo.subtract %x, %mean
        %s = stablehlo.sqrt %variance_plus_epsilon
        %n = stablehlo.divide %c, %s
        %r = stablehlo.add (stablehlo.multiply %n, %scale), %offset
    """

    name: ClassVar[str] = "kc-decompose-stablehlo"
    level: ClassVar[str] = "stablehlo"
    dialects: ClassVar[tuple[str, ...]] = ("chlo", "stablehlo")

    @staticmethod
    def takes_call(op: ir.Operation) -> bool:
        """Whether the custom call ``op`` only says where a value should live."""
        plain = [v.type for v in op.operands] == [r.type for r in op.results]
        return plain and ir.StringAttr(op.attributes["call_target_name"]).value in _ANNOTATIONS

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for call in walk_ops(op, "stablehlo.custom_call"):
            if self.takes_call(call):
                replace_op(call, list(call.operands))
        for scan in walk_ops(op, "chlo.scan")[::-1]:  # those in the bodies of others first
            replace_op(scan, scan_loop(scan, ctx))
        for norm in walk_ops(op, _BATCH_NORM):
            replace_op(norm, _BatchNorm(norm).values())


class _BatchNorm:
    """Writes out one batch norm in front of it."""

    def __init__(self, op: ir.Operation):
        self.op = op
        self.full = ir.RankedTensorType(op.operands[0].type)
        self.axis = ir.IntegerAttr(op.attributes["feature_index"]).value
        self.epsilon = ir.FloatAttr(op.attributes["epsilon"]).value
        self.element = self.full.element_type
        wide = isinstance(self.element, (ir.F32Type, ir.F64Type))
        self.acc = self.element if wide else ir.F32Type.get()

    def values(self) -> list[ir.Value]:
        operands = [self._convert(v, self.acc) for v in self.op.operands]
        if self.op.name == "stablehlo.batch_norm_inference":
            results = self._inference(*operands)
        elif self.op.name == "stablehlo.batch_norm_training":
            results = self._training(*operands)
        else:
            results = self._grad(*operands)
        return [self._convert(v, self.element) for v in results]

    def _inference(
        self, x: ir.Value, scale: ir.Value, offset: ir.Value, mean: ir.Value, variance: ir.Value
    ) -> list[ir.Value]:
        centred = self._op("subtract", x, self._spread(mean))
        normal = self._op("divide", centred, self._spread(self._deviation(variance)))
        return [self._op("add", self._op("multiply", normal, self._spread(scale)), self._spread(offset))]

    def _training(self, x: ir.Value, scale: ir.Value, offset: ir.Value) -> list[ir.Value]:
        mean = self._mean(x)
        centred = self._op("subtract", x, self._spread(mean))
        variance = self._mean(self._op("multiply", centred, centred))
        return [*self._inference(x, scale, offset, mean, variance), mean, variance]

    def _grad(self, x: ir.Value, scale: ir.Value, mean: ir.Value, variance: ir.Value, grad: ir.Value) -> list[ir.Value]:
        centred = self._op("subtract", x, self._spread(mean))
        deviation = self._deviation(variance)
        normal = self._op("divide", centred, self._spread(deviation))
        grad_scale, grad_offset = self._sum(self._op("multiply", grad, normal)), self._sum(grad)
        # x enters through itself, through the mean and through the variance
        through_mean = self._op("divide", grad_offset, self._count())
        through_variance = self._op("divide", grad_scale, self._count())
        inner = self._op("subtract", grad, self._spread(through_mean))
        inner = self._op("subtract", inner, self._op("multiply", normal, self._spread(through_variance)))
        factor = self._spread(self._op("divide", scale, deviation))
        return [self._op("multiply", factor, inner), grad_scale, grad_offset]

    # ------------------------------------------------------------------------------------------- building

    def _make(
        self, name: str, operands: list[ir.Value], type_: ir.Type, attributes: dict[str, ir.Attribute] | None = None
    ) -> ir.Value:
        return Builder(self.op).make(name, operands, type_, attributes)

    def _op(self, name: str, *operands: ir.Value) -> ir.Value:
        return self._make(name, list(operands), operands[0].type)

    def _typed(self, shape: list[int], element: ir.Type) -> ir.Type:
        return ir.RankedTensorType.get(shape, element, loc=self.op.location)

    def _convert(self, value: ir.Value, element: ir.Type) -> ir.Value:
        type_ = self._typed(list(ir.RankedTensorType(value.type).shape), element)
        return value if value.type == type_ else self._make("convert", [value], type_)

    def _number(self, value: float, type_: ir.Type) -> ir.Value:
        number = ir.FloatAttr.get(self.acc, value, loc=self.op.location)
        return self._make("constant", [], type_, {"value": ir.DenseElementsAttr.get_splat(type_, number)})

    def _per_feature(self, value: float) -> ir.Value:
        """A number for every feature."""
        type_ = self._typed([self.full.shape[self.axis]], self.acc)
        if type_.has_static_shape:
            return self._number(value, type_)
        return self._features(self._number(value, self._typed([], self.acc)))

    def _features(self, scalar: ir.Value) -> ir.Value:
        """A scalar, for every feature."""
        type_ = self._typed([self.full.shape[self.axis]], self.acc)
        dims = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
        if type_.has_static_shape:
            return self._make("broadcast_in_dim", [scalar], type_, dims)
        size = Sizes(self.op).size(self.op.operands[0], self.axis)
        return self._make("dynamic_broadcast_in_dim", [scalar, size], type_, dims)

    def _spread(self, value: ir.Value) -> ir.Value:
        """One number per feature, over the whole shape."""
        dims = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([self.axis])}
        type_ = self._typed(list(self.full.shape), self.acc)
        if type_.has_static_shape and ir.RankedTensorType(value.type).has_static_shape:
            return self._make("broadcast_in_dim", [value], type_, dims)
        shape = Sizes(self.op).of(self.op.operands[0])
        return self._make("dynamic_broadcast_in_dim", [value, shape], type_, dims)

    def _count(self) -> ir.Value:
        """How many numbers a feature has, for every feature."""
        others = [a for a in range(self.full.rank) if a != self.axis]
        if not any(self.full.is_dynamic_dim(a) for a in others):
            return self._per_feature(math.prod(self.full.get_dim_size(a) for a in others))
        sizes = Sizes(self.op)
        count = sizes.constant([1])
        for axis in others:
            count = sizes.combine("multiply", count, sizes.size(self.op.operands[0], axis))
        scalar = self._make("reshape", [count], self._typed([], ir.IntegerType.get_signless(64)))
        return self._features(self._make("convert", [scalar], self._typed([], self.acc)))

    def _deviation(self, variance: ir.Value) -> ir.Value:
        return self._op("sqrt", self._op("add", variance, self._per_feature(self.epsilon)))

    def _sum(self, value: ir.Value) -> ir.Value:
        """Over everything but the features."""
        scalar = self._typed([], self.acc)
        axes = [a for a in range(self.full.rank) if a != self.axis]
        made = ir.Operation.create(
            "stablehlo.reduce",
            results=[self._typed([self.full.shape[self.axis]], self.acc)],
            operands=[value, self._number(0.0, scalar)],
            attributes={"dimensions": ir.DenseI64ArrayAttr.get(axes)},
            regions=1,
            loc=self.op.location,
            ip=ir.InsertionPoint(self.op),
        )
        block = made.regions[0].blocks.append(scalar, scalar, arg_locs=[self.op.location] * 2)
        end = ir.InsertionPoint(block)
        total = ir.Operation.create(
            "stablehlo.add", results=[scalar], operands=list(block.arguments), loc=self.op.location, ip=end
        )
        ir.Operation.create("stablehlo.return", operands=[total.result], loc=self.op.location, ip=end)
        return made.result

    def _mean(self, value: ir.Value) -> ir.Value:
        total = self._sum(value)
        return self._op("divide", total, self._count())
