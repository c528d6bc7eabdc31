"""Extents of the values of a function as expressions over the names of its arguments' dimensions (``4 * rows``)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from kc.agents.facts.algebra import Range, interval, quotient, tidy
from kc.agents.regions import axes
from kc.agents.regions.axes import SCALAR
from kc.agents.regions.symbols import lookup
from kc.bindings import ir
from kc.conditions import Expr

#: no size is larger, of what has an element
LARGEST = 1 << 47
_ALLOCATES = frozenset({"tensor.empty", "memref.alloc", "memref.alloca", "bufferization.alloc_tensor"})
_LIKE = frozenset({"tensor.cast", "memref.cast", "linalg.copy"})
_CASTS = frozenset({"arith.index_cast", "arith.index_castui", "arith.extsi", "arith.trunci"})
_BINARY = {"arith.addi": "+", "arith.subi": "-", "arith.muli": "*"}
_QUOTIENTS = frozenset({"arith.divsi", "arith.divui", "arith.floordivsi"})


class Forms:
    """The extents of one function. ``names``: what its arguments' axes are called; ``ranges``: of these names.

    What is not followed gets a name of its own, ``_v0`` …: the same for the same extent.
    """

    def __init__(
        self,
        function: ir.Operation,
        module: ir.Operation,
        names: Mapping[axes.Axis, str] | None = None,
        ranges: Mapping[str, Range] | None = None,
    ):
        self._module = module
        self._classes = axes.classes(function)
        self._names: dict[axes.Axis, Expr] = {}
        for axis, name in (names or {}).items():
            self._names[self._classes.find(axis)] = int(name) if name.isdigit() else name
        known = {name: (0, LARGEST) for name in self._names.values() if isinstance(name, str)}
        self.ranges: dict[str, Range] = {**known, **(ranges or {})}
        self._atoms: dict[Hashable, str] = {}

    def of(self, value: ir.Value, axis: int) -> Expr:
        """The extent of ``value`` along ``axis``, or the number that it is (``SCALAR``)."""
        return tidy(self._scalar(value) if axis == SCALAR else self._extent(value, axis))

    def interval(self, expr: Expr) -> Range | None:
        """The range of an expression that ``of`` gave."""
        return interval(expr, self.ranges)

    def _atom(self, key: Hashable, extent: bool) -> str:
        """The name of what is not followed further; an extent is not negative."""
        name = self._atoms.setdefault(key, f"_v{len(self._atoms)}")
        if extent:
            self.ranges[name] = (0, LARGEST)
        return name

    def _nonnegative(self, expr: Expr) -> bool:
        span = self.interval(expr)
        return span is not None and span[0] >= 0

    # ---- numbers

    def _scalar(self, value: ir.Value) -> Expr:
        known = self._names.get(self._classes.find((value, SCALAR)))
        if known is not None:
            return known
        op = _owner(value)
        if op is None:
            return self._atom((value, SCALAR), False)
        operands = list(op.operands)
        if op.name == "arith.constant" and isinstance(op.attributes["value"], ir.IntegerAttr):
            return int(ir.IntegerAttr(op.attributes["value"]).value)
        if op.name in _CASTS:
            inner = tidy(self._scalar(operands[0]))
            return inner if self._fits(inner, value.type) else self._atom((value, SCALAR), False)
        if op.name in _BINARY:
            return (_BINARY[op.name], self._scalar(operands[0]), self._scalar(operands[1]))
        if op.name in ("tensor.dim", "memref.dim"):
            place = self._scalar(operands[1])
            return self._extent(operands[0], place) if isinstance(place, int) else self._atom((value, SCALAR), True)
        if op.name == "affine.apply":
            return self._affine(op)
        if op.name in ("arith.maxsi", "arith.minsi"):
            left, right = (tidy(self._scalar(operand)) for operand in operands)
            if op.name == "arith.maxsi" and right == 0 and self._nonnegative(left):
                return left
            if isinstance(left, int) and isinstance(right, int):
                return max(left, right) if op.name == "arith.maxsi" else min(left, right)
            return self._atom((op.name, left, right), op.name == "arith.maxsi" and right == 0)
        if op.name in (*_QUOTIENTS, "arith.remsi", "arith.remui", "arith.ceildivsi", "arith.ceildivui"):
            left, right = (tidy(self._scalar(operand)) for operand in operands)
            if isinstance(right, int) and right > 0 and self._nonnegative(left):
                if op.name in _QUOTIENTS:
                    return quotient(left, right)
                return ("%", left, right) if "rem" in op.name else quotient(("+", left, right - 1), right)
            return self._atom((op.name, left, right), False)
        return self._atom((value, SCALAR), False)

    def _fits(self, expr: Expr, kind: ir.Type) -> bool:
        """Whether an integer type of fewer bits than an index holds the number."""
        if not isinstance(kind, ir.IntegerType) or kind.width >= 64:
            return True
        span = self.interval(expr)
        return span is not None and -(1 << (kind.width - 1)) <= span[0] and span[1] < 1 << (kind.width - 1)

    def _affine(self, op: ir.Operation) -> Expr:
        map_ = ir.AffineMapAttr(op.attributes["map"]).value
        values = list(op.operands)

        def read(expr: ir.AffineExpr) -> Expr:
            for kind, offset in ((ir.AffineDimExpr, 0), (ir.AffineSymbolExpr, map_.n_dims)):
                if kind.isinstance(expr):
                    return self._scalar(values[kind(expr).position + offset])
            if ir.AffineConstantExpr.isinstance(expr):
                return int(ir.AffineConstantExpr(expr).value)
            for kind, sign in ((ir.AffineAddExpr, "+"), (ir.AffineMulExpr, "*")):
                if kind.isinstance(expr):
                    return (sign, read(kind(expr).lhs), read(kind(expr).rhs))
            for kind, sign in ((ir.AffineFloorDivExpr, "//"), (ir.AffineModExpr, "%"), (ir.AffineCeilDivExpr, "^")):
                if kind.isinstance(expr):
                    left, right = tidy(read(kind(expr).lhs)), tidy(read(kind(expr).rhs))
                    if not isinstance(right, int) or right <= 0 or not self._nonnegative(left):
                        raise _Unread
                    if sign == "%":
                        return ("%", left, right)
                    return quotient(left if sign == "//" else ("+", left, right - 1), right)
            raise _Unread

        try:
            return read(map_.results[0])
        except _Unread:
            return self._atom((op.results[0], SCALAR), False)

    # ---- extents

    def _extent(self, value: ir.Value, axis: int) -> Expr:
        kind = value.type
        if isinstance(kind, (ir.RankedTensorType, ir.MemRefType)) and not kind.is_dynamic_dim(axis):
            return int(kind.get_dim_size(axis))
        known = self._names.get(self._classes.find((value, axis)))
        if known is not None:
            return known
        op = _owner(value)
        found = None if op is None else self._made(op, value, axis)
        return self._atom((value, axis), True) if found is None else found

    def _made(self, op: ir.Operation, value: ir.Value, axis: int) -> Expr | None:
        """The extent as the op that makes ``value`` tells it; None where it does not."""
        name, operands = op.name, list(op.operands)
        kind = value.type
        if name in _ALLOCATES:
            return self._scalar(operands[sum(kind.is_dynamic_dim(before) for before in range(axis))])
        if name == "memref.view":
            return self._scalar(operands[2 + sum(kind.is_dynamic_dim(before) for before in range(axis))])
        if name in _LIKE:
            return self._extent(operands[-1] if name == "linalg.copy" else operands[0], axis)
        if name.startswith("linalg.") or name == "func.call":
            if name == "func.call" and not self._passes_destinations(op):
                return None
            position = next(number for number, result in enumerate(op.results) if result == value)
            return self._extent(operands[len(operands) - len(op.results) + position], axis)
        if name in ("memref.subview", "tensor.extract_slice") and operands[0].type.rank == kind.rank:
            return self._scalar(_size_of_slice(op, axis))
        if name == "tensor.insert_slice":
            return self._extent(operands[1], axis)
        if name in ("tensor.expand_shape", "memref.expand_shape"):
            sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_output_shape"]))
            before = sum(size == ir.ShapedType.get_dynamic_size() for size in sizes[:axis])
            return self._scalar(operands[1 + before])
        if name in ("tensor.collapse_shape", "memref.collapse_shape"):
            group = [ir.IntegerAttr(item).value for item in list(ir.ArrayAttr(op.attributes["reassociation"]))[axis]]
            return _product([self._extent(operands[0], inner) for inner in group])
        if name in ("tensor.concat", "stablehlo.concatenate"):
            along = ir.IntegerAttr(op.attributes["dim" if name == "tensor.concat" else "dimension"]).value
            parts = [self._extent(operand, axis) for operand in operands]
            return _sum(parts) if axis == along else parts[0]
        return None

    def _passes_destinations(self, call: ir.Operation) -> bool:
        """Whether what is called is a kernel: its last arguments have the shapes of its results."""
        callee = lookup(self._module, ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
        return callee is not None and "kc.kernel" in callee.attributes


class _Unread(Exception):
    """An affine expression has a part that is not followed."""


def _product(parts: Sequence[Expr]) -> Expr:
    return _joined("*", parts)


def _sum(parts: Sequence[Expr]) -> Expr:
    return _joined("+", parts)


def _joined(op: str, parts: Sequence[Expr]) -> Expr:
    made = parts[0]
    for part in parts[1:]:
        made = (op, made, part)
    return made


def _size_of_slice(op: ir.Operation, axis: int) -> ir.Value:
    """The operand that is the extent of a slice along an axis that is not static."""
    open_ = [
        [int(item) == ir.ShapedType.get_dynamic_size() for item in ir.DenseI64ArrayAttr(op.attributes[name])]
        for name in ("static_offsets", "static_sizes")
    ]
    return op.operands[1 + sum(open_[0]) + sum(open_[1][:axis])]


def _owner(value: ir.Value) -> ir.Operation | None:
    return None if isinstance(value.owner, ir.Block) else value.owner.operation
