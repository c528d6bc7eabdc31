"""``kc-gpu-math-intrinsics``: the mathematical ops that the hardware has, as LLVM intrinsics."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.gpu import _fmod
from kc.passes.gpu._launch import Arith

# op -> intrinsic; NVPTX selects all of them for f32 and f64 without a library
_FLOAT = {
    "math.absf": "fabs",
    "math.ceil": "ceil",
    "math.copysign": "copysign",
    "math.floor": "floor",
    "math.fma": "fma",
    "math.round": "round",
    "math.roundeven": "roundeven",
    "math.sqrt": "sqrt",
    "math.trunc": "trunc",
    "arith.maxnumf": "maxnum",
    "arith.minnumf": "minnum",
    "arith.maximumf": "maximum",
    "arith.minimumf": "minimum",
}
# with the constant that follows the operand: ctlz and cttz of zero are the width, abs of the smallest integer is itself
_INTEGER = {"math.ctlz": "ctlz", "math.cttz": "cttz", "math.ctpop": "ctpop", "math.absi": "abs"}
_TESTS = ("math.isnan", "math.isinf", "math.isfinite", "math.isnormal", "math.clampf")


@dataclasses.dataclass(frozen=True)
class GpuMathIntrinsics(Pass):
    """Writes ``math`` ops (and ``arith.maxnumf``, ``arith.remf`` ...) of device code as ``llvm.call_intrinsic`` and
    arithmetic.

    ``convert-gpu-to-nvvm`` turns these ops into calls of libdevice, even ``math.absf``, and refuses the ``llvm.intr``
    ops for them; an intrinsic called by name it leaves alone. Half types are computed in f32, which is exact for all
    of these but ``fma`` and ``sqrt``, and rounds those once more. ``arith.remf`` becomes exact integer arithmetic on
    the bits: LLVM's own expansion for this target is wrong when the quotient does not fit the mantissa.

    Transcendental functions must be gone: run ``kc-expand-math{target=nvptx}`` first. ::

        %y = math.sqrt %x : f32
        // becomes
        %y = llvm.call_intrinsic "llvm.sqrt.f32"(%x) : (f32) -> f32
    """

    name: ClassVar[str] = "kc-gpu-math-intrinsics"
    anchor: ClassVar[str] = "any"
    level: ClassVar[str] = "gpu"

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        found: list[Any] = []

        def visit(inner: Any) -> ir.WalkResult:
            if inner.name in _FLOAT or inner.name in _INTEGER or inner.name in _TESTS or inner.name == "arith.remf":
                found.append(inner.operation)
            elif inner.name.startswith("math."):
                ctx.error(
                    inner,
                    f"'{inner.name}' has no GPU instruction: run kc-expand-math{{target=nvptx}} before {self.name}",
                )
            return ir.WalkResult.ADVANCE

        op.walk(visit)
        for inner in found:
            with ir.InsertionPoint(inner):
                self._replace(inner, ctx)

    def _replace(self, op: Any, ctx: PassContext) -> None:
        a = Arith(op.location)
        kind = op.results[0].type
        operands = list(op.operands)
        element = operands[0].type
        if isinstance(element, ir.VectorType):
            if op.name in _TESTS or op.name == "arith.remf":
                ctx.error(op, f"'{op.name}' on vectors has no GPU form; write it on scalars")
            element = element.element_type
        half = isinstance(element, (ir.F16Type, ir.BF16Type))
        if half:
            wide = _like(operands[0].type, ir.F32Type.get())
            operands = [a.op("arith.extf", [v], [wide]) for v in operands]
        result = self._value(a, op, operands)
        if half and result.type != kind:
            result = a.op("arith.truncf", [result], [kind])
        op.results[0].replace_all_uses_with(result)
        op.erase()

    def _value(self, a: Arith, op: Any, operands: Sequence[Any]) -> Any:
        if op.name in _FLOAT:
            return a.intrinsic(_FLOAT[op.name], operands)
        if op.name in _INTEGER:
            flag = [] if op.name == "math.ctpop" else [a.constant(False, ir.IntegerType.get_signless(1))]
            return a.intrinsic(_INTEGER[op.name], [*operands, *flag])
        if op.name == "arith.remf":
            return _fmod.expand(a, *operands)
        if op.name == "math.clampf":
            low = a.intrinsic("maximum", operands[:2])
            return a.intrinsic("minimum", [low, operands[2]])
        x = operands[0]
        if op.name == "math.isnan":
            return _compare(a, "uno", x, x)
        size = a.intrinsic("fabs", [x])
        infinity = a.constant(float("inf"), x.type)
        if op.name == "math.isinf":
            return _compare(a, "oeq", size, infinity)
        finite = _compare(a, "olt", size, infinity)
        if op.name == "math.isfinite":
            return finite
        smallest = a.constant(2.0**-1022 if isinstance(x.type, ir.F64Type) else 2.0**-126, x.type)
        return a.op("arith.andi", [finite, _compare(a, "oge", size, smallest)], [finite.type])


def _like(kind: Any, element: Any) -> Any:
    """``element``, or the vector of it that has the shape of ``kind``."""
    return ir.VectorType.get(list(kind.shape), element) if isinstance(kind, ir.VectorType) else element


def _compare(a: Arith, predicate: str, x: Any, y: Any) -> Any:
    code = {"oeq": 1, "oge": 3, "olt": 4, "uno": 14}[predicate]
    attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), code)
    return a.op("arith.cmpf", [x, y], [ir.IntegerType.get_signless(1)], {"predicate": attribute})
