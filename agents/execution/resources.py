"""Constants whose elements stand apart from the module (``dense_resource``), written out where they are used.

StableHLO's interpreter reads other memory for them, and folding of some upstream ops never ends on them.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from kc.agents.execution.errors import ExecutionError

if TYPE_CHECKING:
    from kc.bindings import ir

_CONSTANTS = ("stablehlo.constant", "arith.constant")


def spell_out(module: ir.Module, *, strict: bool = True) -> None:
    """Write ``dense_resource`` constants as ``dense``.

    Where one has no contents: raises ExecutionError, or leaves it where it stands when not ``strict``.
    """
    from kc import params
    from kc.bindings import ir
    from kc.rewrite import walk_ops

    for op in walk_ops(module.operation, _CONSTANTS):
        value = op.attributes["value"]
        if "dense_resource<" not in str(value)[:40]:
            continue
        kind = ir.RankedTensorType(op.results[0].type)
        size = params.itemsize(params.type_dtype(kind.element_type))
        for extent in kind.shape:
            size *= extent
        data = params.constant_bytes(op, "value", size)
        if data is None:
            if not strict:
                continue
            raise ExecutionError("unsupported", f"{value} has no contents of {size} bytes in the module's resources")
        with module.context:
            op.attributes["value"] = ir.Attribute.parse(f'dense<"0x{data.hex().upper()}"> : {kind}')
