"""The original in higher precision: the same module with every float type replaced by f64.

Constants keep the value that they have in the original's type. Roundings between float types go away, as the point is
to know what the original means without rounding. Where a module looks at the bits of floats there is no such run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kc.errors import UnsupportedError

if TYPE_CHECKING:
    from kc.bindings import ir

_FLOAT = re.compile(r"(?<![\w.#@%!])(f16|bf16|f32|f8E\w+|f6E\w+|f4E\w+)\b|(?<=x)(f16|bf16|f32|f8E\w+|f6E\w+|f4E\w+)\b")
#: ops that look at the bits of floats, or name a precision
_BITS = frozenset(
    [
        "arith.bitcast",
        "vector.bitcast",
        "stablehlo.bitcast_convert",
        "tensor.bitcast",
        "memref.view",
        "stablehlo.reduce_precision",
        "llvm.bitcast",
        "vector.type_cast",
        "math.isnan_bits",
        "arith.scaling_extf",
        "arith.scaling_truncf",
    ]
)
#: conversions that are the identity when both types are f64
_IDENTITIES = frozenset({"arith.extf", "arith.truncf"})


def retype(text: str, context: ir.Context) -> str:
    """The module computed in f64. Raises UnsupportedError where it looks at bits."""
    from kc.agents.gates.case import walk
    from kc.bindings import ir
    from kc.context import parse_module

    module = parse_module(text, context)
    with context, ir.Location.unknown():
        for op in list(walk(module.operation)):
            if op.name in _BITS or op.name.startswith(("llvm.", "nvvm.", "gpu.")):
                raise UnsupportedError(f"'{op.name}' fixes the type of floats: there is no run in higher precision")
            for region in op.regions:
                for block in region.blocks:
                    for argument in block.arguments:
                        argument.set_type(_widened(argument.type))
            for name in list(op.attributes):
                made = _attribute(op.attributes[name])
                if made is not None:
                    op.attributes[name] = made
            for result in op.results:
                result.set_type(_widened(result.type))
        for op in list(walk(module.operation)):
            if op.name in _IDENTITIES:
                op.results[0].replace_all_uses_with(op.operands[0])
                op.erase()
    return str(module)


def _widened(kind: ir.Type) -> ir.Type:
    from kc.bindings import ir

    text = str(kind)
    made = _FLOAT.sub("f64", text)
    return kind if made == text else ir.Type.parse(made)


def _attribute(attribute: ir.Attribute) -> ir.Attribute | None:
    """The attribute with f64 in place of other floats; None when nothing changes."""
    from kc.bindings import ir

    if isinstance(attribute, ir.FloatAttr):
        return None if isinstance(attribute.type, ir.F64Type) else ir.FloatAttr.get_f64(attribute.value)
    if isinstance(attribute, ir.TypeAttr):
        made = _widened(attribute.value)
        return None if made == attribute.value else ir.TypeAttr.get(made)
    if isinstance(attribute, ir.DenseElementsAttr):
        return _dense(attribute)
    if isinstance(attribute, ir.ArrayAttr):
        parts = [_attribute(part) for part in attribute]
        if any(part is not None for part in parts):
            return ir.ArrayAttr.get([new or old for new, old in zip(parts, attribute, strict=True)])
    return None


def _dense(attribute: ir.DenseElementsAttr) -> ir.Attribute | None:
    import numpy as np

    from kc.agents.execution import literals
    from kc.agents.execution.signature import kind_of
    from kc.bindings import ir

    kind = _widened(attribute.type)
    if kind == attribute.type:
        return None
    if attribute.is_splat:
        value = attribute.get_splat_value()
        if not isinstance(value, ir.FloatAttr):
            raise UnsupportedError(f"a constant of type {attribute.type} has no value in higher precision")
        return ir.DenseElementsAttr.get_splat(kind, ir.FloatAttr.get_f64(value.value))
    text = str(kind)
    values = literals.read(re.sub(r" : (vector|tensor)<", " : tensor<", str(attribute)))
    double = np.complex128 if values.dtype.kind == "c" else np.float64
    written = literals.write(values.astype(double), kind_of(text.replace("vector<", "tensor<", 1)))
    return ir.Attribute.parse(written.replace(" : tensor<", " : vector<") if text.startswith("vector<") else written)
