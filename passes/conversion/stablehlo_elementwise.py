"""``kc-convert-stablehlo-elementwise``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._complex import UNARY
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._emit import Emitter, Index, element, is_complex, is_int, ranked, shape_of
from kc.passes.conversion._region import inline_scalars
from kc.passes.conversion._scalar import RULES, emit_scalar


@dataclasses.dataclass(frozen=True)
class ConvertStablehloElementwise(StablehloConversion):
    """Elementwise StableHLO to ``linalg.generic``; integer scalars to host ``arith``.

    So are CHLO's ``erf`` and ``erfc``. A function of complex numbers is written out in real arithmetic
    (``_complex.py``), CHLO's hyperbolic and inverse ones too.

    ``%2 = stablehlo.divide %0, %1 : tensor<4xi32>`` becomes a parallel ``linalg.generic`` whose body holds the division
    with its edges defined. A rank-0 op on integers alone (loop counters, indices, predicates) becomes plain ``arith``
    between ``tensor.extract`` and ``tensor.from_elements``: no kernel, and no tensor once those fold.

    ``chlo_only``: convert only CHLO ops that have a form of their own in ``math``, before CHLO is expanded.
    """

    name: ClassVar[str] = "kc-convert-stablehlo-elementwise"
    converts: ClassVar[frozenset[str]] = frozenset(RULES) | {"stablehlo.map"}
    chlo_only: bool = False

    def acts_on(self) -> frozenset[str]:
        return frozenset(n for n in self.converts if n.startswith("chlo.")) if self.chlo_only else self.converts

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value] | None:
        if op.name.startswith("chlo.") and not has_own_form(op.name, element(op.results[0])):
            return None
        operands = list(op.operands)
        result = ranked(op.results[0])
        if op.name == "stablehlo.bitcast_convert" and ranked(operands[0]).rank != result.rank:
            return None
        if (
            result.rank == 0
            and op.name != "stablehlo.map"
            and all(is_int(element(v)) for v in (*operands, *op.results))
        ):
            scalar = emit_scalar(e, op, [e.extract(v) for v in operands], result.element_type)
            return [e.from_elements([scalar], result)]
        return [self._generic(e, op, operands, result, ctx)]

    def _generic(
        self, e: Emitter, op: ir.Operation, operands: list[ir.Value], result: ir.RankedTensorType, ctx: PassContext
    ) -> ir.Value:
        identity = ir.AffineMap.get_identity(result.rank)
        scalar = ir.AffineMap.get(result.rank, 0, [])
        maps = [identity if ranked(v).rank == result.rank else scalar for v in operands]

        def body(inner: Emitter, arguments: list[ir.Value]) -> Sequence[ir.Value]:
            if op.name == "stablehlo.map":
                return inline_scalars(inner, op, arguments[:-1], ctx)
            return [emit_scalar(inner, op, arguments[:-1], result.element_type)]

        init = e.empty(result, result_extents(e, result, operands))
        return e.generic(operands, [init], [*maps, identity], ["parallel"] * result.rank, body)[0]


#: CHLO's functions that are computed directly where they are of complex numbers
_OF_COMPLEX = frozenset(f"chlo.{name}" for name in UNARY)


def has_own_form(name: str, type_: ir.Type) -> bool:
    """Whether the CHLO op ``name`` is converted for elements of ``type_``, before CHLO is expanded to StableHLO."""
    return name in RULES and is_complex(type_) == (name in _OF_COMPLEX)


def result_extents(e: Emitter, result: ir.RankedTensorType, operands: Sequence[ir.Value]) -> list[Index]:
    """The extents of an elementwise result: static ones from the types, others from the first operand of its rank."""
    extents: list[Index] = []
    full = [v for v in operands if ranked(v).rank == result.rank]
    for axis, known in enumerate(shape_of(result)):
        if known is None:
            known = next((s[axis] for v in full if (s := shape_of(v))[axis] is not None), None)
        extents.append(e.dim(full[0], axis) if known is None else known)
    return extents
