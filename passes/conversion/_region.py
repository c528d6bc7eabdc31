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


#: what ends a block that is inlined
_ENDS = frozenset({"func.return", "scf.condition", "scf.yield", "stablehlo.return"})
#: control flow, which kc-convert-stablehlo-control-flow has converted in regions too
_CONTROL = frozenset({"scf.if", "scf.index_switch", "scf.while"})


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
    return _inline(e, op, block, dict(zip(block.arguments, arguments, strict=True)), ctx)


def _inline(
    e: Emitter, op: ir.Operation, block: ir.Block, scalars: dict[ir.Value, ir.Value], ctx: PassContext
) -> list[ir.Value]:
    """Emit ``block``; ``scalars`` has what stands for the values that are known so far, and gets the new ones."""

    def scalar(value: ir.Value) -> ir.Value:
        if not isinstance(value.type, ir.RankedTensorType):
            return scalars.get(value, value)
        if value not in scalars:
            scalars[value] = e.extract(value)
        return scalars[value]

    for inner in (o.operation for o in block.operations):
        if inner.name in _ENDS:
            return [scalar(v) for v in inner.operands]
        if inner.name in ("tensor.extract", "tensor.from_elements") and len(inner.operands) == 1:
            scalars[inner.results[0]] = scalar(inner.operands[0])
            continue
        result = ranked(inner.results[0]) if _is_tensor(inner) else None
        if inner.name in _CONTROL and all(_is_scalar(r.type) for r in inner.results):
            made = _control(e, op, inner, [scalar(v) for v in inner.operands], scalars, ctx)
            scalars.update(zip(inner.results, made, strict=True))
        elif result is None and inner.name.startswith("arith.") and len(inner.results) == 1:
            values = [scalar(v) for v in inner.operands]
            attributes = {name: inner.attributes[name] for name in inner.attributes}
            scalars[inner.results[0]] = e.one(inner.name, values, inner.results[0].type, attributes)
        elif result is not None and result.rank == 0 and inner.name == "stablehlo.constant":
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
                [(op, "only elementwise ops on rank-0 tensors, constants and control flow are supported there")],
            )
    raise AssertionError("a region without terminator does not verify")


def _is_tensor(op: ir.Operation) -> bool:
    return len(op.results) > 0 and isinstance(op.results[0].type, ir.RankedTensorType)


def _is_scalar(type_: ir.Type) -> bool:
    return not isinstance(type_, ir.RankedTensorType) or ranked(type_).rank == 0


def _plain(type_: ir.Type) -> ir.Type:
    return ranked(type_).element_type if isinstance(type_, ir.RankedTensorType) else type_


def _control(
    e: Emitter,
    op: ir.Operation,
    inner: ir.Operation,
    operands: list[ir.Value],
    scalars: dict[ir.Value, ir.Value],
    ctx: PassContext,
) -> list[ir.Value]:
    """An ``scf.if``, ``index_switch`` or ``while`` on rank-0 tensors as one on scalars."""
    attributes = {name: inner.attributes[name] for name in inner.attributes}
    types = [_plain(r.type) for r in inner.results]
    made = e.op(inner.name, operands, types, attributes, regions=len(inner.regions))
    for source, target in zip(inner.regions, made.regions, strict=True):
        block = source.blocks[0]
        kinds = [_plain(a.type) for a in block.arguments]
        new = target.blocks.append(*kinds, arg_locs=[e.loc] * len(kinds))
        inside = e.at_end(new)
        known = {**scalars, **dict(zip(block.arguments, new.arguments, strict=True))}
        values = _inline(inside, op, block, known, ctx)
        end = list(block.operations)[-1].operation.name
        inside.op(end, values, [])
    return list(made.results)


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
