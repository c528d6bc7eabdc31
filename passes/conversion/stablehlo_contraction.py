"""``kc-convert-stablehlo-contraction``."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir, stablehlo_api
from kc.pass_base import PassContext
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._convolution import convolution
from kc.passes.conversion._emit import Emitter, Index, element, is_float, ranked, shape_of, tensor_type
from kc.passes.conversion._multiply_add import multiply_add, reassociable_add
from kc.passes.conversion._reshape import regroup
from kc.passes.conversion._scalar import unsigned_flags

#: from so many products on a float result is a sum of sums of blocks, where those are few numbers in all
_MANY, _BLOCK, _FEW = 1 << 16, 512, 1 << 20


@dataclasses.dataclass(frozen=True)
class ConvertStablehloContraction(StablehloConversion):
    """``dot_general``, ``dot`` and ``convolution`` to ``linalg.generic`` on the operands as they lie.

    No transpose is made: the indexing maps say which axes are batch, free and contracted. The accumulator has the
    result's element type (``kc-widen-accumulation`` has made that f32 for f16 and bf16); operand elements are extended
    to it in the body. Very many products on a few float results are added up in blocks. Padding and dilation of a
    convolution's input become a ``tensor.pad`` or an insertion into zeros (dilated first, then padded or cut), groups a
    dimension of their own. Before / after::

        %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
          : (tensor<4x8xbf16>, tensor<8x5xbf16>) -> tensor<4x5xf32>

        %r = linalg.generic {indexing_maps = [(i, j, k) -> (i, k), (i, j, k) -> (k, j), (i, j, k) -> (i, j)], ...}
          ins(%a, %b) outs(%zeros : tensor<4x5xf32>) { extf, extf, mulf, addf }
    """

    name: ClassVar[str] = "kc-convert-stablehlo-contraction"
    converts: ClassVar[frozenset[str]] = frozenset({"stablehlo.convolution", "stablehlo.dot", "stablehlo.dot_general"})

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value] | None:
        if op.name == "stablehlo.convolution":
            return [convolution(e, op)]
        return [_dot(e, op)]


def _dot(e: Emitter, op: ir.Operation) -> ir.Value:
    lhs, rhs = op.operands
    lhs_rank, rhs_rank = ranked(lhs).rank, ranked(rhs).rank
    if op.name == "stablehlo.dot":
        lhs_batch, rhs_batch, lhs_k, rhs_k = [], [], [lhs_rank - 1], [0]
    else:
        numbers = stablehlo_api.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
        lhs_batch, rhs_batch = list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)
        lhs_k, rhs_k = list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)
    lhs_free = [a for a in range(lhs_rank) if a not in lhs_batch + lhs_k]
    rhs_free = [a for a in range(rhs_rank) if a not in rhs_batch + rhs_k]
    parallel = len(lhs_batch) + len(lhs_free) + len(rhs_free)
    loops = parallel + len(lhs_k)
    # loops: batch, free of lhs, free of rhs (the result's axes in order), then the contracted ones
    lhs_loop = {a: i for i, a in enumerate([*lhs_batch, *lhs_free])} | {a: parallel + i for i, a in enumerate(lhs_k)}
    first = len(lhs_batch) + len(lhs_free)
    rhs_loop = {a: i for i, a in enumerate(rhs_batch)} | {a: first + i for i, a in enumerate(rhs_free)}
    rhs_loop |= {a: parallel + i for i, a in enumerate(rhs_k)}
    maps = [
        ir.AffineMap.get(loops, 0, [ir.AffineDimExpr.get(where[a]) for a in range(rank)])
        for where, rank in ((lhs_loop, lhs_rank), (rhs_loop, rhs_rank))
    ]
    maps.append(ir.AffineMap.get(loops, 0, [ir.AffineDimExpr.get(i) for i in range(parallel)]))
    extents = [*(e.dim(lhs, a) for a in lhs_batch + lhs_free), *(e.dim(rhs, a) for a in rhs_free)]
    type_ = op.results[0].type
    block = _block(lhs, lhs_k, extents, element(type_))
    if block is not None:
        return _in_blocks(e, op, (lhs, lhs_k[0], lhs_loop), (rhs, rhs_k[0], rhs_loop), block, extents)
    init = e.splat(type_, extents, e.const(element(type_), 0))
    flags = unsigned_flags(op)
    iterators = ["parallel"] * parallel + ["reduction"] * len(lhs_k)
    return e.generic([lhs, rhs], [init], maps, iterators, lambda i, a: [multiply_add(i, a, flags)])[0]


def _block(lhs: ir.Value, contracted: list[int], extents: list[Index], type_: ir.Type) -> int | None:
    """How many products to add up in one go where there are very many and few results: a divisor of their number."""
    many = shape_of(lhs)[contracted[0]] if len(contracted) == 1 else None
    if many is None or many <= _MANY or not is_float(type_) or not all(isinstance(n, int) for n in extents):
        return None
    block = max((d for d in range(_BLOCK // 2, 2 * _BLOCK + 1) if many % d == 0), default=None)
    if block is None or math.prod(n for n in extents if isinstance(n, int)) * (many // block) > _FEW:
        return None
    return block


def _in_blocks(
    e: Emitter,
    op: ir.Operation,
    lhs: tuple[ir.Value, int, dict[int, int]],
    rhs: tuple[ir.Value, int, dict[int, int]],
    block: int,
    extents: list[Index],
) -> ir.Value:
    """A contraction by blocks of the contracted axis: their sums, one more axis in front, are added up in the end."""
    type_, parallel = op.results[0].type, len(extents)
    t, loops = element(type_), parallel + 2
    operands, maps = [], []
    for value, axis, where in (lhs, rhs):
        shape, sizes = shape_of(value), e.dims(value)
        count = (shape[axis] or 0) // block
        groups = [[d] if d < axis else [axis, axis + 1] if d == axis else [d + 1] for d in range(len(shape))]
        split_type = tensor_type([*shape[:axis], count, block, *shape[axis + 1 :]], element(value))
        split = [*sizes[:axis], count, block, *sizes[axis + 1 :]]
        operands.append(regroup(e, "tensor.expand_shape", value, groups, split_type, split))
        dims = [ir.AffineDimExpr.get(1 + where[a]) for a in range(len(shape))]
        dims[axis : axis + 1] = [ir.AffineDimExpr.get(0), ir.AffineDimExpr.get(loops - 1)]
        maps.append(ir.AffineMap.get(loops, 0, dims))
    whole = [count, *extents]
    sums = tensor_type([n if isinstance(n, int) else None for n in whole], t)
    maps.append(ir.AffineMap.get(loops, 0, [ir.AffineDimExpr.get(d) for d in range(loops - 1)]))
    flags, zero = unsigned_flags(op), e.const(t, 0)
    iterators = ["parallel"] * (parallel + 1) + ["reduction"]
    init = e.splat(sums, whole, zero)
    parts = e.generic(operands, [init], maps, iterators, lambda i, a: [multiply_add(i, a, flags)])[0]
    maps = [
        ir.AffineMap.get_identity(parallel + 1),
        ir.AffineMap.get(parallel + 1, 0, [ir.AffineDimExpr.get(1 + d) for d in range(parallel)]),
    ]
    iterators = ["reduction"] + ["parallel"] * parallel
    total = e.splat(type_, extents, zero)
    return e.generic([parts], [total], maps, iterators, lambda i, a: [reassociable_add(i, a[1], a[0])])[0]
