"""``kc-legalize-selects``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import arith, ir, scf, tensor
from kc.pass_base import Pass, PassContext
from kc.rewrite import replace_op, walk_ops


@dataclasses.dataclass(frozen=True)
class LegalizeSelects(Pass):
    """``arith.select`` between whole tensors whose sizes are only known at run time becomes ``scf.if``.

    ``canonicalize`` folds an ``scf.if`` that yields one of two tensors into such a select, and
    ``convert-elementwise-to-linalg`` then reads both as if they had one size. They need not: each branch copies its own
    tensor into a new one, which keeps the branch from being folded again. Before / after::

        %r = arith.select %p, %a, %b : tensor<?xf32>

        %r = scf.if %p -> (tensor<?xf32>) {
          %n = tensor.dim %a, %c0 : tensor<?xf32>
          %e = tensor.empty(%n) : tensor<?xf32>
          %c = tensor.insert_slice %a into %e[0] [%n] [1] : tensor<?xf32> into tensor<?xf32>
          scf.yield %c : tensor<?xf32>
        } else { ... the same with %b ... }

    An ``scf.if`` whose branches both yield such a tensor from outside would become such a select: it gets copies, too.
    """

    name: ClassVar[str] = "kc-legalize-selects"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "scf", "tensor")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for select in walk_ops(op, ["arith.select"]):
            result = select.results[0].type
            if not isinstance(result, ir.RankedTensorType) or result.has_static_shape:
                continue
            condition, *choices = select.operands
            if isinstance(condition.type, ir.RankedTensorType):
                continue  # element by element: both have the size of the condition
            with ir.InsertionPoint(select), select.location:
                branch = scf.IfOp(condition, [result], has_else=True)
                for block, value in zip((branch.then_block, branch.else_block), choices, strict=True):
                    with ir.InsertionPoint(block):
                        scf.yield_([_copy(value)])
            replace_op(select, list(branch.operation.results))
        for branch in walk_ops(op, ["scf.if"]):
            for number, result in enumerate(branch.results):
                if isinstance(result.type, ir.RankedTensorType) and not result.type.has_static_shape:
                    _copy_what_passes(branch, number)


def _copy_what_passes(branch: ir.Operation, number: int) -> None:
    """Where both branches yield a value from outside as result ``number``, let each yield a copy."""
    ends = [list(region.blocks[0].operations)[-1].operation for region in branch.regions]
    if any(_block(end.operands[number]) == end.block for end in ends):
        return
    for end in ends:
        with ir.InsertionPoint(end), branch.location:
            end.operands[number] = _copy(end.operands[number])


def _block(value: ir.Value) -> ir.Block:
    return value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block


def _copy(value: ir.Value) -> ir.Value:
    """``value`` in a tensor of its own, at the ambient insertion point."""
    type_ = ir.RankedTensorType(value.type)
    index = ir.IndexType.get()
    dynamic = [type_.is_dynamic_dim(axis) for axis in range(type_.rank)]
    sizes = [tensor.dim(value, arith.constant(index, axis)) for axis in range(type_.rank) if dynamic[axis]]
    empty = ir.Operation.create("tensor.empty", results=[type_], operands=sizes).result
    unknown = ir.ShapedType.get_dynamic_size()
    static = [unknown if dynamic[axis] else type_.get_dim_size(axis) for axis in range(type_.rank)]
    return ir.Operation.create(
        "tensor.insert_slice",
        results=[type_],
        operands=[value, empty, *sizes],
        attributes={
            "static_offsets": ir.DenseI64ArrayAttr.get([0] * type_.rank),
            "static_sizes": ir.DenseI64ArrayAttr.get(static),
            "static_strides": ir.DenseI64ArrayAttr.get([1] * type_.rank),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, 0, len(sizes), 0]),
        },
    ).result
