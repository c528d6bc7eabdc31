"""``kc-split-empty-tensors``: every destination has a ``tensor.empty`` of its own."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass
from kc.passes.loops._functions import is_implementation, unscheduled
from kc.rewrite import walk_ops

if TYPE_CHECKING:
    from kc.pass_base import PassContext


@dataclasses.dataclass(frozen=True)
class SplitEmptyTensors(Pass):
    """Give each user of a shared ``tensor.empty`` its own, and each reduction on a shared ``linalg.fill`` of one its
    own.

    CSE merges empty tensors of one shape. Bufferization then sees one buffer with many writers: it copies, and its
    analysis takes time that grows with the cube of the number of users. A loop that carries on what it writes to an
    empty tensor from outside would copy it in every iteration; it gets one inside. ::

        %e = tensor.empty() : tensor<4xf32>
        %a = linalg.map … outs(%e)
        %b = linalg.map … outs(%e)

    becomes ::

        %e = tensor.empty() : tensor<4xf32>
        %a = linalg.map … outs(%e)
        %e_0 = tensor.empty() : tensor<4xf32>
        %b = linalg.map … outs(%e_0)
    """

    name: ClassVar[str] = "kc-split-empty-tensors"
    anchor: ClassVar[str] = "any"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("linalg", "tensor")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        """See the class."""
        for root in unscheduled(op):
            if root.name == "func.func" and is_implementation(root):
                continue
            for fill in walk_ops(root, "linalg.fill"):
                if fill.results and _is_empty(fill.operands[1]):
                    _split(fill)
            for empty in walk_ops(root, "tensor.empty"):
                _split(empty)


def _is_empty(value: ir.Value) -> bool:
    owner = value.owner
    return not isinstance(owner, ir.Block) and owner.operation.name == "tensor.empty"


def _split(op: ir.Operation) -> None:
    """Clone ``op`` (the one before it too, for a fill's empty tensor) before each user but one that overwrites it.

    Users that only read keep sharing: only a write makes a buffer of its own worth having.
    """
    uses = [(use.owner.operation, use.operand_number) for use in op.results[0].uses]
    writers = [(user, number) for user, number in uses if _overwrites(user, number)]
    if len(writers) == len(uses) and writers and not _hands_on(writers[-1][0], op):
        writers.pop()  # keeps what there is
    for user, number in writers:
        clone = op.clone(ir.InsertionPoint(user))
        if op.name == "linalg.fill":
            clone.operands[1] = op.operands[1].owner.operation.clone(ir.InsertionPoint(clone)).results[0]
        user.operands[number] = clone.results[0]
    if uses and len(writers) == len(uses):
        op.erase()


def _hands_on(user: ir.Operation, op: ir.Operation) -> bool:
    """Whether ``user`` is in a loop that ``op`` is not in, and its result is carried to the next iteration."""
    if user.block == op.block:
        return False
    return any(use.owner.operation.name == "scf.yield" for result in user.results for use in result.uses)


def _overwrites(user: ir.Operation, number: int) -> bool:
    """Whether operand ``number`` is a destination: an ``outs`` of linalg, a call's argument, a loop's initial value."""
    if user.name.startswith("linalg."):
        if "operandSegmentSizes" not in user.attributes:
            return number == len(user.operands) - 1
        return number >= user.attributes["operandSegmentSizes"][0]
    if user.name == "tensor.insert_slice":
        return number == 1
    return user.name in ("func.call", "scf.for", "scf.while", "scf.forall", "tensor.insert", "tensor.scatter")
