"""``kc-splat-to-fill``: constants of one repeated value become ``linalg.fill``."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from kc import params
from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.linalg._host_scalars import operations


@dataclasses.dataclass(frozen=True)
class SplatToFill(Pass):
    """Make splat tensors where they are used, on the device, instead of keeping them in memory.

    Bufferization would turn the constant into a global of the host's object, which a GPU cannot read.
    Constants with more than one value are left alone: ``kc-externalize-constants`` binds those as parameters.

    ::

        %c = arith.constant dense<1.0> : tensor<8xf32>
        // becomes
        %one = arith.constant 1.0 : f32
        %e = tensor.empty() : tensor<8xf32>
        %c = linalg.fill ins(%one : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    """

    name: ClassVar[str] = "kc-splat-to-fill"
    anchor: ClassVar[str] = "func.func"
    level: ClassVar[str] = "linalg"

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for constant in operations(op):
            if constant.name != "arith.constant" or not isinstance(constant.results[0].type, ir.RankedTensorType):
                continue
            with ir.InsertionPoint(constant):
                value = splat_scalar(constant)
                if value is None:
                    continue
                filled = fill(value, constant.results[0].type, constant.location)
            constant.results[0].replace_all_uses_with(filled)
            constant.erase()


def splat_scalar(constant: Any) -> Any:
    """The element of a dense ``arith.constant`` as a scalar constant at the ambient insertion point; None if not a
    splat.
    """
    element = constant.results[0].type.element_type
    if isinstance(element, ir.ComplexType):
        number = params.complex_splat(constant)
        if number is None:
            return None
        part, loc = element.element_type, constant.location
        parts = [ir.FloatAttr.get(part, value, loc=loc) for value in (number.real, number.imag)]
        name, attribute = "complex.constant", ir.ArrayAttr.get(parts)
    else:
        value = constant.attributes["value"]
        if not isinstance(value, ir.DenseElementsAttr) or not value.is_splat:
            return None
        name, attribute = "arith.constant", value.get_splat_value()
    return ir.Operation.create(name, [element], [], {"value": attribute}, loc=constant.location).results[0]


def fill(value: Any, kind: Any, loc: Any) -> Any:
    """A tensor of static type ``kind`` filled with the scalar ``value``, at the ambient insertion point."""
    empty = ir.Operation.create("tensor.empty", results=[kind], loc=loc).results[0]
    made = ir.Operation.create(
        "linalg.fill",
        results=[kind],
        operands=[value, empty],
        attributes={"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1])},
        regions=1,
        loc=loc,
    )
    body = made.regions[0].blocks.append(value.type, value.type, arg_locs=[loc, loc])
    with ir.InsertionPoint(body):
        ir.Operation.create("linalg.yield", operands=[body.arguments[0]], loc=loc)
    return made.results[0]
