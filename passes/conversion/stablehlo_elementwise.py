"""``kc-convert-stablehlo-elementwise``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._complex import SIDES, with_sides
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._emit import Emitter, Index, element, is_complex, is_int, ranked, shape_of
from kc.passes.conversion._region import inline_scalars
from kc.passes.conversion._scalar import RULES, emit_scalar


@dataclasses.dataclass(frozen=True)
class ConvertStablehloElementwise(StablehloConversion):
    """Elementwise StableHLO to ``linalg.generic``; integer scalars to host ``arith``.

    So are CHLO's ``erf`` and ``erfc``. A function of complex numbers is written out in real arithmetic
    (``_complex.py``); CHLO's inverse functions keep to the side of a branch cut that the sign of a zero tells.

    ``%2 = stablehlo.divide %0, %1 : tensor<4xi32>`` becomes a parallel ``linalg.generic`` whose body holds the division
    with its edges defined. A rank-0 op on integers alone (loop counters, indices, predicates) becomes plain ``arith``
    between ``tensor.extract`` and ``tensor.from_elements``: no kernel, and no tensor once those fold.

    ``chlo_only``: convert only CHLO ops that have a form of their own in ``math``, before CHLO is expanded.
    """

    name: ClassVar[str] = "kc-convert-stablehlo-elementwise"
    converts: ClassVar[frozenset[str]] = frozenset(RULES) | {"stablehlo.map"} | {f"chlo.{name}" for name in SIDES}
    chlo_only: bool = False

    def acts_on(self) -> frozenset[str]:
        return frozenset(n for n in self.converts if n.startswith("chlo.")) if self.chlo_only else self.converts

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value] | None:
        if op.name.startswith("chlo.") and not has_own_form(op.name, element(op.results[0])):
            return self._on_a_side(e, op)
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

    @staticmethod
    def _on_a_side(e: Emitter, op: ir.Operation) -> Sequence[ir.Value] | None:
        """An inverse function of complex numbers, which CHLO's expansion computes, with zeros that keep their signs."""
        name, type_ = op.name.removeprefix("chlo."), op.results[0].type
        if name not in SIDES or not is_complex(element(type_)) or _DONE in op.attributes:
            return None
        (z,) = op.operands
        value = e.one(op.name, [z], type_, {_DONE: ir.UnitAttr.get()})
        maps = [ir.AffineMap.get_identity(ranked(type_).rank)] * 3
        init = e.empty(type_, result_extents(e, ranked(type_), [z]))
        parallel = ["parallel"] * ranked(type_).rank
        return e.generic([z, value], [init], maps, parallel, lambda i, a: [with_sides(i, name, a[0], a[1])])

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


#: on a CHLO op whose value is put right by what follows
_DONE = "kc.sides"
#: CHLO's functions that are computed directly where they are of complex numbers
_OF_COMPLEX = frozenset({"chlo.cosh", "chlo.sinh", "chlo.tan"})


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
