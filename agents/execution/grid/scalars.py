"""Arithmetic on lanes: each op as a function of arrays (lanes first, then the vector's shape)."""
from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kc.agents.execution.errors import ExecutionError
from kc.agents.execution.grid.nodes import Node

Array = np.ndarray
#: op -> function of the node and its operands' arrays
SCALARS: dict[str, Callable[..., Any]] = {}


def op(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function of ``(node, *arrays)``."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        SCALARS.update(dict.fromkeys(names, function))
        return function

    return register


def simple(function: Callable[..., Any], *names: str) -> None:
    """Register a function of the arrays alone."""
    for name in names:
        SCALARS[name] = lambda node, *arrays: function(*arrays)


def unsigned(a: Array) -> Array:
    """The same bits without a sign."""
    return a.view(np.uint8) if a.dtype == np.bool_ else a.view(f"u{a.itemsize}")


def signed(a: Array) -> Array:
    """An ``i1`` as 0 and -1."""
    return -a.astype(np.int8) if a.dtype == np.bool_ else a


def like(a: Array, value: Array) -> Array:
    """``value``, computed on ``unsigned(a)``, as ``a``'s type again."""
    return value.astype(np.bool_) if a.dtype == np.bool_ else value.view(a.dtype)


def _wrapping(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    def apply(a: Array, b: Array) -> Array:
        if a.dtype == np.bool_:
            return (function(a.astype(np.uint8), b.astype(np.uint8)) & 1).astype(np.bool_)
        return function(a, b)

    return apply


def _divide(a: Array, b: Array, *, floor: int = 0, remainder: bool = False) -> Array:
    """Signed division that rounds to 0, down (-1) or up (1); by zero it gives all ones, as the hardware does."""
    zero = b == 0
    safe = np.where(zero, 1, b).astype(a.dtype)
    quotient = np.floor_divide(a, safe)
    rest = a - quotient * safe
    if remainder or floor >= 0:
        toward = (rest != 0) & ((a < 0) != (safe < 0)) if not floor else rest != 0
        if floor > 0:
            quotient = quotient + toward.astype(a.dtype)
        else:
            quotient = quotient + ((rest != 0) & ((a < 0) != (safe < 0))).astype(a.dtype)
    result = a - quotient * safe if remainder else quotient
    return np.where(zero, a if remainder else np.array(-1).astype(a.dtype), result).astype(a.dtype)


def _udivide(a: Array, b: Array, *, remainder: bool = False, up: bool = False) -> Array:
    x, y = unsigned(a), unsigned(b)
    safe = np.where(y == 0, 1, y).astype(x.dtype)
    result = x % safe if remainder else x // safe
    if up:
        result = result + (x % safe != 0).astype(x.dtype)
    return like(a, np.where(y == 0, x if remainder else ~np.zeros_like(x), result).astype(x.dtype))


def _shift(a: Array, b: Array, kind: str) -> Array:
    bits = a.itemsize * 8
    amount = unsigned(b)
    over = amount >= bits
    amount = np.minimum(amount, bits - 1)
    if kind == "right":
        return np.right_shift(a, amount.astype(a.dtype))
    shifted = np.left_shift(unsigned(a), amount) if kind == "left" else np.right_shift(unsigned(a), amount)
    return np.where(over, 0, shifted).astype(unsigned(a).dtype).view(a.dtype)


for _name, _function in {
    "addi": np.add, "subi": np.subtract, "muli": np.multiply,
}.items():
    simple(_wrapping(_function), f"arith.{_name}", f"llvm.{_name[:-1]}", f"index.{_name[:-1]}")
simple(lambda a, b: _divide(a, b), "arith.divsi", "llvm.sdiv", "index.divs")
simple(lambda a, b: _divide(a, b, remainder=True), "arith.remsi", "llvm.srem", "index.rems")
simple(lambda a, b: _divide(a, b, floor=-1), "arith.floordivsi", "index.floordivs")
simple(lambda a, b: _divide(a, b, floor=1), "arith.ceildivsi", "index.ceildivs")
simple(_udivide, "arith.divui", "llvm.udiv", "index.divu")
simple(lambda a, b: _udivide(a, b, remainder=True), "arith.remui", "llvm.urem", "index.remu")
simple(lambda a, b: _udivide(a, b, up=True), "arith.ceildivui", "index.ceildivu")
simple(np.bitwise_and, "arith.andi", "llvm.and", "index.and")
simple(np.bitwise_or, "arith.ori", "llvm.or", "index.or")
simple(np.bitwise_xor, "arith.xori", "llvm.xor", "index.xor")
simple(lambda a, b: _shift(a, b, "left"), "arith.shli", "llvm.shl", "index.shl")
simple(lambda a, b: _shift(a, b, "right"), "arith.shrsi", "llvm.ashr", "index.shrs")
simple(lambda a, b: _shift(a, b, "zero"), "arith.shrui", "llvm.lshr", "index.shru")
simple(lambda a, b: np.where(signed(a) < signed(b), a, b), "arith.minsi", "llvm.intr.smin", "index.mins")
simple(lambda a, b: np.where(signed(a) > signed(b), a, b), "arith.maxsi", "llvm.intr.smax", "index.maxs")
simple(lambda a, b: np.where(unsigned(a) < unsigned(b), a, b), "arith.minui", "llvm.intr.umin", "index.minu")
simple(lambda a, b: np.where(unsigned(a) > unsigned(b), a, b), "arith.maxui", "llvm.intr.umax", "index.maxu")
simple(np.add, "arith.addf", "llvm.fadd")
simple(np.subtract, "arith.subf", "llvm.fsub")
simple(np.multiply, "arith.mulf", "llvm.fmul")
simple(np.divide, "arith.divf", "llvm.fdiv")
simple(np.fmod, "arith.remf", "llvm.frem")
simple(np.negative, "arith.negf", "llvm.fneg")


def _extreme(a: Array, b: Array, larger: bool, nan: bool) -> Array:
    """IEEE maximum and minimum: -0 is less than 0; ``nan``: NaN wins, else the number."""
    negative = np.signbit(a)
    first = np.where(a == b, negative != larger, a > b if larger else a < b)
    result = np.where(first, a, b)
    if nan:
        return np.where(np.isnan(a), a, np.where(np.isnan(b), b, result)).astype(a.dtype)
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, result)).astype(a.dtype)


simple(lambda a, b: _extreme(a, b, True, True), "arith.maximumf", "llvm.intr.maximum")
simple(lambda a, b: _extreme(a, b, False, True), "arith.minimumf", "llvm.intr.minimum")
simple(lambda a, b: _extreme(a, b, True, False), "arith.maxnumf", "llvm.intr.maxnum")
simple(lambda a, b: _extreme(a, b, False, False), "arith.minnumf", "llvm.intr.minnum")

_INTEGERS = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOATS = ("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno",
           "true")
_COMPARE = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}


@op("arith.cmpi", "llvm.icmp", "index.cmp")
def _cmpi(node: Node, a: Array, b: Array) -> Array:
    code = node.attributes.get("predicate", node.attributes.get("pred"))
    name = _INTEGERS[code] if isinstance(code, int) else str(code).split("(")[-1].split()[-1].strip(")>")
    if name in ("eq", "ne"):
        return _COMPARE[name](a, b)
    convert = signed if name[0] == "s" else unsigned
    return _COMPARE[name[1:]](convert(a), convert(b))


@op("arith.cmpf", "llvm.fcmp")
def _cmpf(node: Node, a: Array, b: Array) -> Array:
    code = node.attributes["predicate"]
    name = _FLOATS[code] if isinstance(code, int) else str(code)
    if name in ("true", "false"):
        return np.full(a.shape, name == "true")
    either = np.isnan(a) | np.isnan(b)
    if name in ("ord", "uno"):
        return either if name == "uno" else ~either
    result = _COMPARE[name[1:]](a, b)
    return result | either if name[0] == "u" else result & ~either


@op("arith.select", "llvm.select")
def _select(node: Node, condition: Array, a: Any, b: Any) -> Any:
    from kc.agents.execution.grid.values import select

    return select(condition, a, b)


def _convert(node: Node) -> np.dtype[Any]:
    dtype = node.types[0].dtype
    assert dtype is not None
    return dtype


@op("arith.index_cast", "arith.extsi", "arith.trunci", "llvm.sext", "llvm.trunc", "index.casts", "llvm.ptrtoint",
    "llvm.inttoptr", "llvm.addrspacecast", "arith.sitofp", "llvm.sitofp")
def _resize(node: Node, a: Array) -> Array:
    to = _convert(node)
    if to == np.bool_:
        return (a & 1).astype(np.bool_)
    return signed(a).astype(to)


@op("arith.index_castui", "arith.extui", "llvm.zext", "index.castu", "arith.uitofp", "llvm.uitofp")
def _widen(node: Node, a: Array) -> Array:
    to = _convert(node)
    if to == np.bool_:
        return (unsigned(a) & 1).astype(np.bool_)
    return unsigned(a).astype(to)


@op("arith.extf", "arith.truncf", "llvm.fpext", "llvm.fptrunc")
def _round(node: Node, a: Array) -> Array:
    return a.astype(_convert(node))


@op("arith.fptosi", "llvm.fptosi", "arith.fptoui", "llvm.fptoui")
def _to_integer(node: Node, a: Array) -> Array:
    """Towards zero; what does not fit goes to the nearest end, NaN to 0, as the hardware does."""
    to = _convert(node)
    whole = "ui" in node.name
    bits = 1 if to == np.bool_ else to.itemsize * 8
    low, high = (0, 2**bits - 1) if whole else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    wide = np.trunc(a.astype(np.float64))
    flat = [0 if math.isnan(v) else min(max(int(v), low), high) if math.isfinite(v) else (high if v > 0 else low)
            for v in wide.reshape(-1)]
    made = np.array(flat, np.uint64 if whole else np.int64).reshape(a.shape)
    return made.astype(np.bool_) if to == np.bool_ else made.astype(f"u{to.itemsize}" if whole else to).view(to)


@op("arith.bitcast", "llvm.bitcast", "vector.bitcast")
def _bitcast(node: Node, a: Array) -> Array:
    to = node.types[0]
    assert to.dtype is not None
    if a.dtype == np.bool_ or to.dtype == np.bool_:
        if a.dtype == to.dtype:
            return a
        raise ExecutionError("unsupported", f"{node.name} of bits at {node.place}", node.name)
    raw = np.ascontiguousarray(a)
    if raw.ndim == 1:
        raw = raw[:, None]
    return raw.view(to.dtype).reshape((len(a), *(int(e or 0) for e in to.shape)))


@op("arith.constant", "llvm.mlir.constant", "index.constant")
def _constant(node: Node) -> Array:
    to = node.types[0]
    if to.dtype is None:
        raise ExecutionError("unsupported", f"a constant of type {to.text} at {node.place}", node.name)
    value = node.attributes["value"]
    if isinstance(value, str):
        raise ExecutionError("unsupported", f"the constant {value[:40]} at {node.place}", node.name)
    array = np.array(value)
    if to.dtype.kind in "ib" and array.dtype.kind in "iub":
        array = array.astype(np.int64, copy=False).astype(to.dtype)
    shape = tuple(int(e or 0) for e in to.shape)
    return np.broadcast_to(array.astype(to.dtype).reshape(shape if array.size != 1 else (1,) * len(shape)), (1, *shape))


@functools.lru_cache(maxsize=1)
def _libm() -> ctypes.CDLL:
    libm = ctypes.CDLL("libm.so.6")
    libm.fma.argtypes, libm.fma.restype = (ctypes.c_double,) * 3, ctypes.c_double
    return libm


@op("math.fma", "llvm.intr.fma", "llvm.intr.fmuladd", "vector.fma")
def fma(node: Node | None, a: Array, b: Array, c: Array) -> Array:
    """One rounding."""
    a, b, c = np.broadcast_arrays(a, b, c)
    if a.dtype == np.float64:
        function = _libm().fma
        flat = [function(*map(float, v)) for v in zip(a.reshape(-1), b.reshape(-1), c.reshape(-1), strict=True)]
        return np.array(flat, a.dtype).reshape(a.shape)
    # the product is exact in f64; the sum is rounded to odd, after which rounding again does no harm
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    total = product + addend
    moved = total - product
    rest = (product - (total - moved)) + (addend - moved)
    even = (total.view(np.int64) & 1) == 0
    adjust = even & (rest != 0) & np.isfinite(rest) & np.isfinite(total)
    total = np.where(adjust, np.nextafter(total, np.where(rest > 0, np.inf, -np.inf)), total)
    return total.astype(a.dtype)


def _through_f64(function: Callable[..., Array], *names: str) -> None:
    def apply(node: Node, *arrays: Array) -> Array:
        return function(*(a.astype(np.float64) for a in arrays)).astype(arrays[0].dtype)

    SCALARS.update(dict.fromkeys(names, apply))


for _name in ("exp", "exp2", "log", "log2", "log10", "sin", "cos", "sqrt"):
    _through_f64(getattr(np, _name), f"math.{_name}", f"llvm.intr.{_name}")
for _name in ("expm1", "log1p", "tan", "tanh", "sinh", "cosh"):
    _through_f64(getattr(np, _name), f"math.{_name}", f"llvm.intr.{_name}")
for _name, _other in (("asin", "arcsin"), ("acos", "arccos"), ("atan", "arctan"), ("asinh", "arcsinh"),
                      ("acosh", "arccosh"), ("atanh", "arctanh"), ("atan2", "arctan2"), ("powf", "power"),
                      ("cbrt", "cbrt")):
    _through_f64(getattr(np, _other), f"math.{_name}")
_through_f64(np.power, "llvm.intr.pow")
_through_f64(np.vectorize(math.erf, otypes=[np.float64]), "math.erf")
_through_f64(np.vectorize(math.erfc, otypes=[np.float64]), "math.erfc")
_through_f64(lambda a: 1 / np.sqrt(a), "math.rsqrt")
simple(np.abs, "math.absf", "math.absi", "llvm.intr.fabs")
simple(np.floor, "math.floor", "llvm.intr.floor")
simple(np.ceil, "math.ceil", "llvm.intr.ceil")
simple(np.trunc, "math.trunc", "llvm.intr.trunc")
simple(np.rint, "math.roundeven", "llvm.intr.roundeven", "llvm.intr.rint")
simple(lambda a: np.copysign(np.floor(np.abs(a) + a.dtype.type(0.5)), a), "math.round")
simple(np.copysign, "math.copysign", "llvm.intr.copysign")
simple(np.isnan, "math.isnan")
simple(np.isfinite, "math.isfinite")
simple(np.isinf, "math.isinf")


def _bits(a: Array) -> list[str]:
    return [f"{int(v):0{a.itemsize * 8}b}" for v in unsigned(a).reshape(-1)]


@op("math.ctpop", "llvm.intr.ctpop", "math.ctlz", "llvm.intr.ctlz", "math.cttz", "llvm.intr.cttz")
def _count(node: Node, a: Array) -> Array:
    bits = _bits(a)
    if "ctpop" in node.name:
        counts = [b.count("1") for b in bits]
    else:
        counts = [len(b) - len(b.lstrip("0") if "ctlz" in node.name else b.rstrip("0")) for b in bits]
    return np.array(counts, a.dtype).reshape(a.shape)


@op("arith.addui_extended", "arith.mului_extended", "arith.mulsi_extended")
def _extended(node: Node, a: Array, b: Array) -> tuple[Array, Array]:
    if node.name == "arith.addui_extended":
        total = like(a, unsigned(a) + unsigned(b))
        return total, unsigned(total) < unsigned(a)
    convert = unsigned if "mului" in node.name else signed
    width = a.itemsize * 8
    wide = convert(a).astype(object) * convert(b).astype(object)
    mask = (1 << width) - 1
    low, high = ((np.vectorize(lambda v, s=s: (int(v) >> s) & mask, otypes=[object])(wide)) for s in (0, width))
    return tuple(part.astype(f"u{a.itemsize}").view(a.dtype) for part in (low, high))  # type: ignore[return-value]
