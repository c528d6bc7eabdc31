"""``kc-widen-accumulation``."""

from __future__ import annotations

import dataclasses
import math
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.rewrite import replace_op, walk_ops

_CONTRACTIONS = ("stablehlo.convolution", "stablehlo.dot", "stablehlo.dot_general", "stablehlo.dynamic_conv")
_REDUCTIONS = ("stablehlo.reduce", "stablehlo.reduce_window", "stablehlo.scatter", "stablehlo.select_and_scatter")
#: index entries of a scatter whose updates stay narrow
_FEW = 16
_SUMS = frozenset({"stablehlo.add", "stablehlo.multiply"})


@dataclasses.dataclass(frozen=True)
class WidenAccumulation(Pass):
    """Sums and products of narrow floats (f16, bf16 and below) accumulate in f32 and are rounded once, at the end.

    ``dot_general`` and ``convolution`` get an f32 result, their operands stay narrow. A ``reduce``, ``reduce_window``,
    ``scatter`` or ``select_and_scatter`` that adds or multiplies gets f32 operands; but a scatter of a few updates
    rounds each of them, as defined. Before / after::

        %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
          : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xbf16>

        %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
          : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xf32>
        %1 = stablehlo.convert %0 : (tensor<4x4xf32>) -> tensor<4x4xbf16>
    """

    name: ClassVar[str] = "kc-widen-accumulation"
    level: ClassVar[str] = "stablehlo"
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for found in walk_ops(op, (*_CONTRACTIONS, *_REDUCTIONS)):
            if not all(_narrow(r.type) for r in found.results):
                continue
            if found.name in _CONTRACTIONS:
                _widen_result(found)
            elif _sums(found) and not _few_updates(found):
                _widen_reduction(found)


def _narrow(type_: ir.Type) -> bool:
    if not isinstance(type_, ir.RankedTensorType):
        return False
    element = ir.RankedTensorType(type_).element_type
    return isinstance(element, ir.FloatType) and ir.FloatType(element).width < 32


def _wide(type_: ir.Type) -> ir.Type:
    return ir.RankedTensorType.get(ir.RankedTensorType(type_).shape, ir.F32Type.get(), loc=ir.Location.unknown())


def _convert(value: ir.Value, type_: ir.Type, before: ir.Operation) -> ir.Value:
    return ir.Operation.create(
        "stablehlo.convert", results=[type_], operands=[value], loc=before.location, ip=ir.InsertionPoint(before)
    ).result


def _widened(value: ir.Value, before: ir.Operation) -> ir.Value:
    """``value`` in f32; a splat constant (an initial value) stays a constant."""
    wide = _wide(value.type)
    owner = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if owner is not None and owner.name == "stablehlo.constant":
        elements = owner.attributes["value"]
        if isinstance(elements, ir.DenseElementsAttr) and elements.is_splat:
            number = ir.FloatAttr(elements.get_splat_value()).value
            splat = ir.DenseElementsAttr.get_splat(
                wide, ir.FloatAttr.get(ir.F32Type.get(), number, loc=before.location)
            )
            return ir.Operation.create(
                "stablehlo.constant",
                results=[wide],
                attributes={"value": splat},
                loc=before.location,
                ip=ir.InsertionPoint(before),
            ).result
    return _convert(value, wide, before)


def _attributes(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {name: op.attributes[name] for name in op.attributes}


def _widen_result(op: ir.Operation) -> None:
    wide = ir.Operation.create(
        op.name,
        results=[_wide(op.results[0].type)],
        operands=list(op.operands),
        attributes=_attributes(op),
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    replace_op(op, [_convert(wide.result, op.results[0].type, op)])


def _sums(op: ir.Operation) -> bool:
    """Whether the region that accumulates is one addition or multiplication of its two arguments."""
    block = op.regions[-1].blocks[0]
    inner = [o.operation for o in block.operations]
    return (
        len(op.results) == 1
        and len(inner) == 2
        and inner[0].name in _SUMS
        and set(inner[0].operands) == set(block.arguments)
        and list(inner[1].operands) == list(inner[0].results)
    )


def _few_updates(op: ir.Operation) -> bool:
    """Whether ``op`` is a scatter of so few updates that each may round as the op defines it."""
    if op.name != "stablehlo.scatter":
        return False
    indices = ir.RankedTensorType(op.operands[len(op.results)].type)
    return indices.has_static_shape and math.prod(indices.shape) <= _FEW


def _widen_reduction(op: ir.Operation) -> None:
    operands = [_widened(v, op) if _narrow(v.type) else v for v in op.operands]
    wide = ir.Operation.create(
        op.name,
        results=[_wide(op.results[0].type)],
        operands=operands,
        attributes=_attributes(op),
        regions=len(op.regions),
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    for source, target in zip(list(op.regions), wide.regions, strict=True):
        block = source.blocks[0]
        block.append_to(target)
        for argument in block.arguments:
            if _narrow(argument.type):
                argument.set_type(_wide(argument.type))
        for inner in block.operations:
            for result in inner.operation.results:
                if _narrow(result.type):
                    result.set_type(_wide(result.type))
    replace_op(op, [_convert(wide.result, op.results[0].type, op)])
