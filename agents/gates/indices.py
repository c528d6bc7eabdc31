"""Claims that the indices of a gather or scatter are sorted or unique: whether the IR itself or a fact shows them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from kc.agents.execution import literals

if TYPE_CHECKING:
    from kc.agents.contract import Contract
    from kc.bindings import ir

#: elements of tensors that are computed
_MOST_EVALUATED = 1 << 14
_ARITHMETIC = {"stablehlo.add": np.add, "stablehlo.subtract": np.subtract, "stablehlo.multiply": np.multiply}


def hold(op: ir.Operation, unique: bool, contract: Contract) -> bool:
    """Whether the indices of ``op`` are ``unique``, or else sorted, for certain."""
    source = _source(op)
    if source is None:
        values = _evaluated(op.operands[_indices(op)])
        shape = _shape(op)
        if values is None or _count(shape, op) != values.size:
            return False
        flat = values.reshape(-1)
        holds = np.unique(flat).size == flat.size if unique else bool((flat[1:] >= flat[:-1]).all())
        return holds and not (unique and _windows_overlap(op))
    if source == "permutation" and not unique:
        return False
    if isinstance(source, int) and not contract.grants(f"{'unique' if unique else 'sorted'}(arg{source})"):
        return False
    return not unique or source == "one" or not _windows_overlap(op)


def _source(op: ir.Operation) -> int | str | None:
    """Where the indices come from: an argument of @main by number, ``iota`` (0, 1, 2 … in order), ``permutation``
    (those as a sort left them), ``one`` (a single index vector), or None when it cannot be told."""
    from kc.bindings import ir

    value = op.operands[_indices(op)]
    shape = _shape(op)
    sorted_ = False
    if shape.has_static_shape and _count(shape, op) <= 1:
        return "one"
    for _ in range(32):
        owner = value.owner
        if isinstance(owner, ir.Block):
            return None if sorted_ else _argument_of_main(value)
        if owner.name == "stablehlo.iota":
            return None if not _counts(owner) else "permutation" if sorted_ else "iota"
        if owner.name == "stablehlo.sort" and ir.RankedTensorType(value.type).rank == 1:
            value, sorted_ = owner.operands[ir.OpResult(value).result_number], True
            continue
        if owner.name not in ("stablehlo.reshape", "stablehlo.convert", "stablehlo.optimization_barrier"):
            return None
        if owner.name == "stablehlo.convert" and not _keeps(owner):
            return None
        value = owner.operands[0]
    return None


def _argument_of_main(value: ir.Value) -> int | None:
    """Which argument of @main a block argument is."""
    from kc.bindings import ir

    function = value.owner.owner
    is_main = "sym_name" in function.attributes and str(function.attributes["sym_name"]) == '"main"'
    return ir.BlockArgument(value).arg_number if is_main else None


def is_distinct(value: ir.Value, axis: int, contract: Contract) -> bool:
    """Whether no two elements along an axis of a tensor are equal, for certain."""
    from kc.bindings import ir

    owner = value.owner
    if isinstance(owner, ir.Block):
        number = _argument_of_main(value)
        return number is not None and contract.grants(f"unique(arg{number})")
    if owner.name != "stablehlo.iota" or ir.IntegerAttr(owner.attributes["iota_dimension"]).value != axis:
        return False
    return bool(ir.RankedTensorType(value.type).shape[axis] <= 1 << max(0, _width(value) - 1))


def _evaluated(value: ir.Value, depth: int = 0) -> np.ndarray[Any, Any] | None:
    """The integers of a tensor that hangs on no argument, where it is made of a few ops."""
    from kc.bindings import ir

    kind = ir.RankedTensorType(value.type)
    owner = value.owner
    if isinstance(owner, ir.Block) or not kind.has_static_shape or math.prod(kind.shape) > _MOST_EVALUATED:
        return None
    if not 8 <= _width(value) <= 64 or depth > 16:
        return None
    if owner.name == "stablehlo.constant":
        text = str(owner.attributes["value"])
        try:
            return literals.read(text) if len(text) <= 32 * _MOST_EVALUATED else None
        except ValueError:
            return None
    dtype = np.dtype(f"{'u' if 'ui' in str(kind.element_type) else ''}int{_width(value)}")
    if owner.name == "stablehlo.iota":
        axis = ir.IntegerAttr(owner.attributes["iota_dimension"]).value
        along = np.arange(kind.shape[axis]).astype(dtype)
        return np.broadcast_to(along.reshape([-1 if d == axis else 1 for d in range(kind.rank)]), kind.shape)
    given = [made for operand in owner.operands if (made := _evaluated(operand, depth + 1)) is not None]
    if not given or len(given) < len(owner.operands):
        return None
    if owner.name == "stablehlo.reshape":
        return given[0].reshape(kind.shape)
    if owner.name == "stablehlo.broadcast_in_dim" and given[0].size == 1:
        return np.broadcast_to(given[0].reshape(()), kind.shape)
    if owner.name in _ARITHMETIC:
        with np.errstate(all="ignore"):
            return _ARITHMETIC[owner.name](given[0], given[1])
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


def _indices(op: ir.Operation) -> int:
    """Number of the operand that holds the indices."""
    return 1 if op.name.endswith("gather") else (len(op.operands) - 1) // 2


def _shape(op: ir.Operation) -> ir.RankedTensorType:
    from kc.bindings import ir

    return ir.RankedTensorType(op.operands[_indices(op)].type)


def _count(shape: ir.RankedTensorType, op: ir.Operation) -> int:
    """Number of index vectors."""
    total = 1
    for extent in shape.shape:
        total *= extent
    match = re.search(r"index_vector_dim = (\d+)", str(op))
    axis = int(match[1]) if match else shape.rank
    return total // max(1, shape.shape[axis]) if axis < shape.rank else total
