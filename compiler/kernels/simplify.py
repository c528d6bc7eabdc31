"""Scalar ops made with the simplifications that hold for every input, NaN, infinities and signed zeros included."""
from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable

from kc.kernels import expr as E

_FLOATS = ("f16", "bf16", "f32", "f64")


def round_to(value: float, type: str) -> float:
    """``value`` rounded to nearest even in the MLIR float type ``type``."""
    if type == "f64" or math.isnan(value) or math.isinf(value):
        return value
    if type == "bf16":  # two steps would round twice: add half an ulp of bf16 to the f64 pattern's kept bits instead
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        exponent = (bits >> 52) & 0x7FF
        if exponent - 1023 < -126:
            scale = 2.0**133  # denormals of bf16 are multiples of 2**-133
            return round(value * scale) / scale
        keep = 45
        half, low = 1 << (keep - 1), bits & ((1 << keep) - 1)
        bits -= low
        if low > half or (low == half and (bits >> keep) & 1):
            bits += 1 << keep
        result = struct.unpack("<d", struct.pack("<Q", bits))[0]
        return math.copysign(math.inf, value) if abs(result) >= 2.0**128 else result
    try:
        code = "<e" if type == "f16" else "<f"
        return float(struct.unpack(code, struct.pack(code, value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def apply(op: str, args: tuple[E.Expr, ...], type: str, attrs: tuple[tuple[str, str], ...] = ()) -> E.Expr:
    """``E.Apply(op, args, type, attrs)``, or something simpler that always equals it."""
    rule = _RULES.get(op)
    if rule is not None:
        simpler = rule(args, type, dict(attrs))
        if simpler is not None:
            return simpler
    return E.Apply(op, args, type, attrs)


def _is(node: E.Expr, value: float | int) -> bool:
    return isinstance(node, E.Const) and type(node.value) is type(value) and repr(node.value) == repr(value)


def _fold_float(function: Callable[[float, float], float]) -> Callable[..., E.Expr | None]:
    def fold(args: tuple[E.Expr, ...], type: str, attrs: dict[str, str]) -> E.Expr | None:
        left, right = args
        if isinstance(left, E.Const) and isinstance(right, E.Const) and type in _FLOATS:
            # f16, bf16 and f32 operations done in f64 and rounded once more are exact to the last bit (2p + 2 <= 53)
            try:
                return E.Const(round_to(function(float(left.value), float(right.value)), type), type)
            except (ZeroDivisionError, OverflowError):
                return None
        return None

    return fold


def _or(*rules: Callable[..., E.Expr | None]) -> Callable[..., E.Expr | None]:
    def first(args: tuple[E.Expr, ...], type: str, attrs: dict[str, str]) -> E.Expr | None:
        return next((found for rule in rules if (found := rule(args, type, attrs)) is not None), None)

    return first


def _neutral(value: float | int, left: bool = True) -> Callable[..., E.Expr | None]:
    """``op(x, value) = x``, and ``op(value, x) = x`` if ``left``."""

    def drop(args: tuple[E.Expr, ...], type: str, attrs: dict[str, str]) -> E.Expr | None:
        if _is(args[1], value):
            return args[0]
        return args[1] if left and _is(args[0], value) else None

    return drop


def _select(args: tuple[E.Expr, ...], type: str, attrs: dict[str, str]) -> E.Expr | None:
    condition, yes, no = args
    if yes == no:
        return yes
    if isinstance(condition, E.Const):
        return yes if condition.value else no
    return condition if _is(yes, True) and _is(no, False) else None


_FLOAT_PREDICATES: dict[int, Callable[[float, float], bool]] = {
    1: operator.eq, 2: operator.gt, 3: operator.ge, 4: operator.lt, 5: operator.le
}  # fmt: skip


def _cmpf(args: tuple[E.Expr, ...], type: str, attrs: dict[str, str]) -> E.Expr | None:
    predicate = _FLOAT_PREDICATES.get(int(attrs.get("predicate", "0").split()[0]))
    left, right = args
    if predicate is None or not isinstance(left, E.Const) or not isinstance(right, E.Const):
        return None
    return E.Const(predicate(float(left.value), float(right.value)), "i1")


def _andi(args: tuple[E.Expr, ...], type: str, attrs: dict[str, str]) -> E.Expr | None:
    if args[0] == args[1]:
        return args[0]
    return _neutral(True)(args, type, attrs) or next((arg for arg in args if _is(arg, False)), None)


def _ori(args: tuple[E.Expr, ...], type: str, attrs: dict[str, str]) -> E.Expr | None:
    if args[0] == args[1]:
        return args[0]
    return _neutral(False)(args, type, attrs) or next((arg for arg in args if _is(arg, True)), None)


_RULES: dict[str, Callable[..., E.Expr | None]] = {
    "arith.addf": _or(_fold_float(lambda a, b: a + b), _neutral(-0.0)),
    "arith.subf": _or(_fold_float(lambda a, b: a - b), _neutral(0.0, left=False)),
    "arith.mulf": _or(_fold_float(lambda a, b: a * b), _neutral(1.0)),
    "arith.divf": _or(_fold_float(lambda a, b: a / b), _neutral(1.0, left=False)),
    "arith.maximumf": _neutral(-math.inf),
    "arith.minimumf": _neutral(math.inf),
    "arith.addi": _neutral(0),
    "arith.subi": _neutral(0, left=False),
    "arith.muli": _neutral(1),
    "arith.andi": _andi,
    "arith.ori": _ori,
    "arith.select": _select,
    "arith.cmpf": _cmpf,
}
