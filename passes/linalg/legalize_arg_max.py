"""kc-legalize-arg-max: the position of a maximum or minimum, with NaN counted as the largest."""
from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import arith, ir
from kc.pass_base import Pass, PassContext
from kc.rewrite import replace_op, walk_ops

_PREDICATES = {
    "arith.maximumf": (arith.CmpFPredicate.OGT, arith.CmpFPredicate.UGT),
    "arith.minimumf": (arith.CmpFPredicate.OLT, arith.CmpFPredicate.ULT),
}


@dataclasses.dataclass(frozen=True)
class LegalizeArgMax(Pass):
    """Let the index of a max or min reduction follow its value when that is NaN.

    torch-mlir reduces value and index side by side: the value by ``maximumf``, which keeps NaN, the index by an
    ordered comparison, which never takes a NaN's place. PyTorch returns the place of the first NaN, and so does this
    pass: a new element is taken when it is larger or NaN, unless the best one so far is NaN already.

    Before::

        %m = arith.maximumf %in, %best : f32
        %c = arith.cmpf ogt, %in, %best : f32
        %i = arith.select %c, %here, %where : i64

    After::

        %m = arith.maximumf %in, %best : f32
        %larger = arith.cmpf ugt, %in, %best : f32
        %number = arith.cmpf ord, %best, %best : f32
        %c = arith.andi %larger, %number : i1
        %i = arith.select %c, %here, %where : i64
    """

    name: ClassVar[str] = "kc-legalize-arg-max"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("arith",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for generic in walk_ops(op, ["linalg.generic"]):
            for extreme in walk_ops(generic, list(_PREDICATES)):
                element, best = extreme.operands
                ordered, unordered = _PREDICATES[extreme.name]
                for comparison in walk_ops(generic, ["arith.cmpf"]):
                    predicate = ir.IntegerAttr(comparison.attributes["predicate"]).value
                    if predicate != ordered.value or list(comparison.operands) != [element, best]:
                        continue
                    with ir.InsertionPoint(comparison), comparison.location:
                        larger = arith.cmpf(unordered, element, best)
                        number = arith.cmpf(arith.CmpFPredicate.ORD, best, best)
                        both = arith.andi(larger, number)
                    replace_op(comparison, [both])
