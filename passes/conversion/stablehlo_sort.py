"""``kc-convert-stablehlo-sort``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._attrs import integer
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._emit import Emitter, ranked
from kc.passes.conversion._merge_sort import merge_sort
from kc.passes.conversion._region import inline_scalars


@dataclasses.dataclass(frozen=True)
class ConvertStablehloSort(StablehloConversion):
    """``sort`` to a stable bottom-up merge sort: rounds of a parallel ``linalg.generic`` (``_merge_sort``). After::

        %s:2 = scf.while (%run = %c1, %t = %x) { condition %run < %n } do {
          %m = linalg.generic { search along the merge path, tensor.extract %t } outs(%empty)
          scf.yield 2 * %run, %m
        }
    """

    name: ClassVar[str] = "kc-convert-stablehlo-sort"
    converts: ClassVar[frozenset[str]] = frozenset({"stablehlo.sort"})

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value]:
        operands = list(op.operands)
        rank = ranked(operands[0]).rank
        axis = integer(op, "dimension", rank - 1) % rank if rank else 0

        def before(i: Emitter, first: list[ir.Value], second: list[ir.Value]) -> ir.Value:
            pairs = zip(first, second, strict=True)
            return inline_scalars(i, op, [v for both in pairs for v in both], ctx)[0]

        return merge_sort(e, operands, axis, before)
