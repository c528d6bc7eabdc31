"""kc-fold-float-constants: narrowing of a scalar constant done at compile time."""
from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import arith, ir
from kc.pass_base import Pass, PassContext
from kc.rewrite import replace_op, walk_ops


@dataclasses.dataclass(frozen=True)
class FoldFloatConstants(Pass):
    """Fold ``arith.truncf`` of a scalar constant, rounded to nearest even.

    MLIR folds it only when nothing is lost. PyTorch's scalars arrive as f64 constants that are narrowed inside every
    body that uses them; left there, they would put f64 arithmetic into f32 kernels.

    Before::

        %eps = arith.constant 1.000000e-05 : f64
        %0 = arith.truncf %eps : f64 to f32

    After::

        %0 = arith.constant 9.99999974E-6 : f32
    """

    name: ClassVar[str] = "kc-fold-float-constants"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("arith",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for narrowing in walk_ops(op, ["arith.truncf"]):
            source = narrowing.operands[0].owner
            result_type = narrowing.results[0].type
            if isinstance(source, ir.Block) or source.name != "arith.constant":
                continue
            narrow = isinstance(result_type, (ir.F32Type, ir.F16Type, ir.BF16Type))
            if not narrow or "roundingmode" in narrowing.attributes:
                continue
            value = ir.FloatAttr(source.attributes["value"]).value
            # FloatAttr rounds a double to the type's nearest value, ties to even: one rounding, as truncf from f64 has.
            with ir.InsertionPoint(narrowing), narrowing.location:
                folded = arith.constant(result_type, ir.FloatAttr.get(result_type, value))
            replace_op(narrowing, [folded])

