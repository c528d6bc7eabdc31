"""How much work a region is: operations on floats, and bytes that its arguments and results hold."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kc.agents.regions import Region
from kc.agents.regions.dims import Extents
from kc.bindings import ir
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.agents.contract import Contract
    from kc.targets.base import Target

#: extent that stands for a dimension of which only a wide range is known
TYPICAL = 256
#: operations that a mathematical function counts for
_FUNCTION = 20
_FUNCTIONS = frozenset({
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "tanh", "erf", "erfc",
    "powf", "atan", "atan2", "cbrt", "exponential", "logistic", "power", "exponential_minus_one",
    "log_plus_one", "sine", "cosine",
})  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Effort:
    """One run at typical sizes: ``flops``, ``bytes`` of arguments and results, each once; ``kind`` of its numbers.

    None where it cannot be told.
    """

    flops: float | None = None
    bytes: float | None = None
    kind: str = "f32"


def typical_sizes(contract: Contract) -> dict[str, int]:
    """An extent for each dimension: ``TYPICAL``, as near as the contract's range lets it."""
    return {name: min(max(low, TYPICAL), high) for name, (low, high) in contract.sizes.items()}


def effort(region: Region, contract: Contract) -> Effort:
    """The effort of ``region`` at ``typical_sizes``. Flops are told at stablehlo and linalg only."""
    arguments = list(region.operation.regions[0].blocks[0].arguments)
    shapes = _Shapes(region, contract)
    moved: float | None = 0.0
    for argument in arguments:
        moved = _add(moved, argument, shapes)
    flops: float | None = 0.0 if region.level in ("stablehlo", "linalg") else None
    for op in walk_ops(region.operation):
        if flops is None:
            break
        if op.name.startswith("linalg.") and len(op.results):
            points = shapes.linalg(op)
            flops = None if points is None else flops + points * _body(op)
        elif op.name.startswith(("stablehlo.", "chlo.")) and _outside_regions(op):
            count = shapes.stablehlo(op)
            flops = None if count is None else flops + count
        elif op.name in ("scf.while", "scf.for", "func.call"):
            flops = None
        else:
            shapes.pass_on(op)
    if region.level in ("stablehlo", "linalg") and "kc.kernel" not in region.operation.attributes:
        for value in list(region.operation.regions[0].blocks[0].operations)[-1].operation.operands:
            moved = _add(moved, value, shapes)
    return Effort(flops, moved, _kind([argument.type for argument in arguments]))


def roofline_us(effort: Effort, target: Target) -> float | None:
    """The shortest time in µs in which the effort can be done on ``target``, where that is this machine's CPU."""
    if effort.bytes is None or target.name != "cpu" or not getattr(target, "is_host", False):
        return None
    from kc.agents.measure.machine import machine

    return machine().floor_us(effort.bytes, {effort.kind: effort.flops or 0.0})


class _Shapes:
    """Shapes of values at typical sizes, followed through the ops in order."""

    def __init__(self, region: Region, contract: Contract):
        self._sizes = typical_sizes(contract)
        dims = [argument.dims for argument in contract.arguments]
        self._extents = Extents(region.operation, dims)
        self._known: dict[ir.Value, list[int] | None] = {}

    def of(self, value: ir.Value) -> list[int] | None:
        """The shape of ``value``; None: not known."""
        found = self._known.get(value)
        return found if found is not None else self._extents.shape(value, self._sizes)

    def linalg(self, op: ir.Operation) -> float | None:
        """Points of a linalg op's loops."""
        extents: dict[int, int] = {}
        if "indexing_maps" not in op.attributes:  # fill, copy, and named ops: bounded by the operands
            shapes = [self.of(v) for v in op.operands if isinstance(v.type, ir.RankedTensorType)]
            if not shapes:  # linalg.index, a yield: part of another op
                return 0.0
            if any(shape is None for shape in shapes):
                return None
            self._set(op, shapes[-1] or [])
            if op.name.startswith("linalg.conv") or "matmul" in op.name:
                return _contraction(op.name, [s or [] for s in shapes])
            return math.prod(shapes[-1] or [])
        for operand, attribute in zip(op.operands, ir.ArrayAttr(op.attributes["indexing_maps"]), strict=True):
            shape = self.of(operand)
            for axis, expr in enumerate(ir.AffineMapAttr(attribute).value.results):
                if isinstance(expr, ir.AffineDimExpr) and shape is not None:
                    extents[expr.position] = max(shape[axis], extents.get(expr.position, 0))
        count = len(ir.ArrayAttr(op.attributes["iterator_types"])) if "iterator_types" in op.attributes else None
        if count is not None and len(extents) != count:
            return None
        outs = list(op.operands)[len(op.operands) - len(op.results) :]
        for result, out, attribute in zip(
            op.results, outs, list(ir.ArrayAttr(op.attributes["indexing_maps"]))[-len(outs) :], strict=True
        ):
            exprs = list(ir.AffineMapAttr(attribute).value.results)
            if all(isinstance(expr, ir.AffineDimExpr) for expr in exprs):
                self._known[result] = [extents[expr.position] for expr in exprs]
            else:
                self._known[result] = self.of(out)
        return math.prod(extents.values())

    def stablehlo(self, op: ir.Operation) -> float | None:
        """Operations of a StableHLO op."""
        if not len(op.results) or not isinstance(op.results[0].type, ir.RankedTensorType):
            return 0.0
        self.pass_on(op)
        name = op.name.partition(".")[2]
        shape = self.of(op.results[0])
        if name == "dot_general":
            left, numbers = self.of(op.operands[0]), str(op.attributes["dot_dimension_numbers"])
            text = numbers.partition("lhs_contracting_dimensions = [")[2].partition("]")[0]
            if left is None or shape is None:
                return None
            return 2.0 * math.prod(shape) * math.prod(left[int(word)] for word in text.split(",") if word.strip())
        if name == "convolution":
            kernel = self.of(op.operands[1])
            if kernel is None or shape is None:
                return None
            axes = str(op.attributes["dimension_numbers"]).partition("x[")[2].partition("]")[0].split(",")
            out = kernel[[word.strip() for word in axes].index("o")]
            return 2.0 * math.prod(shape) * math.prod(kernel) / max(out, 1)
        if name in ("reduce", "reduce_window"):
            shape = self.of(op.operands[0])
        if name in _MOVES:
            return 0.0
        return None if shape is None else math.prod(shape) * (_FUNCTION if name in _FUNCTIONS else 1.0)

    def pass_on(self, op: ir.Operation) -> None:
        """Give results the shape of an operand of the same rank, where their own is not known."""
        for result in op.results:
            if self.of(result) is None:
                rank = ir.RankedTensorType(result.type).rank if isinstance(result.type, ir.RankedTensorType) else -1
                same = [s for v in op.operands if (s := self.of(v)) is not None and len(s) == rank and _is_shaped(v)]
                fits = [s for s in same if _fits(result.type, s)]
                self._known[result] = fits[0] if fits else None

    def _set(self, op: ir.Operation, shape: list[int]) -> None:
        for result in op.results:
            self._known[result] = shape


_MOVES = frozenset({
    "constant", "reshape", "transpose", "broadcast_in_dim", "dynamic_broadcast_in_dim", "slice",
    "dynamic_slice", "concatenate", "gather", "pad", "iota", "get_dimension_size", "return", "reverse",
    "dynamic_reshape",
})  # fmt: skip


def _contraction(name: str, shapes: Sequence[Sequence[int]]) -> float:
    """Points of a named contraction or convolution from the shapes of its operands."""
    left, right, out = shapes[0], shapes[1], shapes[-1]
    if "matmul" in name:
        return float(math.prod(out) * left[-1])
    return float(math.prod(out) * math.prod(right)) / max(out[-1] if right[-1] == out[-1] else right[0], 1)


def _body(op: ir.Operation) -> float:
    """Float operations at one point of a linalg op."""
    total = 0.0
    for inner in walk_ops(op):
        dialect, _, name = inner.name.partition(".")
        if dialect == "math":
            total += _FUNCTION if name in _FUNCTIONS else 1
        elif dialect == "complex" or (
            dialect == "arith" and name.endswith("f") and name not in ("cmpf", "extf", "truncf")
        ):
            total += 1
    return total


def _add(total: float | None, value: ir.Value, shapes: _Shapes) -> float | None:
    """``total`` and the bytes of ``value``; None when either is not known."""
    if not isinstance(value.type, (ir.RankedTensorType, ir.MemRefType)):
        return total
    shape = shapes.of(value)
    return None if total is None or shape is None else total + math.prod(shape) * _bytes(value.type)


def _bytes(kind: ir.Type) -> float:
    text = str(kind.element_type if isinstance(kind, ir.ShapedType) else kind)
    digits = "".join(c for c in text.partition("E")[0] if c.isdigit())
    bits = int(digits) if digits else 64
    return (2 if text.startswith("complex") else 1) * max(bits, 8) / 8


def _kind(kinds: Sequence[ir.Type]) -> str:
    """The kind of number that the work is done in, as ``kc.agents.measure.machine`` names them."""
    elements = {str(k.element_type) for k in kinds if isinstance(k, ir.ShapedType)}
    if "f64" in elements or "complex<f64>" in elements:
        return "f64"
    return "f32" if elements & {"f32", "complex<f32>"} or not elements else "narrow"


def _fits(kind: ir.Type, shape: Sequence[int]) -> bool:
    assert isinstance(kind, ir.RankedTensorType)
    return all(kind.is_dynamic_dim(axis) or kind.get_dim_size(axis) == extent for axis, extent in enumerate(shape))


def _is_shaped(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType)


def _outside_regions(op: ir.Operation) -> bool:
    """Whether ``op`` is no part of another op's body (of a reduction's, which is counted with it)."""
    parent = op.parent
    return parent is not None and parent.operation.name.endswith("func")
