"""``kc-convert-stablehlo-custom-call``."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

from kc.bindings import ir
from kc.diagnostics import location_of
from kc.pass_base import PassContext
from kc.passes.conversion._attrs import boolean, flags, ints
from kc.passes.conversion._convert import StablehloConversion, in_scalar_region
from kc.passes.conversion._emit import Emitter, Index, element, ranked, shape_of, tensor_type
from kc.passes.conversion._host_call import host_call
from kc.rewrite import erase_op, replace_op, walk_ops

#: on the declaration of a host call: what the artifact's manifest says of it, as JSON
DESCRIPTION = "kc.custom_call"


@dataclasses.dataclass(frozen=True)
class ConvertStablehloCustomCall(StablehloConversion):
    """Custom calls become calls of the runtime, which looks the target up when the program is loaded.

    Operands and results stay tensors; a layout other than row-major is made by a transpose, so that the function finds
    in memory what the call's layouts say. ``output_operand_aliases`` make the operand the result's destination. A
    result of unknown extents takes them from ``indices_of_shape_operands``; those operands are not passed on. A call
    without side effects whose results nobody uses goes. Before / after::

        %r = stablehlo.custom_call @f(%x) {operand_layouts = [dense<[0, 1]>], result_layouts = [dense<[0, 1]>]}
            : (tensor<2x3xf32>) -> tensor<2x3xf32>

        %t = linalg.generic (transpose of %x)
        %e = tensor.empty() : tensor<3x2xf32>
        %c = call @kc_custom_call_0(%t, %e) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
        %r = linalg.generic (transpose of %c)
    """

    name: ClassVar[str] = "kc-convert-stablehlo-custom-call"
    converts: ClassVar[frozenset[str]] = frozenset({"stablehlo.custom_call"})

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        number = sum(DESCRIPTION in f.attributes for f in walk_ops(op, "func.func"))
        for found in reversed([o for o in walk_ops(op, self.converts) if not in_scalar_region(o)]):
            if not boolean(found, "has_side_effect") and not any(list(r.uses) for r in found.results):
                erase_op(found)
        for found in [o for o in walk_ops(op, self.converts) if not in_scalar_region(o)]:
            replace_op(found, _Call(found, ctx).convert(number))
            number += 1


class _Call:
    """The conversion of one call."""

    def __init__(self, op: ir.Operation, ctx: PassContext):
        self.op, self.ctx, self.e = op, ctx, Emitter.before(op)
        self.target = ir.StringAttr(op.attributes["call_target_name"]).value
        self.types = [v.type for v in (*op.operands, *op.results)]
        for type_ in self.types:
            if not isinstance(type_, ir.RankedTensorType):
                self._refuse(f"takes or gives {type_}", "tensors with a rank")
            if "!quant." in str(type_):
                self._refuse("works on a quantised type", "kc-legalize-quantized before this pass")
        if "called_computations" in op.attributes and len(ir.ArrayAttr(op.attributes["called_computations"])):
            self._refuse("calls computations of the program", "a call that gets values only")
        self.unsigned = flags(op, "kc.unsigned", len(self.types))

    def _refuse(self, what: str, nearest: str) -> NoReturn:
        self.ctx.error(
            self.op, f"custom call '{self.target}' {what}, which kc cannot do", [f"nearest thing that works: {nearest}"]
        )

    def convert(self, number: int) -> Sequence[ir.Value]:
        op, e = self.op, self.e
        shapes = ints(op, "indices_of_shape_operands", [])
        operands = [v for k, v in enumerate(op.operands) if k not in shapes]
        signs = [sign for k, sign in enumerate(self.unsigned) if k not in shapes]
        layouts = self._layouts(len(op.operands))
        layouts = [layout for k, layout in enumerate(layouts) if k not in shapes]
        extents = self._extents(shapes)
        aliases = self._aliases(shapes)
        count = len(operands)
        for result, operand in aliases.items():
            if layouts[count + result] != layouts[operand] or operands[operand].type != op.results[result].type:
                self._refuse(f"aliases result {result} to an operand of another type or layout", "equal types")
        inputs = [_transposed(e, v, layout[::-1]) for v, layout in zip(operands, layouts, strict=False)]
        physical = [[sizes[d] for d in layout[::-1]] for sizes, layout in zip(extents, layouts[count:], strict=True)]
        types = [
            tensor_type([shape_of(r)[d] for d in reversed(layout)], element(r))
            for r, layout in zip(op.results, layouts[count:], strict=True)
        ]
        described = {"number": number} | self._describe([*operands, *op.results], signs, layouts, count, aliases)
        values = host_call(
            e,
            "kc_custom_call",
            [number],
            inputs,
            types,
            physical,
            aliases,
            {DESCRIPTION: ir.StringAttr.get(json.dumps(described))},
        )
        back = []
        for value, layout, result in zip(values, layouts[count:], op.results, strict=True):
            order = layout[::-1]
            back.append(e.cast(_transposed(e, value, [order.index(d) for d in range(len(order))]), result.type))
        return back

    def _layouts(self, operands: int) -> list[list[int]]:
        """Of every operand and result: the dimensions from the fastest to the slowest."""
        found: list[list[int]] = []
        for name, part in (("operand_layouts", self.types[:operands]), ("result_layouts", self.types[operands:])):
            if name in self.op.attributes:
                found += [
                    [int(d) for d in ir.DenseIntElementsAttr(attr)] for attr in ir.ArrayAttr(self.op.attributes[name])
                ]
            else:
                found += [list(range(ranked(type_).rank))[::-1] for type_ in part]
        return found

    def _extents(self, shapes: list[int]) -> list[list[Index]]:
        """The extents of every result."""
        e, found = self.e, []
        for number, result in enumerate(self.op.results):
            shape = shape_of(result)
            if None not in shape:
                found.append([n or 0 for n in shape])
                continue
            if number >= len(shapes):
                self._refuse(f"has a result of unknown extents, {result.type}", "'indices_of_shape_operands'")
            vector = self.op.operands[shapes[number]]
            found.append(
                [
                    e.to_int(e.extract(vector, [axis]), ir.IndexType.get()) if known is None else known
                    for axis, known in enumerate(shape)
                ]
            )
        return found

    def _aliases(self, shapes: list[int]) -> dict[int, int]:
        """Result -> operand (numbers after the shape operands are gone)."""
        from kc.bindings import stablehlo_api

        found: dict[int, int] = {}
        if "output_operand_aliases" not in self.op.attributes:
            return found
        for attr in ir.ArrayAttr(self.op.attributes["output_operand_aliases"]):
            alias = stablehlo_api.OutputOperandAlias(attr)
            if list(alias.operand_tuple_indices) or len(alias.output_tuple_indices) > 1:
                self._refuse("aliases parts of tuples", "operands and results that are tensors")
            result = alias.output_tuple_indices[0] if len(alias.output_tuple_indices) else 0
            operand = alias.operand_index
            found[result] = operand - sum(k < operand for k in shapes)
        if len(set(found.values())) != len(found):
            self._refuse("aliases two results to one operand", "one result for each operand")
        return found

    def _describe(
        self,
        values: Sequence[ir.Value],
        unsigned: Sequence[bool],
        layouts: Sequence[list[int]],
        count: int,
        aliases: dict[int, int],
    ) -> dict[str, Any]:
        """The entry of the manifest. Words: the call's number, inputs that are not aliased, results."""
        words: dict[int, int] = {}
        at = 1
        order = [k for k in range(count) if k not in aliases.values()] + list(range(count, len(values)))
        for k in order:
            words[k] = at
            at += 1 + ranked(values[k]).rank
        for result, operand in aliases.items():
            words[operand] = words[count + result]
        buffers = [
            {"dtype": _dtype(value, sign), "layout": layout, "word": words[k]}
            for k, (value, sign, layout) in enumerate(zip(values, unsigned, layouts, strict=True))
        ]
        place = location_of(self.op)
        return {
            "target": self.target,
            "operands": buffers[:count],
            "results": buffers[count:],
            "attributes": _attributes(self.op),
            "place": "" if place is None else str(place),
        }


def _transposed(e: Emitter, value: ir.Value, order: list[int]) -> ir.Value:
    """Dimension ``d`` of the result is dimension ``order[d]`` of ``value``."""
    rank = len(order)
    if order == list(range(rank)):
        return value
    shape, extents = shape_of(value), e.dims(value)
    inputs = [ir.AffineDimExpr.get(order.index(axis)) for axis in range(rank)]
    init = e.empty(tensor_type([shape[d] for d in order], element(value)), [extents[d] for d in order])
    maps = [ir.AffineMap.get(rank, 0, inputs), ir.AffineMap.get_identity(rank)]
    return e.generic([value], [init], maps, ["parallel"] * rank, lambda _, a: [a[0]])[0]


def _dtype(value: ir.Value, unsigned: bool) -> str:
    text = str(element(value))
    return "u" + text if unsigned else {"complex<f32>": "complex64", "complex<f64>": "complex128"}.get(text, text)


def _attributes(op: ir.Operation) -> Any:
    """The call's ``backend_config`` as JSON: a dictionary, or the text it is."""
    for name in ("mhlo.backend_config", "backend_config"):
        if name in op.attributes:
            value = _plain(op.attributes[name])
            if value != "" or name == "backend_config":
                return value
    return {}


def _plain(attr: ir.Attribute) -> Any:
    if isinstance(attr, ir.StringAttr):
        return attr.value
    if isinstance(attr, ir.BoolAttr):
        return bool(attr.value)
    if isinstance(attr, (ir.IntegerAttr, ir.FloatAttr)):
        return attr.value
    if isinstance(attr, ir.DictAttr):
        return {entry.name: _plain(entry.attr) for entry in attr}
    if isinstance(attr, ir.ArrayAttr):
        return [_plain(entry) for entry in attr]
    if isinstance(attr, (ir.DenseBoolArrayAttr, ir.DenseI32ArrayAttr, ir.DenseI64ArrayAttr, ir.DenseF64ArrayAttr,
                         ir.DenseF32ArrayAttr, ir.DenseI8ArrayAttr, ir.DenseI16ArrayAttr)):  # fmt: skip
        return list(attr)
    if isinstance(attr, (ir.DenseIntElementsAttr, ir.DenseFPElementsAttr)):
        return list(attr)
    return str(attr)
