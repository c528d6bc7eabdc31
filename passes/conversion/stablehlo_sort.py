"""``kc-convert-stablehlo-sort``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._attrs import integer
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._emit import Emitter, element, ranked
from kc.passes.conversion._merge_sort import merge_sort
from kc.passes.conversion._region import inline_scalars


@dataclasses.dataclass(frozen=True)
class ConvertStablehloSort(StablehloConversion):
    """``sort`` to a stable bottom-up merge sort: chunks are sorted in place, rounds merge runs (``_merge_sort``)::

        %c = scf.for %chunk .. { scf.for .. { neighbours of a chunk change places } } {kc.independent}
        %s = scf.for %round .. iter_args(%t = %c) {
          %m = scf.for %chunk .. iter_args(%o = %empty) { search along the merge path, merge } {kc.independent}
          scf.yield %m
        }

    A comparator that only compares two floats with LT or GT is no order among NaN; NaN then come last, so that nothing
    is lost. (Any other comparator that is no strict weak order gives elements of the operand, which ones is not said;
    StableHLO leaves that to the implementation.)
    """

    name: ClassVar[str] = "kc-convert-stablehlo-sort"
    converts: ClassVar[frozenset[str]] = frozenset({"stablehlo.sort"})

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value]:
        operands = list(op.operands)
        rank = ranked(operands[0]).rank
        axis = integer(op, "dimension", rank - 1) % rank if rank else 0

        key = _float_key(op)

        def before(i: Emitter, first: list[ir.Value], second: list[ir.Value]) -> ir.Value:
            pairs = zip(first, second, strict=True)
            less = inline_scalars(i, op, [v for both in pairs for v in both], ctx)[0]
            return less if key is None else i.bin("arith.ori", less, _only_second_is_nan(i, first[key], second[key]))

        return merge_sort(e, operands, axis, before)


def _float_key(op: ir.Operation) -> int | None:
    """Number of the operand by which the comparator of a sort compares with a float's LT or GT, if that is all."""
    block = op.regions[0].blocks[0]
    inner = [o.operation for o in block.operations]
    if len(inner) != 2 or inner[0].name != "stablehlo.compare" or list(inner[1].operands) != [inner[0].results[0]]:
        return None
    total = "compare_type" in inner[0].attributes and "TOTALORDER" in str(inner[0].attributes["compare_type"])
    ordered = any(word in str(inner[0].attributes["comparison_direction"]) for word in ("LT", "GT"))
    operands, arguments = list(inner[0].operands), list(block.arguments)
    if total or not ordered or not isinstance(element(operands[0]), ir.FloatType):
        return None
    return next((k for k in range(len(arguments) // 2) if operands == arguments[2 * k : 2 * k + 2]), None)


def _only_second_is_nan(e: Emitter, first: ir.Value, second: ir.Value) -> ir.Value:
    return e.bin("arith.andi", e.cmpf("ord", first, first), e.cmpf("uno", second, second))
