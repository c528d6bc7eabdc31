"""``kc-legalize-dynamism``."""

from __future__ import annotations

import dataclasses
import re
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.conversion._attrs import integer, ints
from kc.passes.conversion._checks import ORIGIN, Checks
from kc.passes.conversion._chlo_broadcast import expand as expand_broadcast
from kc.passes.conversion._emit import Emitter, shape_of
from kc.passes.stablehlo._sizes import Sizes
from kc.rewrite import replace_op, walk_ops

_REWRITTEN = ("stablehlo.broadcast_in_dim", "stablehlo.reshape", "stablehlo.set_dimension_size")

#: op -> the first of its operands that hold sizes, indices or padding; all later ones do, too
_SIZE_OPERANDS = {
    "stablehlo.dynamic_broadcast_in_dim": 1,
    "stablehlo.dynamic_conv": 2,
    "stablehlo.dynamic_gather": 2,
    "stablehlo.dynamic_iota": 0,
    "stablehlo.dynamic_pad": 2,
    "stablehlo.dynamic_reshape": 1,
    "stablehlo.real_dynamic_slice": 1,
}


@dataclasses.dataclass(frozen=True)
class LegalizeDynamism(Pass):
    """Bounded dimensions become unknown ones; ops that do not say how large their result is become ones that do.

    ``#stablehlo.bounds`` goes from every type; an argument's size is checked against its bound when the program is
    called. ``set_dimension_size`` takes the first elements (more than there are is an error at run time). A ``reshape``
    to one unknown size and a ``broadcast_in_dim`` from or to unknown ones get their sizes as an operand
    (``dynamic_reshape``, ``dynamic_broadcast_in_dim``), and so do the operands of ``chlo.broadcast_*``. Sizes of an
    unsigned type become i64: what reads them later no longer sees signs. Before / after::

        %0 = stablehlo.set_dimension_size %x, %n, dim = 0
          : (tensor<8xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<8>>

        %0 = stablehlo.real_dynamic_slice %x, %zeros, %sizes, %ones {kc.origin = "stablehlo.set_dimension_size"}
          : (tensor<8xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
    """

    name: ClassVar[str] = "kc-legalize-dynamism"
    level: ClassVar[str] = "stablehlo"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "func", "stablehlo", "tensor")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        functions = [f for f in walk_ops(op, "func.func") if f.regions[0].blocks]
        found = walk_ops(op, _REWRITTEN)
        if any("bounds<" in str(f.attributes["function_type"]) for f in functions) or any(
            o.name == "stablehlo.set_dimension_size" for o in found
        ):
            checks = Checks(op)
            for function in functions:
                _check_bounds(function, checks)
                _drop_bounds(function)
        for inner in found:
            unknown = [None in shape_of(v) for v in (inner.operands[0], inner.results[0])]
            if inner.name == "stablehlo.set_dimension_size":
                _set_dimension_size(inner)
            elif inner.name == "stablehlo.reshape" and unknown[1]:
                _reshape(inner, ctx)
            elif inner.name == "stablehlo.broadcast_in_dim" and any(unknown):
                _broadcast(inner, ctx)
        for inner in walk_ops(op):
            if inner.name in _SIZE_OPERANDS:
                _sign_sizes(inner)
            if inner.name.startswith("chlo.broadcast_") and any(None in shape_of(v) for v in inner.operands):
                expand_broadcast(inner)


def _sign_sizes(op: ir.Operation) -> None:
    for number in range(_SIZE_OPERANDS[op.name], len(op.operands)):
        value = op.operands[number]
        type_ = ir.RankedTensorType(value.type)
        if isinstance(type_.element_type, ir.IntegerType) and type_.element_type.is_unsigned:
            with op.location:
                wide = ir.RankedTensorType.get(type_.shape, ir.IntegerType.get_signless(64))
            convert = ir.Operation.create(
                "stablehlo.convert", results=[wide], operands=[value], loc=op.location, ip=ir.InsertionPoint(op)
            )
            op.operands[number] = convert.result


def _without_bounds(type_: ir.Type) -> ir.Type:
    if not isinstance(type_, ir.RankedTensorType) or type_.encoding is None or "bounds<" not in str(type_.encoding):
        return type_
    return ir.RankedTensorType.get(type_.shape, type_.element_type, loc=ir.Location.unknown())


def _check_bounds(function: ir.Operation, checks: Checks) -> None:
    """Compare the sizes of arguments with their bounds at the start of ``function``."""
    entry = function.regions[0].blocks[0]
    for number, argument in enumerate(entry.arguments):
        if _without_bounds(argument.type) == argument.type:
            continue
        text = re.search(r"bounds<([^>]*)>", str(ir.RankedTensorType(argument.type).encoding))
        assert text is not None
        e = Emitter(ir.InsertionPoint.at_block_begin(entry), argument.location)
        for axis, bound in enumerate(text[1].replace(" ", "").split(",")):
            if bound != "?":
                size = e.index(e.dim(argument, axis))
                what = f"argument {number}: dimension {axis} has size {{0}}, its type bounds it by {{1}}"
                checks.emit(e, e.cmpi("sle", size, e.index(int(bound))), what, size, int(bound))


def _drop_bounds(function: ir.Operation) -> None:
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    plain = ir.FunctionType.get([*map(_without_bounds, kind.inputs)], [*map(_without_bounds, kind.results)])
    function.attributes["function_type"] = ir.TypeAttr.get(plain)
    for op in (function, *walk_ops(function)):
        values = [*op.results, *(a for region in op.regions for block in region.blocks for a in block.arguments)]
        for value in values:
            type_ = _without_bounds(value.type)
            if type_ != value.type:
                value.set_type(type_)


def _replace(op: ir.Operation, name: str, operands: list[ir.Value], attributes: dict[str, ir.Attribute]) -> None:
    made = ir.Operation.create(
        f"stablehlo.{name}",
        results=[op.results[0].type],
        operands=operands,
        attributes={**attributes, ORIGIN: ir.StringAttr.get(op.name)},
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    replace_op(op, list(made.results))


def _set_dimension_size(op: ir.Operation) -> None:
    sizes = Sizes(op)
    value, wanted = op.operands
    rank = len(shape_of(value))
    limits = [sizes.size(value, axis) for axis in range(rank)]
    limits[integer(op, "dimension")] = sizes.vector(wanted)
    starts, strides = sizes.constant([0] * rank), sizes.constant([1] * rank)
    _replace(op, "real_dynamic_slice", [value, starts, sizes.join(limits), strides], {})


def _reshape(op: ir.Operation, ctx: PassContext) -> None:
    target = shape_of(op.results[0])
    if target.count(None) > 1:
        ctx.error(
            op,
            f"'{op.name}' to a shape of more than one unknown size cannot be compiled: nothing tells the sizes",
            ["nearest thing that works: stablehlo.dynamic_reshape"],
        )
    sizes = Sizes(op)
    total = sizes.constant([1])
    for axis in range(len(shape_of(op.operands[0]))):
        total = sizes.combine("multiply", total, sizes.size(op.operands[0], axis))
    known = 1
    for n in target:
        known *= 1 if n is None else n
    # a size of 0 beside it leaves the unknown one open: 0 it is
    rest = sizes.combine("divide", total, sizes.constant([max(known, 1)]))
    shape = sizes.join([rest if n is None else sizes.constant([n]) for n in target])
    _replace(op, "dynamic_reshape", [op.operands[0], shape], {})


def _broadcast(op: ir.Operation, ctx: PassContext) -> None:
    sizes = Sizes(op)
    axes = ints(op, "broadcast_dimensions")
    shape = []
    for axis, n in enumerate(shape_of(op.results[0])):
        if n is None and axis not in axes:
            ctx.error(
                op,
                f"'{op.name}' cannot be compiled: nothing tells the size of dimension {axis} of its result",
                ["nearest thing that works: stablehlo.dynamic_broadcast_in_dim"],
            )
        shape.append(sizes.constant([n]) if n is not None else sizes.size(op.operands[0], axes.index(axis)))
    attributes = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get(axes)}
    _replace(op, "dynamic_broadcast_in_dim", [op.operands[0], sizes.join(shape)], attributes)
