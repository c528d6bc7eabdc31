"""``kc-decompose-deprecated``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.stablehlo._build import Builder
from kc.passes.stablehlo._einsum import EinsumError, einsum
from kc.rewrite import replace_op, walk_ops


@dataclasses.dataclass(frozen=True)
class DecomposeDeprecated(Pass):
    """``einsum``, ``unary_einsum`` and ``torch_index_select``, which left the StableHLO specification, by ops in it.

    An einsum is a ``dot_general`` between reductions and transposes, an index select a ``gather`` (an index beyond the
    ends is clamped, as there). Before / after::

        %r = stablehlo.einsum %a, %b, config = "ab,bc->ca" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>

        %d = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ... -> tensor<2x4xf32>
        %r = stablehlo.transpose %d, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>

    The configuration is NumPy's: letters, ``...`` for leading dimensions, and without ``->`` the letters that occur
    once, sorted.
    """

    name: ClassVar[str] = "kc-decompose-deprecated"
    level: ClassVar[str] = "stablehlo"
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for found in walk_ops(op, ("stablehlo.einsum", "stablehlo.unary_einsum", "stablehlo.torch_index_select")):
            if any("!quant." in str(v.type) for v in (*found.operands, *found.results)):
                ctx.error(
                    found,
                    f"'{found.name}' on a quantised type cannot be decomposed",
                    ["nearest thing that works: stablehlo.dot_general, or stablehlo.gather"],
                )
            if found.name == "stablehlo.torch_index_select":
                replace_op(found, [_index_select(found, ctx)])
                continue
            try:
                value = einsum(found, ir.StringAttr(found.attributes["einsum_config"]).value)
            except EinsumError as error:
                ctx.error(found, f"'{found.name}': {error}", ["nearest thing that works: stablehlo.dot_general"])
            replace_op(found, [value])


def _index_select(op: ir.Operation, ctx: PassContext) -> ir.Value:
    """``operand[b, ..., index[b, j], ...]``: ``batch_dims`` leading dimensions are those of both."""
    operand, index = op.operands
    b = Builder(op)
    shape, rank = b.shape(operand), len(b.shape(index))
    axis = ir.IntegerAttr(op.attributes["dim"]).value
    batch = ir.IntegerAttr(op.attributes["batch_dims"]).value
    axis += len(shape) if axis < 0 else 0
    batch += rank if batch < 0 else 0
    if not ir.RankedTensorType(operand.type).has_static_shape:
        ctx.error(
            op,
            "'stablehlo.torch_index_select' of an operand whose shape is only known at run time cannot be compiled",
            ["nearest thing that works: stablehlo.dynamic_gather"],
        )
    if not 0 <= batch <= axis < len(shape):
        ctx.error(op, f"'stablehlo.torch_index_select' has no dimension {axis} after {batch} batch dimensions")
    offsets = [*range(batch, axis), *range(axis + rank - batch, len(shape) + rank - batch - 1)]
    batches = list(range(batch))
    numbers = (
        f"#stablehlo.gather<offset_dims = {offsets}, collapsed_slice_dims = {[axis]}, "
        f"operand_batching_dims = {batches}, start_indices_batching_dims = {batches}, start_index_map = {[axis]}, "
        f"index_vector_dim = {rank}>"
    )
    attributes: dict[str, ir.Attribute] = {
        "dimension_numbers": ir.Attribute.parse(numbers),
        "slice_sizes": ir.DenseI64ArrayAttr.get([1 if a in (*batches, axis) else n for a, n in enumerate(shape)]),
    }
    return b.make("gather", [operand, index], op.results[0].type, attributes)
