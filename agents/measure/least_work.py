"""The least work that there is in a region: what no right form of it can do without. Needs the compiler."""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kc.agents.contract import Contract
from kc.agents.measure.inputs import Argument
from kc.agents.measure.prepare import element, entry, parse

if TYPE_CHECKING:
    from kc.bindings import ir


@dataclasses.dataclass(frozen=True)
class Work:
    """What no right form of a region can do without: bytes of inputs to read, operations by kind of number."""

    input_bytes: int = 0
    operations: Mapping[str, float] = dataclasses.field(default_factory=dict)


def least_work(text: str, drawn: Sequence[Argument]) -> Work:
    """The work of a region on these arguments, where it is sure; nothing where a proposal might find a way round.

    Inputs count when no op could leave a part of them out; products of a contraction count when there is one and its
    sizes are static (two could be multiplied in another order).
    """
    module = parse(text)  # keeps the ops below alive
    main = entry(module)
    block = main.regions[0].blocks[0]
    ops = [op.operation for op in block.operations if op.operation.name not in _PLUMBING]
    if not all(_reads_all(op) and all(any(True for _ in r.uses) for r in op.results) for op in ops):
        return Work()
    used = [a for a, value in zip(drawn, block.arguments, strict=True) if any(map(_reads, value.uses))]
    read = sum(argument.nbytes for argument in used if argument.role == "in")
    contractions = [op for op in ops if op.name in _CONTRACTIONS]
    if len(contractions) != 1:
        return Work(read)
    products = _products(contractions[0])
    narrow = Contract.of(main).allows("low_precision")
    kind = element(contractions[0].operands[0].type)
    kind = kind if kind in ("f32", "f64") and not narrow else "narrow"
    return Work(read, {kind: 2.0 * products} if products else {})


_PLUMBING = frozenset({
    "func.return", "arith.constant", "stablehlo.constant", "tensor.empty", "tensor.dim", "tensor.expand_shape",
    "tensor.collapse_shape",
})
_CONTRACTIONS = frozenset({"stablehlo.dot_general", "stablehlo.dot", "linalg.matmul", "linalg.batch_matmul"})
_ELEMENTWISE = frozenset(
    f"stablehlo.{name}"
    for name in (
        "abs", "add", "atan2", "cbrt", "ceil", "convert", "cosine", "divide", "exponential",
        "exponential_minus_one", "floor", "log", "log_plus_one", "logistic", "maximum", "minimum", "multiply", "negate",
        "power", "remainder", "rsqrt", "sign", "sine", "sqrt", "subtract", "tan", "tanh", "broadcast_in_dim", "reshape",
        "transpose",
    )
)


#: numbers of a body on all of whose operands their value hangs
_SCALARS = frozenset(f"arith.{name}" for name in (
    "addf", "divf", "extf", "maximumf", "maxnumf", "minimumf", "minnumf", "mulf", "negf", "remf", "sitofp", "subf",
    "truncf", "uitofp",
)) | frozenset(f"math.{name}" for name in (
    "absf", "atan", "atan2", "cbrt", "ceil", "cos", "cosh", "erf", "exp", "exp2", "expm1", "floor", "fma", "log",
    "log10", "log1p", "log2", "powf", "round", "roundeven", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
))


def _reads_all(op: ir.Operation) -> bool:
    """Whether the op's results depend on all elements of its operands."""
    if op.name == "linalg.generic":
        return _body_reads_all(op)
    return op.name in _ELEMENTWISE or op.name in _CONTRACTIONS or op.name == "linalg.fill"


def _body_reads_all(op: ir.Operation) -> bool:
    """The same of a ``linalg.generic``: nothing but arithmetic on floats, all of which ends in what is yielded, on
    inputs that are indexed by the iteration's own numbers."""
    from kc.bindings import ir

    maps = [ir.AffineMapAttr(a).value for a in ir.ArrayAttr(op.attributes["indexing_maps"])]
    if not all(each.is_projected_permutation for each in maps):
        return False
    body = [inner.operation for inner in op.regions[0].blocks[0].operations]
    return all(
        inner.name in ("linalg.yield", "linalg.index", "arith.constant")
        or (inner.name in _SCALARS and any(True for _ in inner.results[0].uses))
        for inner in body
    )


def _reads(use: ir.OpOperand) -> bool:
    """Whether an op needs this operand's elements, not just the place or the extents."""
    op = use.owner.operation
    if op.name in ("tensor.dim", "linalg.fill"):
        return op.name == "linalg.fill" and use.operand_number == 0
    if op.name == "linalg.generic":
        return any(True for _ in op.regions[0].blocks[0].arguments[use.operand_number].uses)
    return True


def _products(op: ir.Operation) -> int:
    """Products of a contraction; 0 where its sizes are not static."""
    from kc.bindings import ir

    left, right = (ir.ShapedType(op.operands[i].type) for i in range(2))
    out = ir.ShapedType(op.results[0].type) if len(op.results) else ir.ShapedType(op.operands[2].type)
    if not all(t.has_static_shape for t in (left, right, out)):
        return 0
    # Batch sizes b, free sizes m and n, contracted k: left has b m k elements, right b k n, the result b m n.
    b = _batch(op)
    sizes = [math.prod(t.shape) for t in (left, right, out)]
    return math.isqrt(sizes[0] * sizes[1] * sizes[2] // b) if b else 0


def _batch(op: ir.Operation) -> int:
    """Product of the batch sizes of a contraction."""
    from kc.bindings import ir

    shape = list(ir.ShapedType(op.operands[0].type).shape)
    if op.name == "stablehlo.dot_general":
        from kc.bindings import stablehlo_api

        numbers = stablehlo_api.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
        return math.prod(shape[d] for d in numbers.lhs_batching_dimensions)
    return shape[0] if op.name == "linalg.batch_matmul" else 1
