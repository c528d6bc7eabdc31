"""``kc-legalize-quantized``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.stablehlo._build import Builder
from kc.passes.stablehlo._quantization import Quantization, dequantize, quantization_of, quantize
from kc.passes.stablehlo._quantized_dots import DOTS, integer_dot
from kc.rewrite import replace_op, walk_ops

#: ops that move elements, or hold regions: on stored numbers they are the same when the quantisations agree
_MOVES = frozenset(
    f"stablehlo.{n}"
    for n in (
        "all_gather", "all_reduce", "all_to_all", "bitcast_convert", "broadcast", "broadcast_in_dim", "case",
        "collective_broadcast", "collective_permute", "concatenate", "constant", "custom_call",
        "dynamic_broadcast_in_dim", "dynamic_gather", "dynamic_pad", "dynamic_reshape", "dynamic_slice",
        "dynamic_update_slice", "gather", "get_dimension_size", "if", "infeed", "map", "optimization_barrier",
        "outfeed", "pad", "real_dynamic_slice", "recv", "reduce", "reduce_scatter", "reduce_window", "reshape",
        "return", "reverse", "scatter", "select_and_scatter", "send", "set_dimension_size", "slice", "sort",
        "transpose", "while",
    )
)  # fmt: skip
#: also on stored numbers, because one scale and one zero point keep the order
_ORDERED = frozenset(f"stablehlo.{n}" for n in ("clamp", "compare", "maximum", "minimum", "select"))
_CASTS = ("stablehlo.uniform_dequantize", "stablehlo.uniform_quantize")
#: nothing but their types changes
_FRAME = frozenset({"builtin.module", "func.call", "func.func", "func.return", "tensor.cast"})


@dataclasses.dataclass(frozen=True)
class LegalizeQuantized(Pass):
    """Quantised types and ops to integer and float arithmetic, by the definitions of the StableHLO specification.

    A value of a quantised type becomes its stored numbers. An op that moves or orders elements works on those; any
    other is computed on the numbers they stand for: dequantise, compute, quantise. ``dot_general`` and ``convolution``
    of two quantised operands multiply and add integers, which is exact, and scale once. Quantisation may be per tensor
    or per axis. Before / after::

        %r = stablehlo.multiply %a, %b : tensor<4x!quant.uniform<i8:f32, 0.5>>

        %x = stablehlo.multiply (stablehlo.convert %a), %half : tensor<4xf32>
        %y = stablehlo.multiply (stablehlo.convert %b), %half : tensor<4xf32>
        %p = stablehlo.multiply %x, %y : tensor<4xf32>
        %c = stablehlo.clamp %least, (stablehlo.divide %p, %half), %most : tensor<4xf32>
        %r = stablehlo.convert (stablehlo.round_nearest_even %c) : (tensor<4xf32>) -> tensor<4xi8>
    """

    name: ClassVar[str] = "kc-legalize-quantized"
    level: ClassVar[str] = "stablehlo"
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo", "chlo")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        if not ctx.context.is_dialect_loaded("quant"):  # then no type of it has been met
            return
        quantised = [o for o in walk_ops(op) if _is_quantised(o)]
        if not quantised:
            return
        for found in quantised:
            _by_dequantizing(found, ctx)
        casts = []
        for found in walk_ops(op, _CASTS):
            casts.append((found, quantization_of(found.operands[0].type), quantization_of(found.results[0].type)))
        for found in walk_ops(op):
            _store(found)
        for found, source, target in casts:
            b, value = Builder(found), found.operands[0]
            if source is not None:
                value = dequantize(b, value, source)
            if target is not None:
                value = quantize(b, value, target)
            replace_op(found, [value])
        for found in walk_ops(op, "stablehlo.bitcast_convert"):
            if found.operands[0].type == found.results[0].type:
                replace_op(found, [found.operands[0]])


def _is_quantised(op: ir.Operation) -> bool:
    values = (*op.operands, *op.results)
    if op.name == "func.func":
        return "!quant." in str(op.attributes["function_type"])
    return any(quantization_of(v.type) is not None for v in values)


def _by_dequantizing(op: ir.Operation, ctx: PassContext) -> None:
    """Put ``uniform_dequantize`` before and ``uniform_quantize`` after ``op`` if it cannot work on stored numbers."""
    if op.name in _FRAME or op.name in _CASTS:
        return
    kinds = [q for v in (*op.operands, *op.results) if (q := quantization_of(v.type)) is not None]
    agree = all(q.agrees(kinds[0]) for q in kinds)
    if op.name in _MOVES and (agree or len(op.regions)):
        return
    if op.name in _ORDERED and agree and (kinds[0].per_tensor or op.name == "stablehlo.select"):
        return
    if op.name in DOTS:
        value = integer_dot(op)
        if value is not None:
            replace_op(op, [value])
            return
    if op.name.partition(".")[0] not in ("stablehlo", "chlo") or len(op.regions):
        ctx.error(
            op,
            f"'{op.name}' on a quantised type cannot be compiled",
            ["nearest thing that works: stablehlo.uniform_dequantize, the op, stablehlo.uniform_quantize"],
        )
    b = Builder(op)
    plain = b.op(
        op.name,
        [_dequantized(b, v) for v in op.operands],
        [_expressed(b, r.type) for r in op.results],
        {name: op.attributes[name] for name in op.attributes},
    )
    replace_op(op, [_quantized(b, v, r.type) for v, r in zip(plain.results, op.results, strict=True)])


def _dequantized(b: Builder, value: ir.Value) -> ir.Value:
    type_ = _expressed(b, value.type)
    return value if type_ == value.type else b.make("uniform_dequantize", [value], type_)


def _quantized(b: Builder, value: ir.Value, type_: ir.Type) -> ir.Value:
    return value if type_ == value.type else b.make("uniform_quantize", [value], type_)


def _expressed(b: Builder, type_: ir.Type) -> ir.Type:
    q = quantization_of(type_)
    return type_ if q is None else b.tensor(list(ir.RankedTensorType(type_).shape), q.expressed)


# ------------------------------------------------------------------------------------------- types of what is stored


def _stored_type(type_: ir.Type, q: Quantization) -> ir.Type:
    return ir.RankedTensorType.get(ir.RankedTensorType(type_).shape, q.storage, loc=ir.Location.unknown())


def _store(op: ir.Operation) -> None:
    """Give the results and block arguments of ``op`` the types of the stored numbers."""
    arguments = [a for region in op.regions for block in region.blocks for a in block.arguments]
    for value in (*op.results, *arguments):
        q = quantization_of(value.type)
        if q is not None:
            value.set_type(_stored_type(value.type, q))
            if op.name == "stablehlo.constant":
                _store_constant(op, value)
    if op.name == "func.func":
        kind = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)
        sides = [
            [t if (q := quantization_of(t)) is None else _stored_type(t, q) for t in side]
            for side in (kind.inputs, kind.results)
        ]
        op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*sides))


def _store_constant(op: ir.Operation, value: ir.Value) -> None:
    """A constant whose attribute has another sign than the storage type keeps its bits."""
    attribute = ir.DenseElementsAttr(op.attributes["value"])
    if attribute.type == value.type:
        return
    stored = value.type
    value.set_type(attribute.type)
    with ir.InsertionPoint.after(op):
        same = ir.Operation.create("stablehlo.bitcast_convert", results=[stored], operands=[value], loc=op.location)
    value.replace_all_uses_except(same.result, same)
