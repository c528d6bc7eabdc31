"""Which types of values kc has: the part of the census that looks at types."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kc.bindings import ir

#: quantised types that no op of StableHLO takes
_QUANTISED = re.compile(r"!quant\.(any|calibrated|uniform<[^>]*:\{)")
_INTEGERS = ("i", "ui", "si")


def refusal(type_: ir.Type) -> tuple[str, str] | None:
    """Why kc has no values of a type and what can be instead; None when it has them."""
    from kc.bindings import ir
    from kc.runtime import dtypes

    text = str(type_)
    if text.startswith("tensor<*"):
        return "it works on a tensor of unknown rank", "tensors with a rank, dimensions may be unknown"
    if not isinstance(type_, ir.RankedTensorType):
        return None
    element = str(ir.RankedTensorType(type_).element_type)
    if _QUANTISED.match(element):
        return f"it works on {element}", "a type that is quantised uniformly, per tensor or per axis"
    if element.startswith("!quant."):
        return None
    try:
        dtypes.by_name(element)
    except KeyError:
        kind = "integers of 1, 2, 4, 8, 16, 32 or 64 bits" if element.startswith(_INTEGERS) else "f16, f32 or f64"
        kind = "complex<f32> or complex<f64>" if element.startswith("complex<") else kind
        return f"it works on elements of type {element}", kind
    return None
