"""Sorts that need no stability: whether a comparator tells each two elements apart."""

from __future__ import annotations

import itertools
import math
import re
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kc.agents.gates.indices import is_distinct
from kc.agents.gates.traits import element, is_float_name

if TYPE_CHECKING:
    from kc.agents.contract import Contract
    from kc.bindings import ir

#: operands of a sort; each has up to eight pairs of values that are tried with those of the others
_MOST = 4
#: pairs that stand in each relation that two numbers can have; of floats two more and zeros of both signs
_INTEGERS = ((0, 1), (1, 0), (0, 0))
_FLOATS = ((math.nan, 0.0), (0.0, math.nan), (math.nan, math.nan), (0.0, -0.0), (-0.0, 0.0))
#: those that remain where no two elements are equal
_APART = ((0, 1), (1, 0), (math.nan, 0.0), (0.0, math.nan))
_DIRECTIONS: dict[str, Callable[[Any, Any], bool]] = {
    "EQ": lambda a, b: a == b, "NE": lambda a, b: a != b, "LT": lambda a, b: a < b, "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b, "GE": lambda a, b: a >= b,
}  # fmt: skip
_LOGIC: dict[str, Callable[..., bool]] = {
    "stablehlo.and": lambda a, b: a and b, "stablehlo.or": lambda a, b: a or b, "stablehlo.xor": lambda a, b: a != b,
    "stablehlo.not": lambda a: not a, "stablehlo.select": lambda a, b, c: b if a else c,
}  # fmt: skip


def are_decided(op: ir.Operation, contract: Contract) -> bool:
    """Whether of each two elements that a sort may compare exactly one comes first, for certain.

    Some operand then has no two equal elements, and the comparator falls back on it. Comparators of comparisons and
    logic alone are looked at: their answer hangs on nothing but how the two elements of each operand are related, and
    all ways are tried.
    """
    from kc.bindings import ir

    axis = ir.IntegerAttr(op.attributes["dimension"]).value if "dimension" in op.attributes else -1
    if axis < 0:
        axis += ir.RankedTensorType(op.operands[0].type).rank
    distinct = [is_distinct(value, axis, contract) for value in op.operands]
    if not any(distinct) or len(distinct) > _MOST:
        return False
    pairs = [_pairs(value, apart) for value, apart in zip(op.operands, distinct, strict=True)]
    block = op.regions[0].blocks[0]
    for chosen in itertools.product(*pairs):
        one, other = (_answer(block, values) for values in (chosen, [pair[::-1] for pair in chosen]))
        if one is None or one == other:
            return False
    return True


def _pairs(value: ir.Value, apart: bool) -> list[tuple[float, float]]:
    """Values of two elements of an operand in each relation that they can have."""
    floats = is_float_name(element(value.type))
    if apart:
        return list(_APART if floats else _APART[:2])
    return [*_INTEGERS, *(_FLOATS if floats else ())]


def _answer(block: ir.Block, chosen: Any) -> bool | None:
    """What the comparator says of two elements; None where it has other ops."""
    known: dict[Any, Any] = {}
    for number, argument in enumerate(block.arguments):
        known[argument] = (number // 2, chosen[number // 2][number % 2])
    for op in (each.operation for each in block.operations):
        operands = list(op.operands)
        if op.name == "stablehlo.return":
            answer = known.get(operands[0])
            return answer if isinstance(answer, bool) else None
        given = [known.get(operand) for operand in operands]
        made = _compared(op, given) if op.name == "stablehlo.compare" else _combined(op, given)
        if made is None:
            return None
        known[op.results[0]] = made
    return None


def _compared(op: ir.Operation, given: list[Any]) -> bool | None:
    """Of the two elements of one operand."""
    if not all(isinstance(each, tuple) for each in given) or given[0][0] != given[1][0]:
        return None
    values = [value for _, value in given]
    if "compare_type" in op.attributes and "TOTALORDER" in str(op.attributes["compare_type"]):
        values = [_place(value) for value in values]
    match = re.search(r"\b(EQ|NE|LT|LE|GT|GE)\b", str(op.attributes["comparison_direction"]))
    return bool(_DIRECTIONS[match[1]](*values)) if match else None


def _combined(op: ir.Operation, given: list[Any]) -> bool | None:
    if op.name not in _LOGIC or not all(isinstance(each, bool) for each in given):
        return None
    return bool(_LOGIC[op.name](*given))


def _place(value: float) -> int:
    """Of a float in the total order of IEEE 754-2019, 5.10."""
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(bits) if bits >= 0 else -(int(bits) & (1 << 63) - 1) - 1
