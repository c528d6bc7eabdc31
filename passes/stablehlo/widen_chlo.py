"""``kc-widen-chlo``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.stablehlo._build import Builder
from kc.rewrite import replace_op, walk_ops

#: functions that become several StableHLO ops, or compare with a number that a narrow type may not have
_FUNCTIONS = tuple(
    f"chlo.{n}"
    for n in (
        "_asin_acos_kernel", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i1e", "broadcast_polygamma",
        "broadcast_zeta", "cosh", "digamma", "erf", "erf_inv", "erfc", "is_inf", "is_neg_inf", "is_pos_inf", "lgamma",
        "polygamma", "sinh", "tan", "zeta",
    )
)  # fmt: skip

#: functions whose expansion loses many digits of f32: beside their zeros, or by the terms of a series that cancel
_OF_SERIES = frozenset(
    f"chlo.{n}"
    for n in (
        "bessel_i1e", "broadcast_polygamma", "broadcast_zeta", "digamma", "erf_inv", "lgamma", "polygamma", "zeta",
    )
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class WidenChlo(Pass):
    """CHLO's functions of narrow floats (f16, bf16 and below) are computed in f32 and rounded once.

    CHLO writes a function out in StableHLO ops of its operand's type; in a narrow one each of them would round, and
    what lies between may overflow. Those that are sums of series (``lgamma``, ``zeta`` ...) lose digits by
    cancellation, and are computed in f64 where they are of f32. Before / after::

        %0 = chlo.asinh %x : tensor<4xbf16> -> tensor<4xbf16>

        %w = stablehlo.convert %x : (tensor<4xbf16>) -> tensor<4xf32>
        %f = chlo.asinh %w : tensor<4xf32> -> tensor<4xf32>
        %0 = stablehlo.convert %f : (tensor<4xf32>) -> tensor<4xbf16>
    """

    name: ClassVar[str] = "kc-widen-chlo"
    level: ClassVar[str] = "stablehlo"
    dialects: ClassVar[tuple[str, ...]] = ("chlo", "stablehlo")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for found in walk_ops(op, _FUNCTIONS):
            if not isinstance(found.results[0].type, ir.RankedTensorType):
                continue
            element, result = Builder.element(found.operands[0]), Builder.element(found.results[0])
            width = ir.FloatType(element).width if isinstance(element, ir.FloatType) else 64
            if width > 32 or (width == 32 and found.name not in _OF_SERIES):
                continue
            b, more = Builder(found), ir.F64Type.get() if width == 32 else ir.F32Type.get()
            wide = b.make(
                found.name,
                [b.convert(v, more) for v in found.operands],
                b.like(found.results[0], more if result == element else result),
                {name: found.attributes[name] for name in found.attributes},
            )
            replace_op(found, [b.convert(wide, result)])
