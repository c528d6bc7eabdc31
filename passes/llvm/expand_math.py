"""``kc-expand-math``: mathematical functions become arithmetic."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from kc.bindings import ir
from kc.builder.expr import HALF, Ops
from kc.builder.num import Num, Scope
from kc.pass_base import Pass, PassContext

if TYPE_CHECKING:
    from kc.builder.vmath import Function

#: ops that every back end has as an instruction or expands itself
KEPT = frozenset({
    "math.absf", "math.absi", "math.ceil", "math.clampf", "math.copysign", "math.ctlz", "math.ctpop", "math.cttz",
    "math.floor", "math.fma", "math.isfinite", "math.isinf", "math.isnan", "math.isnormal", "math.round",
    "math.roundeven", "math.sqrt", "math.trunc",
})


@dataclasses.dataclass(frozen=True)
class ExpandMath(Pass):
    """Expand every transcendental ``math`` op into ``arith`` ops (and ``scf.if`` for a rarely taken path).

    No libm and no libdevice is needed afterwards, vectors stay vectors, and each function has a stated error bound
    (the docstrings of ``kc.builder.vmath``). f16 and bf16 are computed in f32. Ops with a machine instruction or an
    LLVM intrinsic that every back end expands (``math.sqrt``, ``math.floor``, ``math.fma`` ...) stay. On the CPU
    ``math.powf`` of f64 stays too, for libm's fuller accuracy.

    Before::

        %y = math.tanh %x : vector<8xf32>

    After: ``arith`` ops and ``math.fma`` on ``vector<8xf32>``.

    A ``math.exp`` marked ``{kc.nonpositive}`` has arguments of at most 0 (a softmax after its maximum is taken off),
    for which a cheaper form serves.

    ``fma=false``: the target has no fused multiply-add; polynomials then use a multiplication and an addition
    (error terms that need fusing still say ``math.fma``).
    """

    name: ClassVar[str] = "kc-expand-math"
    anchor: ClassVar[str] = "any"
    level: ClassVar[str] = "llvm"
    dialects: ClassVar[tuple[str, ...] | None] = ("arith", "math", "scf", "vector")
    target: Literal["cpu", "nvptx"] = "cpu"
    fma: bool = True

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        found: list[ir.Operation] = []

        def collect(inner: ir.Operation) -> ir.WalkResult:
            if inner.name.startswith("math.") and inner.name not in KEPT:
                found.append(inner.operation)
            return ir.WalkResult.ADVANCE

        op.operation.walk(collect)
        for inner in found:
            self._expand(inner, ctx)

    def _expand(self, op: ir.Operation, ctx: PassContext) -> None:
        from kc.builder.vmath import FUNCTIONS, exp_nonpositive, fpowi, ipowi

        ops = Ops(op.location, self.fma)
        element = _element(op.results[0].type)
        with ir.InsertionPoint(op):
            scope = Scope(ops, op.operands[0])
            if op.name == "math.ipowi":
                results = [ipowi(scope, *(Num(scope, value, element) for value in op.operands))]
            elif op.name in FUNCTIONS or op.name in ("math.fpowi", "math.sincos"):
                if element not in ("f64", "f32", *HALF):
                    ctx.error(op, f"{op.name} of element type {element} cannot be expanded; "
                                  "f64, f32, f16 and bf16 can")
                if op.name == "math.powf" and element == "f64" and self.target == "cpu":
                    return
                exact = element == "f64"
                if op.name == "math.sincos":
                    functions: list[Function] = [FUNCTIONS[name][exact] for name in ("math.sin", "math.cos")]
                elif op.name == "math.fpowi":
                    functions = [fpowi]
                elif op.name == "math.exp" and "kc.nonpositive" in op.attributes and not exact:
                    functions = [exp_nonpositive]
                else:
                    functions = [FUNCTIONS[op.name][exact]]
                args = [_load(scope, value) for value in op.operands]
                results = [function(scope, *args) for function in functions]
            else:
                ctx.error(op, f"no expansion of {op.name} is known")
            values = [(r.convert("arith.truncf", element) if element in HALF else r).value for r in results]
        for result, value in zip(list(op.results), values, strict=True):
            result.replace_all_uses_with(value)
        op.erase()


def _load(scope: Scope, value: Any) -> Num:
    """An operand as a number; half types as f32."""
    element = _element(value.type)
    number = Num(scope, value, element)
    return number.convert("arith.extf", "f32") if element in HALF else number


def _element(kind: ir.Type) -> str:
    text = str(kind)
    return text[text.rindex("x") + 1: -1] if text.startswith("vector<") else text
