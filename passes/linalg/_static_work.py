"""How much a kernel of linalg ops computes, where its shapes say so."""

from __future__ import annotations

import math

from kc.bindings import ir

#: arithmetic ops that a mathematical function becomes (``kc-expand-math``, counted), roughly
_COSTS = {
    **dict.fromkeys(("math.absf", "math.absi", "math.ceil", "math.floor", "math.fma", "math.sqrt", "math.trunc"), 1),
    **dict.fromkeys(("math.exp", "math.exp2", "math.expm1", "math.log", "math.log1p", "math.tanh", "math.erf"), 35),
    **dict.fromkeys(("math.sin", "math.cos", "math.tan", "math.powf", "math.sincos"), 180),
}
_OTHER_MATH = 80
_LOOPS = ("scf.for", "scf.while", "scf.parallel", "scf.forall")


def static_work(function: ir.Operation) -> float:
    """Scalar ops that one run of ``function`` takes: infinitely many where shapes or loops do not say."""
    total = 0.0

    def visit(inner: ir.Operation) -> ir.WalkResult:
        nonlocal total
        if inner == function:
            return ir.WalkResult.ADVANCE
        name = inner.name
        if name.startswith("linalg."):
            total += _points(inner) * _cost(inner)
            return ir.WalkResult.SKIP
        if name in _LOOPS:
            total = math.inf
            return ir.WalkResult.INTERRUPT
        total += 1
        return ir.WalkResult.ADVANCE

    function.walk(visit, ir.WalkOrder.PRE_ORDER)
    return total


def _points(op: ir.Operation) -> float:
    """Points of an op's iteration space; where no indexing maps are written, an upper bound of them."""
    shapes: list[list[int]] = []
    for value in op.operands:
        kind = value.type
        if isinstance(kind, ir.RankedTensorType):
            if not kind.has_static_shape:
                return math.inf
            shapes.append(list(kind.shape))
        else:
            shapes.append([])
    if "indexing_maps" not in op.attributes:
        return math.prod(math.prod(shape) for shape in shapes)
    sizes: dict[int, int] = {}
    for shape, attribute in zip(shapes, op.attributes["indexing_maps"], strict=True):
        for extent, expr in zip(shape, attribute.value.results, strict=False):
            if isinstance(expr, ir.AffineDimExpr):
                sizes[expr.position] = extent
    return math.prod(sizes.values())


def _cost(op: ir.Operation) -> float:
    """Scalar ops at one point: those of the body, and a load or store for each operand."""
    cost = float(len(op.operands))

    def visit(inner: ir.Operation) -> ir.WalkResult:
        nonlocal cost
        name = inner.name
        if name in _LOOPS:
            cost = math.inf
            return ir.WalkResult.INTERRUPT
        cost += _COSTS.get(name, _OTHER_MATH) if name.startswith("math.") else name != "arith.constant"
        return ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return cost
