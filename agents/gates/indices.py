"""Claims that the indices of a gather or scatter are sorted or unique: whether the IR itself or a fact shows them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kc.agents.contract import Contract
    from kc.bindings import ir


def hold(op: ir.Operation, unique: bool, contract: Contract) -> bool:
    """Whether the indices of ``op`` are ``unique``, or else sorted, for certain."""
    source = _source(op)
    if isinstance(source, int):
        if not contract.grants(f"{'unique' if unique else 'sorted'}(arg{source})"):
            return False
    elif source is None:
        return False
    return not unique or source == "one" or not _windows_overlap(op)


def _source(op: ir.Operation) -> int | str | None:
    """Where the indices come from: an argument of @main by number, ``iota`` (0, 1, 2 … in order), ``one`` (a single
    index vector), or None when it cannot be told."""
    from kc.bindings import ir

    number = 1 if op.name.endswith("gather") else _scatter_indices(op)
    value = op.operands[number]
    shape = ir.RankedTensorType(value.type)
    if shape.has_static_shape and _count(shape, op) <= 1:
        return "one"
    for _ in range(32):
        owner = value.owner
        if isinstance(owner, ir.Block):
            function = owner.owner
            argument = ir.BlockArgument(value).arg_number
            is_main = "sym_name" in function.attributes and str(function.attributes["sym_name"]) == '"main"'
            return argument if is_main else None
        if owner.name == "stablehlo.iota":
            return "iota" if _counts(owner) else None
        if owner.name not in ("stablehlo.reshape", "stablehlo.convert", "stablehlo.optimization_barrier"):
            return None
        if owner.name == "stablehlo.convert" and not _keeps(owner):
            return None
        value = owner.operands[0]
    return None


def _keeps(convert: ir.Operation) -> bool:
    """Whether a conversion of integers keeps values and with them their order."""
    source, result = convert.operands[0], convert.results[0]
    signs = ["xui" in str(value.type) or "<ui" in str(value.type) for value in (source, result)]
    return 0 < _width(source) <= _width(result) and signs[0] == signs[1]


def _counts(iota: ir.Operation) -> bool:
    """Whether the elements of an iota are 0, 1, 2 … in order, each once, and none beyond its type."""
    from kc.bindings import ir

    shape = ir.RankedTensorType(iota.results[0].type).shape
    along = shape[ir.IntegerAttr(iota.attributes["iota_dimension"]).value]
    return math.prod(shape) == along <= 1 << max(0, _width(iota.results[0]) - 1)


def _windows_overlap(op: ir.Operation) -> bool:
    """Whether a scatter with distinct indices may write one element twice: its windows reach along indexed axes."""
    numbers = str(op.attributes["scatter_dimension_numbers"]) if "scatter_dimension_numbers" in op.attributes else ""
    indexed, inserted = (
        set(re.findall(r"\d+", "".join(re.findall(rf"\b{name} = \[([\d, ]*)\]", numbers))))
        for name in ("scatter_dims_to_operand_dims", "inserted_window_dims")
    )
    return not indexed <= inserted


def _width(value: ir.Value) -> int:
    """Bits of the integer elements of a tensor, 0 of others."""
    match = re.search(r"i(\d+)>$", str(value.type))
    return int(match[1]) if match else 0


def _scatter_indices(op: ir.Operation) -> int:
    return (len(op.operands) - 1) // 2


def _count(shape: ir.RankedTensorType, op: ir.Operation) -> int:
    """Number of index vectors."""
    total = 1
    for extent in shape.shape:
        total *= extent
    match = re.search(r"index_vector_dim = (\d+)", str(op))
    axis = int(match[1]) if match else shape.rank
    return total // max(1, shape.shape[axis]) if axis < shape.rank else total
