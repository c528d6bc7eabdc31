"""Elementary functions on the GPU, and the emitter that schedules evaluate expressions with.

An ``Accuracy`` per kernel:

``precise``  every function within a few ulp of f32; denormals, infinities and NaN as IEEE says.
``half``     results are rounded to bf16 or f16 anyway: exp within |x| * 6e-8 + 3e-7 relative, quotients
             within 2 ulp of f32,
             reciprocal square roots within 3 ulp; denormals, infinities and NaN as IEEE says.
``fast``     as ``half``, in kernels bound by arithmetic (contraction epilogues, attention): intermediate
             results below 2^-126
             may flush to zero; absolute error of erf and erfc below 4e-7 (Abramowitz and Stegun, Handbook of
             Mathematical Functions, 7.1.26, plus the units' error); relative error of 1 + tanh below 1e-6, of tanh
             below 5.2e-4 (``tanh.approx``); multiplications and additions may fuse.

What has no form here is emitted as the ``math`` or ``arith`` op that it is; ``kc-expand-math`` and LLVM take those.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Literal

from kc.bindings import arith, llvm
from kc.builder.expr import HALF, Emitter, Leaf, Ops
from kc.builder.gpu import Value, asm, const
from kc.builder.gpu_ops import narrow, unary, widen
from kc.kernels.expr import Apply, Const, Expr, Load

Accuracy = Literal["precise", "half", "fast"]
LOG2E = math.log2(math.e)
_LOG2E_LOW = LOG2E - 1.44269502162933349609375  # what rounding log2(e) to f32 loses
_ERF_P = 0.3275911
_ERF_COEFFICIENTS = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)


def accuracy_for(kinds: Iterable[str], arithmetic_bound: bool = False) -> Accuracy:
    """The accuracy for a kernel whose results have element types ``kinds``."""
    if not all(kind in HALF for kind in kinds):
        return "precise"
    return "fast" if arithmetic_bound else "half"


def f32(value: float) -> Value:
    return const(value, "f32")


def exp2_fast(x: Value) -> Value:
    """2**x, about 2 ulp; results below 2^-126 are 0."""
    return unary("ex2.approx.ftz.f32", x)


def reciprocal_fast(x: Value) -> Value:
    """1/x, about 1 ulp; 0 for |x| >= 2^126."""
    return unary("rcp.approx.ftz.f32", x)


def absolute(x: Value) -> Value:
    return unary("abs.f32", x)


def _compare(predicate: str, a: Value, b: Value) -> Value:
    return Value(arith.cmpf(getattr(arith.CmpFPredicate, predicate), a.ssa, b.ssa))


def exp_precise(x: Value) -> Value:
    """exp(x) within 2 ulp for normal results: ex2 of the rounded product, corrected by what the rounding lost."""
    product = x * f32(LOG2E)
    lost = _fma(x, f32(LOG2E), -1.0 * product)
    lost = _fma(x, f32(_LOG2E_LOW), lost)
    raw = unary("ex2.approx.f32", product)
    corrected = _fma(raw, lost * f32(math.log(2)), raw)
    return _compare("OLT", absolute(x), f32(88.0)).select(corrected, raw)  # elsewhere inf, 0, denormal or NaN already


def _fma(a: Value, b: Value, c: Value) -> Value:
    return asm("f32", [a, b, c], "fma.rn.f32 $0, $1, $2, $3;", "=f,f,f,f", effects=False)


def erfc_positive_fast(z: Value) -> Value:
    """erfc(z) for z >= 0 by Abramowitz and Stegun 7.1.26."""
    t = reciprocal_fast(z * f32(_ERF_P) + f32(1.0))
    e = exp2_fast(z * z * f32(-LOG2E))
    p = t * f32(_ERF_COEFFICIENTS[0]) + f32(_ERF_COEFFICIENTS[1])
    for coefficient in _ERF_COEFFICIENTS[2:]:
        p = p * t + f32(coefficient)
    return p * t * e


def erf_fast(x: Value) -> Value:
    magnitude = f32(1.0) - erfc_positive_fast(absolute(x))
    return asm("f32", [x, magnitude], "copysign.f32 $0, $1, $2;", "=f,f,f", effects=False)


def erfc_fast(x: Value) -> Value:
    q = erfc_positive_fast(absolute(x))
    return _compare("OLT", x, f32(0.0)).select(f32(2.0) - q, q)


def tanh_fast(x: Value) -> Value:
    return unary("tanh.approx.f32", x)


def logistic_of_double(x: Value) -> Value:
    """(1 + tanh(x)) / 2 = 1 / (1 + exp(-2x)), without tanh's cancellation for negative x."""
    return reciprocal_fast(exp2_fast(x * f32(-2.0 * LOG2E)) + f32(1.0))


def combine(ops: Ops, name: str, a: Value, b: Value) -> Value:
    """The binary op ``name`` (``arith.addf``, ``arith.maximumf`` ...) on two values."""
    # arith.maxnumf would become a call of libdevice in convert-gpu-to-nvvm
    make = getattr(llvm, _EXTREMA[name]) if name in _EXTREMA else None
    return Value(make(a.ssa, b.ssa) if make else ops.create(name, [a.ssa, b.ssa], a.type))


_EXTREMA = {
    "arith.maximumf": "intr_maximum",
    "arith.minimumf": "intr_minimum",
    "arith.maxnumf": "intr_maxnum",
    "arith.minnumf": "intr_minnum",
}
_ROUNDING = {"math.floor": "cvt.rmi", "math.ceil": "cvt.rpi", "math.trunc": "cvt.rzi", "math.roundeven": "cvt.rni"}


class DeviceEmitter(Emitter):
    """``Emitter`` (scalar) with the forms of this module; ``leaf`` gives loads of half types as f32 already.

    ``uniform(node)``: the node has one value for many evaluations (a row's sum): dividing by it becomes a
    multiplication by its reciprocal, kept in ``reciprocals`` (shared between emitters), within 1.5 ulp over the full
    range.
    """

    def __init__(
        self,
        ops: Ops,
        leaf: Leaf,
        accuracy: Accuracy,
        memo: dict[int, Any] | None = None,
        uniform: Callable[[Expr], bool] | None = None,
        reciprocals: dict[int, tuple[Value, Value]] | None = None,
    ) -> None:
        super().__init__(ops, leaf, memo=memo)
        self.accuracy = accuracy
        self.uniform = uniform or (lambda node: False)
        self.reciprocals: dict[int, tuple[Value, Value]] = {} if reciprocals is None else reciprocals

    def value(self, root: Expr) -> Value:
        return Value(self(root))

    def _emit(self, node: Expr) -> Any:
        if isinstance(node, Load):  # leaves come extended already
            return self.leaf(node)
        return super()._emit(node)

    def _apply(self, node: Apply) -> Any:
        if node.op == "arith.truncf" and node.type in HALF and self._type(node.args[0].type) == "f32":
            return self._rounded(self.memo[id(node.args[0])], node.type)
        kind = self._type(node.type)
        if kind in ("f32", "f64"):
            result = self._float(node, kind)
            if result is not None:
                return result.ssa
        return super()._apply(node)

    def _rounded(self, value: Any, half: str) -> Any:
        return widen(narrow(Value(value), half), half).ssa

    def _float(self, node: Apply, kind: str) -> Value | None:
        args = [Value(self.memo[id(arg)]) for arg in node.args]
        op = node.op
        if op in _EXTREMA:
            return combine(self.ops, op, *args)
        if op == "math.absf":
            return unary(f"abs.{kind}", args[0], kind)
        if op == "math.sqrt":
            return unary(f"sqrt.rn.{kind}", args[0], kind)
        if op == "math.rsqrt":
            return self._reciprocal_root(args[0], kind)
        if op in _ROUNDING:
            return unary(f"{_ROUNDING[op]}.{kind}.{kind}", args[0], kind)
        if kind == "f64":
            return None
        if op == "arith.divf":
            return self._divide(node, args)
        if self.accuracy == "fast":
            return self._fast(node, args)
        if op == "math.exp":
            return unary("ex2.approx.f32", args[0] * f32(LOG2E)) if self.accuracy == "half" else exp_precise(args[0])
        if op == "math.exp2" and self.accuracy == "half":
            return unary("ex2.approx.f32", args[0])
        return None

    def _reciprocal_root(self, x: Value, kind: str) -> Value:
        if self.accuracy != "precise" and kind == "f32":
            return unary("rsqrt.approx.f32", x)
        root = unary(f"sqrt.rn.{kind}", x, kind)
        return Value(arith.divf(const(1.0, kind).ssa, root.ssa))

    def _divide(self, node: Apply, args: list[Value]) -> Value | None:
        numerator, denominator = args
        if self.uniform(node.args[1]):
            key = id(node.args[1])
            if key not in self.reciprocals:
                self.reciprocals[key] = _scaled_reciprocal(denominator)
            scale, inverse = self.reciprocals[key]
            return Value(arith.mulf(arith.mulf(numerator.ssa, scale.ssa), inverse.ssa))
        if self.accuracy == "precise":
            return None
        if self.accuracy == "fast" and (
            _one_plus(node.args[1], ("math.exp", "math.exp2")) is not None or _small_constant(node.args[0])
        ):
            return numerator * reciprocal_fast(denominator)
        return asm("f32", args, "div.full.f32 $0, $1, $2;", "=f,f,f", effects=False)

    def _fast(self, node: Apply, args: list[Value]) -> Value | None:
        op = node.op
        if op == "math.exp":
            return exp2_fast(args[0] * f32(LOG2E))
        if op == "math.exp2":
            return exp2_fast(args[0])
        if op == "math.erf":
            return erf_fast(args[0])
        if op == "math.erfc":
            return erfc_fast(args[0])
        if op == "math.tanh":
            return tanh_fast(args[0])
        if op == "arith.mulf":
            for number in (0, 1):  # r * (1 + tanh z), the tanh GELU; r * (1 + erf z), the exact one
                inner = _one_plus(node.args[number], ("math.tanh", "math.erf"))
                if inner is None:
                    continue
                rest = args[1 - number]
                if inner.op == "math.tanh":
                    return (rest + rest) * logistic_of_double(Value(self.memo[id(inner.args[0])]))
                return rest * Value(self.memo[id(inner)]) + rest
            return args[0] * args[1]
        if op == "arith.addf":
            return args[0] + args[1]
        if op == "arith.subf":
            return args[0] - args[1]
        return None


def _scaled_reciprocal(x: Value) -> tuple[Value, Value]:
    """(k, 1 / (k x)) with k a power of two that keeps both factors of (y k) (1 / (k x)) in range."""
    magnitude = absolute(x)
    small = _compare("OLT", magnitude, f32(2.0**-64))
    large = _compare("OGT", magnitude, f32(2.0**64))
    scale = small.select(f32(2.0**64), large.select(f32(2.0**-64), f32(1.0)))
    return scale, Value(arith.divf(f32(1.0).ssa, (x * scale).ssa))


def _one_plus(node: Expr, ops: tuple[str, ...]) -> Apply | None:
    """The ``f(z)`` of ``1 + f(z)`` with f one of ``ops``; None if ``node`` is something else."""
    if not isinstance(node, Apply) or node.op != "arith.addf":
        return None
    for constant, other in (node.args, node.args[::-1]):
        if isinstance(constant, Const) and constant.value == 1.0 and isinstance(other, Apply) and other.op in ops:
            return other
    return None


def _small_constant(node: Expr) -> bool:
    return isinstance(node, Const) and node.type in (*HALF, "f32") and abs(node.value) <= 1.0
