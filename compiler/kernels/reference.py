"""What a ``Kernel`` means, in NumPy: the oracle for schedules and for ``kc.kernels.analyze`` itself.

Floats are computed in float64 and rounded to the type of each ``Apply`` only where the value is stored, cast or of a
narrow type; integers wrap at their width. Slow and plain on purpose.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from kc.kernels import expr as E

_DTYPES: dict[str, Any] = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8, "i1": np.bool_, "index": np.int64,
}  # fmt: skip
_FLOATS = ("f64", "f32", "f16", "bf16")


def evaluate(kernel: E.Kernel, arguments: Sequence[Any]) -> list[np.ndarray]:
    """The kernel's results for ``arguments`` (NumPy arrays and scalars, destinations included; none is written).

    Raises TypeError for a ``General`` kernel, NotImplementedError for an op or type it does not know.
    """
    if isinstance(kernel, E.General):
        raise TypeError("a general kernel has no expressions to evaluate")
    sizes = [_extent(dim, arguments) for dim in kernel.dims]  # type: ignore[attr-defined]
    with np.errstate(all="ignore"):
        scope = _Scope(sizes, arguments)
        if isinstance(kernel, E.Contraction):
            scope.acc = scope.reduce(_fold_of(kernel, _product(kernel)))
        elif isinstance(kernel, E.Window):
            scope.acc = scope.reduce(E.Reduce(kernel.reduce, kernel.body, kernel.window, kernel.init, kernel.acc_type))
        elif isinstance(kernel, E.Attention):
            scope.acc = _attention(kernel, scope)
        return [_store(output, kernel, scope, arguments) for output in kernel.outputs]  # type: ignore[attr-defined]


def _product(kernel: E.Contraction) -> E.Expr:
    op = "arith.mulf" if kernel.acc_type in _FLOATS else "arith.muli"
    return E.Apply(op, (kernel.lhs, kernel.rhs), kernel.acc_type)


def _fold_of(kernel: E.Contraction, body: E.Expr) -> E.Reduce:
    op = "arith.addf" if kernel.acc_type in _FLOATS else "arith.addi"
    return E.Reduce(op, body, kernel.k, kernel.init, kernel.acc_type)


def _attention(kernel: E.Attention, scope: _Scope) -> np.ndarray:
    raw = scope.value(kernel.query) * scope.value(kernel.key)
    score = _Scope(scope.sizes, scope.arguments)
    score.acc = raw.sum(axis=kernel.d, keepdims=True)
    scores = score.value(kernel.score)
    if kernel.causal:
        q, kv = scope.value(E.Index(kernel.q)), scope.value(E.Index(kernel.kv))
        scores = np.where(kv <= q, scores, kernel.masked)
    rows = [scope.sizes[i] if i in (*kernel.batch, kernel.q, kernel.kv) else 1 for i in range(len(scope.sizes))]
    scores = np.broadcast_to(scores, rows)
    top = scores.max(axis=kernel.kv, keepdims=True, initial=-np.inf)
    if kernel.safe:
        top = np.where(top == -np.inf, 0.0, top)
    weights = np.exp(scores - top)
    total = weights.sum(axis=kernel.kv, keepdims=True)
    if kernel.safe:
        total = np.where(total == 0.0, 1.0, total)
    probs = _round(weights / total, kernel.probs_type)
    return (probs * scope.value(kernel.value)).sum(axis=kernel.kv, keepdims=True)


def _extent(dim: E.Dim, arguments: Sequence[Any]) -> int:
    if dim.size is not None:
        return dim.size
    assert dim.source is not None
    return int(arguments[dim.source[0]].shape[dim.source[1]])


def _store(output: E.Output, kernel: E.Kernel, scope: _Scope, arguments: Sequence[Any]) -> np.ndarray:
    operand = kernel.operands[output.arg]
    shape = arguments[output.arg].shape
    value = scope.value(output.expr)
    axes = [coord.dim for coord in output.coords]
    used = [axis for axis in axes if axis is not None]
    full = np.broadcast_to(value, [scope.sizes[d] if d in used else 1 for d in range(len(scope.sizes))])
    rest = [d for d in range(len(scope.sizes)) if d not in used]
    moved = np.transpose(full, [*used, *rest]).reshape(shape)
    return np.ascontiguousarray(moved).astype(_DTYPES[operand.type])


def _round(value: np.ndarray, type: str) -> np.ndarray:
    """Values of float type ``type`` held as float64, or integers wrapped to their width."""
    if type in ("f32", "f16", "bf16"):
        return value.astype(np.float64).astype(_DTYPES[type]).astype(np.float64)
    return value if type == "f64" else value.astype(_DTYPES[type])


class _Scope:
    """Evaluates expressions to arrays with one axis per dim, of extent 1 where the value does not vary."""

    def __init__(self, sizes: Sequence[int], arguments: Sequence[Any]) -> None:
        self.sizes, self.arguments = list(sizes), arguments
        self.acc: np.ndarray | None = None
        self._known: dict[E.Expr, np.ndarray] = {}

    def value(self, root: E.Expr) -> np.ndarray:
        """The value of ``root``."""
        for node in E.walk(root):
            if node not in self._known:
                self._known[node] = self._node(node)
        return self._known[root]

    def _node(self, node: E.Expr) -> np.ndarray:
        rank = len(self.sizes)
        if isinstance(node, E.Const):
            value: Any = bool(node.value) if node.type == "i1" else node.value
            dtype = np.float64 if node.type in _FLOATS else _DTYPES[node.type]
            return np.full((1,) * rank, value, dtype)
        if isinstance(node, E.Index):
            return self.axis(node.dim)
        if isinstance(node, E.Acc):
            assert self.acc is not None
            return self.acc
        if isinstance(node, E.Load):
            array = np.asarray(self.arguments[node.arg])
            array = array.astype(np.float64) if node.type in _FLOATS else array.astype(_DTYPES[node.type])
            if not node.coords:
                return array.reshape((1,) * rank)
            index = tuple(self._coord(coord) for coord in node.coords)
            return array[tuple(np.broadcast_arrays(*index))] if len(index) > 1 else array[index[0]]
        if isinstance(node, E.Reduce):
            return self.reduce(node)
        return self._apply(node)

    def axis(self, dim: int) -> np.ndarray:
        """The loop index of ``dim`` along its axis."""
        shape = [1] * len(self.sizes)
        shape[dim] = self.sizes[dim]
        return np.arange(self.sizes[dim], dtype=np.int64).reshape(shape)

    def _coord(self, coord: E.Coord) -> np.ndarray:
        result = np.full((1,) * len(self.sizes), coord.offset, np.int64)
        if coord.dim is not None:
            for dim, scale in ((coord.dim, coord.scale), *coord.more):
                result = result + scale * self.axis(dim)
        return result

    def reduce(self, node: E.Reduce) -> np.ndarray:
        """The fold, over axes made as long as their loops."""
        arg, init = self.value(node.arg), self.value(node.init)
        shape = list(arg.shape)
        for dim in node.dims:
            shape[dim] = self.sizes[dim]
        ufunc = _FOLDS[node.op]
        folded = _fold(ufunc, np.broadcast_to(arg, shape), tuple(node.dims))
        return _round(ufunc(init, folded) if folded is not None else np.broadcast_to(init, [
            1 if d in node.dims else n for d, n in enumerate(shape)]), node.type)  # fmt: skip

    def _apply(self, node: E.Apply) -> np.ndarray:
        args = [self._known[arg] for arg in node.args]
        name = node.op
        if name in ("arith.cmpf", "arith.cmpi"):
            return _compare(name, int(dict(node.attrs)["predicate"].split()[0]), *args)
        if name in ("arith.extui", "arith.uitofp", "arith.index_castui") and node.args[0].type not in _FLOATS:
            args = [_unsigned(args[0], node.args[0].type)]
        function = _OPS.get(name)
        if function is None:
            raise NotImplementedError(f"{name} in the reference interpreter")
        return _round(function(*args), node.type)


def _fold(ufunc: Any, value: np.ndarray, axes: tuple[int, ...]) -> np.ndarray | None:
    if any(value.shape[axis] == 0 for axis in axes):
        return None
    for axis in axes:
        value = ufunc.reduce(value, axis=axis, keepdims=True)
    return value


def _unsigned(value: np.ndarray, type: str) -> np.ndarray:
    return value.astype(np.int64) if type == "i1" else value.view(f"u{value.dtype.itemsize}").astype(np.uint64)


def _compare(name: str, predicate: int, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    if name == "arith.cmpi":
        if predicate >= 6:
            left, right = (v.view(f"u{v.dtype.itemsize}") if v.dtype != np.bool_ else v for v in (left, right))
            predicate -= 4
        return (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)[predicate](left, right)
    nan = np.isnan(left) | np.isnan(right)
    tests = {1: np.equal, 2: np.greater, 3: np.greater_equal, 4: np.less, 5: np.less_equal, 6: np.not_equal}
    if predicate in (0, 15):
        return np.broadcast_to(np.bool_(predicate == 15), nan.shape)
    if predicate in (7, 14):
        return ~nan if predicate == 7 else nan
    ordered = predicate <= 6
    test = tests[predicate if ordered else predicate - 7](left, right)
    return test & ~nan if ordered else test | nan


def _erf(value: np.ndarray) -> np.ndarray:
    import math

    return np.vectorize(math.erf, otypes=[np.float64])(value)


def _shift_right(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """A logical shift: the sign bit moves like any other."""
    unsigned = f"u{left.dtype.itemsize}"
    return (left.view(unsigned) >> right.astype(left.dtype).view(unsigned)).view(left.dtype)


def _divide_ints(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    quotient = np.abs(left) // np.maximum(np.abs(right), 1)
    return np.where((left < 0) != (right < 0), -quotient, quotient)


_FOLDS: dict[str, Any] = {
    "arith.addf": np.add, "arith.mulf": np.multiply, "arith.maximumf": np.maximum, "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax, "arith.minnumf": np.fmin, "arith.addi": np.add, "arith.muli": np.multiply,
    "arith.maxsi": np.maximum, "arith.minsi": np.minimum, "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
}  # fmt: skip

_OPS: dict[str, Callable[..., np.ndarray]] = {
    **_FOLDS,
    "arith.subf": np.subtract, "arith.divf": np.divide, "arith.negf": np.negative, "arith.remf": np.fmod,
    "arith.shli": np.left_shift, "arith.shrsi": np.right_shift, "arith.shrui": _shift_right,
    "arith.subi": np.subtract, "arith.divsi": _divide_ints, "arith.remsi": np.fmod,
    "arith.select": np.where,
    "arith.extf": np.asarray, "arith.truncf": np.asarray,
    "arith.extsi": lambda v: -v.astype(np.int64) if v.dtype == np.bool_ else v,
    "arith.extui": np.asarray, "arith.trunci": np.asarray,
    "arith.index_cast": np.asarray, "arith.index_castui": np.asarray,
    "arith.sitofp": lambda v: -v.astype(np.float64) if v.dtype == np.bool_ else v.astype(np.float64),
    "arith.uitofp": lambda v: v.astype(np.float64), "arith.fptosi": np.trunc,
    "math.exp": np.exp, "math.exp2": np.exp2, "math.expm1": np.expm1, "math.log": np.log, "math.log1p": np.log1p,
    "math.log2": np.log2, "math.sqrt": np.sqrt, "math.rsqrt": lambda v: 1.0 / np.sqrt(v), "math.tanh": np.tanh,
    "math.erf": _erf, "math.absf": np.abs, "math.absi": np.abs, "math.sin": np.sin, "math.cos": np.cos,
    "math.floor": np.floor, "math.ceil": np.ceil, "math.powf": np.power, "math.roundeven": np.rint,
    "math.fma": lambda a, b, c: a * b + c,
    "math.tan": np.tan, "math.cbrt": np.cbrt, "math.copysign": np.copysign, "math.sinh": np.sinh, "math.cosh": np.cosh,
}  # fmt: skip
