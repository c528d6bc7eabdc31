"""Forms of supported ops that kc cannot compile: the part of the census that looks at one op at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kc.bindings import ir

    Reason = tuple[str, str] | None


def _index_select(op: ir.Operation) -> Reason:
    from kc.bindings import ir

    if ir.RankedTensorType(op.operands[0].type).has_static_shape:
        return None
    return "the shape of its operand is only known at run time", "stablehlo.dynamic_gather"


def _of_reals(op: ir.Operation) -> Reason:
    from kc.bindings import ir

    if not isinstance(ir.RankedTensorType(op.results[0].type).element_type, ir.ComplexType):
        return None
    what = "remainder" if op.name == "stablehlo.remainder" else "Bessel function"
    return f"the specification leaves the {what} of complex numbers open", "stablehlo.real and stablehlo.imag"


def _composite(op: ir.Operation) -> Reason:
    from kc.bindings import ir

    module = op
    while module.parent is not None:
        module = module.parent.operation
    name = ir.FlatSymbolRefAttr(op.attributes["decomposition"]).value
    for view in module.regions[0].blocks[0].operations:
        function = view.operation
        if function.name == "func.func" and ir.StringAttr(function.attributes["sym_name"]).value == name:
            if function.regions[0].blocks:
                return None
            return f"its decomposition '{name}' is only declared", "a decomposition with a body"
    return None


#: op -> why it cannot be compiled and the nearest thing that works; None when it can
REFUSALS: dict[str, Callable[[ir.Operation], Reason]] = {
    "chlo.bessel_i1e": _of_reals,
    "stablehlo.composite": _composite,
    "stablehlo.remainder": _of_reals,
    "stablehlo.torch_index_select": _index_select,
}
