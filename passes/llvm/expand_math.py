"""``kc-expand-math``: mathematical functions become arithmetic."""
from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Literal

from kc.bindings import ir
from kc.builder.expr import HALF, Ops
from kc.builder.num import Num, Scope
from kc.pass_base import Pass, PassContext

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

    A scalar op marked ``{kc.call}`` becomes a call, in a CPU's module, of a function that is there once and is compiled
    apart (``kc.math``): for functions that take more of them than a loop's body should hold::

        %y = math.sin %x {kc.call} : f64

    becomes ``%y = func.call @kc_math_sin_f64(%x) : (f64) -> f64``.

    ``fma=false``: the target has no fused multiply-add; polynomials then use a multiplication and an addition
    (error terms that need fusing still say ``math.fma``).
    """

    name: ClassVar[str] = "kc-expand-math"
    anchor: ClassVar[str] = "any"
    level: ClassVar[str] = "llvm"
    dialects: ClassVar[tuple[str, ...] | None] = ("arith", "func", "math", "scf", "vector")
    target: Literal["cpu", "nvptx"] = "cpu"
    fma: bool = True

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        found: list[ir.Operation] = []

        def collect(inner: ir.Operation) -> ir.WalkResult:
            if inner.name.startswith("math.") and inner.name not in KEPT:
                found.append(inner.operation)
            return ir.WalkResult.ADVANCE

        op.operation.walk(collect)
        if self.target == "cpu" and op.operation.name == "builtin.module":
            found = _outline(op.operation, found)
        for inner in found:
            self._expand(inner, ctx)

    def _expand(self, op: ir.Operation, ctx: PassContext) -> None:
        from kc.builder.vmath import FUNCTIONS, exp_nonpositive, fpowi, ipowi, sincos

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
                args = [_load(scope, value) for value in op.operands]
                if op.name == "math.sincos":
                    results = list(sincos(scope, args[0], exact))
                elif op.name == "math.fpowi":
                    results = [fpowi(scope, *args)]
                elif op.name == "math.exp" and "kc.nonpositive" in op.attributes and not exact:
                    results = [exp_nonpositive(scope, *args)]
                else:
                    results = [FUNCTIONS[op.name][exact](scope, *args)]
            else:
                ctx.error(op, f"no expansion of {op.name} is known")
            values = [(r.convert("arith.truncf", element) if element in HALF else r).value for r in results]
        for result, value in zip(list(op.results), values, strict=True):
            result.replace_all_uses_with(value)
        op.erase()


def _outline(module: ir.Operation, found: list[ir.Operation]) -> list[ir.Operation]:
    """``found`` with the ops in functions of their own in place of those that are marked, which become calls."""
    rest, made = [], {}
    unit, private = ir.UnitAttr.get(), ir.StringAttr.get("private")
    for op in found:
        types = [value.type for value in (*op.operands, *op.results)]
        if "kc.call" not in op.attributes or any("<" in str(kind) for kind in types):
            rest.append(op)
            continue
        results = [value.type for value in op.results]
        name = f"kc_{op.name.replace('.', '_')}_{results[0]}"
        if name not in made:
            inputs = [value.type for value in op.operands]
            attributes = {"sym_name": ir.StringAttr.get(name), "sym_visibility": private, "kc.math": unit,
                          "function_type": ir.TypeAttr.get(ir.FunctionType.get(inputs, results))}
            end = ir.InsertionPoint(module.regions[0].blocks[0])
            function = ir.Operation.create("func.func", attributes=attributes, regions=1, loc=op.location, ip=end)
            block = function.regions[0].blocks.append(*inputs, arg_locs=[op.location] * len(inputs))
            with ir.InsertionPoint(block):
                made[name] = ir.Operation.create(op.name, results=results, operands=list(block.arguments),
                                                 loc=op.location)
                ir.Operation.create("func.return", operands=list(made[name].results), loc=op.location)
        call = ir.Operation.create("func.call", results=results, operands=list(op.operands), loc=op.location,
                                   attributes={"callee": ir.FlatSymbolRefAttr.get(name)}, ip=ir.InsertionPoint(op))
        for old, new in zip(list(op.results), list(call.results), strict=True):
            old.replace_all_uses_with(new)
        op.erase()
    return [*rest, *made.values()]


def _load(scope: Scope, value: Any) -> Num:
    """An operand as a number; half types as f32."""
    element = _element(value.type)
    number = Num(scope, value, element)
    return number.convert("arith.extf", "f32") if element in HALF else number


def _element(kind: ir.Type) -> str:
    text = str(kind)
    return text[text.rindex("x") + 1: -1] if text.startswith("vector<") else text
