"""kc-legalize-half-casts: conversions to f16 and bf16 that round once, by way of f32."""
from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.conversion._emit import Emitter, width
from kc.passes.conversion._scalar import convert
from kc.rewrite import replace_op, walk_ops

#: bits of an integer whose values f16 and bf16 hold all
_EXACT_BITS = 8


@dataclasses.dataclass(frozen=True)
class LegalizeHalfCasts(Pass):
    """Write out how an integer or an f64 becomes f16 or bf16, so that only ``arith.truncf`` from f32 is left to round.

    What comes after computes the arithmetic of half types in f32 and rounds where a value is stored or ``arith.truncf``
    stands: a conversion straight to a half type would not round in between, and by way of f32 it would round twice.
    Integers of up to 8 bits are left alone, since they are exact. Before::

        %0 = arith.truncf %x : f64 to bf16

    After, with ``odd`` the f32 next to ``%x`` towards zero, its last bit set unless it is exact::

        %0 = arith.truncf %odd : f32 to bf16

    So a conversion is what ``arith`` says. PyTorch on its own converts f64 and wide integers to f32 first, and then
    differs in the last digit for one number in some thousand.
    """

    name: ClassVar[str] = "kc-legalize-half-casts"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "math")

    def acts_on(self) -> frozenset[str]:
        return frozenset({"arith.sitofp", "arith.uitofp", "arith.truncf"})

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for cast in walk_ops(op, self.acts_on()):
            source, result = cast.operands[0].type, cast.results[0].type
            if not isinstance(result, (ir.F16Type, ir.BF16Type)) or "roundingmode" in cast.attributes:
                continue
            if isinstance(source, ir.F64Type):
                replace_op(cast, [Emitter.before(cast).to_float(cast.operands[0], result)])
            elif isinstance(source, ir.IntegerType) and width(source) > _EXACT_BITS:
                unsigned = cast.name == "arith.uitofp"
                replace_op(cast, [convert(Emitter.before(cast), cast.operands[0], result, from_unsigned=unsigned)])
