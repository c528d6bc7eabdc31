"""Inlining of StableHLO's scalar regions (reducers, comparators, combiners): rank-0 tensors become plain scalars."""

from __future__ import annotations

from collections.abc import Sequence

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._emit import Emitter, element, ranked
from kc.passes.conversion._scalar import RULES, emit_scalar

# on rank-0 tensors these change nothing
_IDENTITIES = frozenset(
    {
        "stablehlo.broadcast_in_dim",
        "stablehlo.reshape",
        "stablehlo.transpose",
        "tensor.cast",
        "stablehlo.optimization_barrier",
    }
)


def inline_scalars(
    e: Emitter, op: ir.Operation, arguments: Sequence[ir.Value], ctx: PassContext, region: int = 0
) -> list[ir.Value]:
    """Emit the body of ``op``'s region for the scalars ``arguments``; returns what it returns, as scalars.

    Values from outside of the region are read with ``tensor.extract``. Ends the pass with an error on an op that has no
    scalar form.
    """
    return inline_block(e, op, op.regions[region].blocks[0], arguments, ctx)


def inline_block(
    e: Emitter, op: ir.Operation, block: ir.Block, arguments: Sequence[ir.Value], ctx: PassContext
) -> list[ir.Value]:
    """``inline_scalars`` of a given block: of ``op``'s, or of a function that it names."""
    scalars: dict[ir.Value, ir.Value] = dict(zip(block.arguments, arguments, strict=True))

    def scalar(value: ir.Value) -> ir.Value:
        if value not in scalars:
            scalars[value] = e.extract(value)
        return scalars[value]

    for inner in (o.operation for o in block.operations):
        if inner.name in ("stablehlo.return", "func.return"):
            return [scalar(v) for v in inner.operands]
        if inner.name == "tensor.extract":
            scalars[inner.results[0]] = scalar(inner.operands[0])
            continue
        result = ranked(inner.results[0]) if len(inner.results) else None
        if result is not None and result.rank == 0 and inner.name == "stablehlo.constant":
            scalars[inner.results[0]] = _constant(e, inner, result.element_type)
        elif result is not None and result.rank == 0 and inner.name in _IDENTITIES:
            scalars[inner.results[0]] = scalar(inner.operands[0])
        elif result is not None and result.rank == 0 and inner.name in RULES:
            values = [scalar(v) for v in inner.operands]
            scalars[inner.results[0]] = emit_scalar(e, inner, values, result.element_type)
        else:
            ctx.error(
                inner,
                f"'{inner.name}' in the region of '{op.name}' has no scalar form",
                [(op, "only elementwise ops on rank-0 tensors and constants are supported there")],
            )
    raise AssertionError("a region without terminator does not verify")


def _constant(e: Emitter, op: ir.Operation, type_: ir.Type) -> ir.Value:
    if isinstance(type_, ir.ComplexType):  # the bindings cannot hand out complex elements: read the tensor constant
        return e.extract(e.constant_like(op))
    value = ir.DenseElementsAttr(op.attributes["value"]).get_splat_value()
    return e.one("arith.constant", [], type_, {"value": value})


def single_op(op: ir.Operation, region: int = 0) -> str | None:
    """The name of the only op of a two-argument region ``return f(a, b)`` (in either order), None if it is not so."""
    return single_op_of(op.regions[region].blocks[0])


def single_op_of(block: ir.Block) -> str | None:
    """``single_op`` of a given block."""
    inner = [o.operation for o in block.operations]
    if len(inner) != 2 or len(block.arguments) != 2 or len(inner[0].operands) != 2:
        return None
    if list(inner[1].operands) != [inner[0].results[0]] or element(inner[0].results[0]) != element(block.arguments[0]):
        return None
    operands = list(inner[0].operands)
    arguments = list(block.arguments)
    return inner[0].name if operands in (arguments, arguments[::-1]) else None
