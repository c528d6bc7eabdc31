"""``kc-convert-stablehlo-data-movement``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._attrs import integer, ints
from kc.passes.conversion._bitcast import bitcast
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._emit import (
    Emitter,
    Index,
    element,
    is_complex,
    ranked,
    shape_of,
    tensor_type,
)
from kc.passes.conversion._movement import broadcast, iota, pad
from kc.passes.conversion._reshape import reshape


@dataclasses.dataclass(frozen=True)
class ConvertStablehloDataMovement(StablehloConversion):
    """Constants, iota, broadcasts, reshapes, transposes, slices, pads, concatenations and reversals to linalg and
    tensor.

    ``stablehlo.broadcast_in_dim`` becomes a ``linalg.generic`` whose input map says it (it fuses into its users),
    ``reshape`` a collapse and an expand, ``slice`` a ``tensor.extract_slice``, ``pad`` a ``tensor.pad`` or an insertion
    into a filled tensor. Before / after::

        %r = stablehlo.reshape %a : (tensor<2x6xf32>) -> tensor<3x4xf32>

        %c = tensor.collapse_shape %a [[0, 1]] : tensor<2x6xf32> into tensor<12xf32>
        %r = tensor.expand_shape %c [[0, 1]] output_shape [3, 4] : tensor<12xf32> into tensor<3x4xf32>
    """

    name: ClassVar[str] = "kc-convert-stablehlo-data-movement"
    converts: ClassVar[frozenset[str]] = frozenset(
        f"stablehlo.{n}"
        for n in (
            "bitcast_convert",
            "broadcast",
            "broadcast_in_dim",
            "concatenate",
            "constant",
            "iota",
            "pad",
            "reshape",
            "reverse",
            "slice",
            "transpose",
        )
    )

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value] | None:
        value = getattr(self, "_" + op.name.removeprefix("stablehlo."))(e, op)
        return None if value is None else [value]

    @staticmethod
    def _constant(e: Emitter, op: ir.Operation) -> ir.Value:
        return e.constant_like(op)

    @staticmethod
    def _iota(e: Emitter, op: ir.Operation) -> ir.Value:
        type_ = op.results[0].type
        return iota(e, type_, [n or 0 for n in shape_of(type_)], integer(op, "iota_dimension"))

    @staticmethod
    def _broadcast(e: Emitter, op: ir.Operation) -> ir.Value:
        sizes, operand = ints(op, "broadcast_sizes"), op.operands[0]
        dims = list(range(len(sizes), len(sizes) + ranked(operand).rank))
        return broadcast(e, operand, op.results[0].type, [*sizes, *e.dims(operand)], dims)

    @staticmethod
    def _broadcast_in_dim(e: Emitter, op: ir.Operation) -> ir.Value:
        operand, type_ = op.operands[0], op.results[0].type
        dims = ints(op, "broadcast_dimensions")
        extents: list[Index] = [1 if n is None else n for n in shape_of(type_)]
        for axis, target in enumerate(dims):
            if shape_of(type_)[target] is None:
                extents[target] = e.dim(operand, axis)
        return broadcast(e, operand, type_, extents, dims)

    @staticmethod
    def _reshape(e: Emitter, op: ir.Operation) -> ir.Value:
        operand, type_ = op.operands[0], op.results[0].type
        target = shape_of(type_)
        unknown = target.count(None)
        extents: list[Index] = [0 if n is None else n for n in target]
        if unknown == 1:
            known = e.product([n for n in target if n is not None])
            extents[target.index(None)] = e.floordiv(e.product(e.dims(operand)), known)
        return reshape(e, operand, type_, extents)

    @staticmethod
    def _transpose(e: Emitter, op: ir.Operation) -> ir.Value:
        operand, type_ = op.operands[0], op.results[0].type
        order = ints(op, "permutation")
        rank = len(order)
        source = e.dims(operand)
        inputs = [ir.AffineDimExpr.get(order.index(axis)) for axis in range(rank)]
        init = e.empty(type_, [source[axis] for axis in order])
        maps = [ir.AffineMap.get(rank, 0, inputs), ir.AffineMap.get_identity(rank)]
        return e.generic([operand], [init], maps, ["parallel"] * rank, lambda _, a: [a[0]])[0]

    @staticmethod
    def _slice(e: Emitter, op: ir.Operation) -> ir.Value:
        starts, limits, strides = (ints(op, f"{k}") for k in ("start_indices", "limit_indices", "strides"))
        sizes = [-(-(b - a) // s) for a, b, s in zip(starts, limits, strides, strict=True)]
        type_ = tensor_type(sizes, element(op.operands[0]))
        return e.extract_slice(op.operands[0], starts, sizes, strides, type_)

    @staticmethod
    def _pad(e: Emitter, op: ir.Operation) -> ir.Value:
        low, high, interior = (ints(op, k) for k in ("edge_padding_low", "edge_padding_high", "interior_padding"))
        return pad(e, op.operands[0], e.extract(op.operands[1]), op.results[0].type, low, high, interior)

    @staticmethod
    def _concatenate(e: Emitter, op: ir.Operation) -> ir.Value:
        axis, type_ = integer(op, "dimension"), op.results[0].type
        inputs = list(op.operands)
        if len(inputs) == 1:
            return inputs[0]
        extents = e.dims(inputs[0])
        total: Index = 0
        for value in inputs:
            total = e.add(total, e.dim(value, axis))
        result = e.empty(type_, [total if d == axis else n for d, n in enumerate(extents)])
        at: Index = 0
        ones: list[Index] = [1] * len(extents)
        for value in inputs:
            sizes = e.dims(value)
            offsets: list[Index] = [at if d == axis else 0 for d in range(len(sizes))]
            result = e.insert_slice(value, result, offsets, sizes, ones)
            at = e.add(at, sizes[axis])
        return result

    @staticmethod
    def _reverse(e: Emitter, op: ir.Operation) -> ir.Value:
        operand, axes = op.operands[0], ints(op, "dimensions")
        extents = e.dims(operand)

        def body(i: Emitter, at: list[ir.Value]) -> ir.Value:
            mirrored = [i.sub(i.sub(extents[d], 1), x) if d in axes else x for d, x in enumerate(at)]
            return i.extract(operand, mirrored)

        return e.tabulate(op.results[0].type, extents, body)

    @staticmethod
    def _bitcast_convert(e: Emitter, op: ir.Operation) -> ir.Value | None:
        operand, type_ = op.operands[0], op.results[0].type
        elementwise = ranked(operand).rank == ranked(type_).rank
        if elementwise and not any(is_complex(element(v)) for v in (operand, op.results[0])):
            return None
        return bitcast(e, operand, type_)
