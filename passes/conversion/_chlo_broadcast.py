"""``chlo.broadcast_*`` on operands whose sizes are only known at run time.

Upstream's ``chlo-legalize-to-stablehlo`` goes through the ``shape`` dialect for these; here the result's sizes are
StableHLO arithmetic, which ``kc-check-shapes`` checks and ``kc-convert-stablehlo-dynamic-shapes`` reads.
"""

from __future__ import annotations

from kc.bindings import ir
from kc.passes.conversion._attrs import ints
from kc.passes.conversion._checks import ORIGIN
from kc.passes.conversion._emit import element, shape_of, tensor_type
from kc.passes.stablehlo._sizes import Sizes
from kc.rewrite import replace_op

_CHLO = ("next_after", "polygamma", "zeta")


def expand(op: ir.Operation) -> None:
    """Replace ``op`` (``chlo.broadcast_<f>``) by ``f`` of its operands, each broadcast to the common shape."""
    name = op.name.removeprefix("chlo.broadcast_")
    operands = list(op.operands)
    rank = max(len(shape_of(v)) for v in operands)
    sizes = Sizes(op)
    shape: list[ir.Value] = []
    known: list[int | None] = []
    places = [_places(op, v, rank) for v in operands]
    for axis in range(rank):
        columns = [(v, p.index(axis)) for v, p in zip(operands, places, strict=True) if axis in p]
        static = [n for v, a in columns if (n := shape_of(v)[a]) not in (None, 1)]
        if static or all(shape_of(v)[a] == 1 for v, a in columns):
            known.append(static[0] if static else 1)
            shape.append(sizes.constant([known[-1] or 0]))
            continue
        known.append(None)
        total, *others = [sizes.size(v, a) for v, a in columns if shape_of(v)[a] != 1]
        for other in others:
            total = sizes.unless_one(total, other)
        shape.append(total)
    target = sizes.join(shape)
    full = [_spread(op, v, target, p, known) for v, p in zip(operands, places, strict=True)]
    dialect = "chlo" if name in _CHLO else "stablehlo"
    kept = {
        key: ir.Attribute.parse(str(op.attributes[key]).replace("#chlo<", "#stablehlo<"))
        for key in op.attributes
        if key != "broadcast_dimensions"
    }
    made = _make(op, f"{dialect}.{name}", full, tensor_type(known, element(op.results[0])), kept)
    if made.type != op.results[0].type:
        made = _make(op, "tensor.cast", [made], op.results[0].type, {})
    replace_op(op, [made])


def _places(op: ir.Operation, value: ir.Value, rank: int) -> list[int]:
    """The result's axis for each axis of an operand: as the op says for the one of smaller rank, else the last ones."""
    own = len(shape_of(value))
    if own < rank and "broadcast_dimensions" in op.attributes:
        return ints(op, "broadcast_dimensions")
    return list(range(rank - own, rank))


def _spread(
    op: ir.Operation, value: ir.Value, shape: ir.Value, places: list[int], known: list[int | None]
) -> ir.Value:
    dims = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get(places)}
    type_ = tensor_type(known, element(value))
    return _make(op, "stablehlo.dynamic_broadcast_in_dim", [value, shape], type_, dims)


def _make(
    op: ir.Operation, name: str, operands: list[ir.Value], type_: ir.Type, attributes: dict[str, ir.Attribute]
) -> ir.Value:
    if name == "stablehlo.dynamic_broadcast_in_dim":
        attributes = {**attributes, ORIGIN: ir.StringAttr.get(op.name)}
    return ir.Operation.create(
        name, results=[type_], operands=operands, attributes=attributes, loc=op.location, ip=ir.InsertionPoint(op)
    ).result
