"""``kc-convert-stablehlo-contraction``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir, stablehlo_api
from kc.pass_base import PassContext
from kc.passes.conversion._convert import StablehloConversion
from kc.passes.conversion._convolution import convolution
from kc.passes.conversion._emit import Emitter, element, ranked
from kc.passes.conversion._multiply_add import multiply_add
from kc.passes.conversion._scalar import unsigned_flags


@dataclasses.dataclass(frozen=True)
class ConvertStablehloContraction(StablehloConversion):
    """``dot_general``, ``dot`` and ``convolution`` to ``linalg.generic`` on the operands as they lie.

    No transpose is made: the indexing maps say which axes are batch, free and contracted. The accumulator has the
    result's element type (``kc-widen-accumulation`` has made that f32 for f16 and bf16); operand elements are extended
    to it in the body. Padding and dilation of a convolution's input become a ``tensor.pad`` or an insertion into zeros
    (dilated first, then padded or cut), groups a dimension of their own. Before / after::

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
    init = e.splat(type_, extents, e.const(element(type_), 0))
    flags = unsigned_flags(op)
    iterators = ["parallel"] * parallel + ["reduction"] * len(lhs_k)
    return e.generic([lhs, rhs], [init], maps, iterators, lambda i, a: [multiply_add(i, a, flags)])[0]
