"""``kc-pin-destinations``: a kernel's results are written into its destination arguments again."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.rewrite import walk_ops


@dataclasses.dataclass(frozen=True)
class PinDestinations(Pass):
    """Ties result ``i`` of a kernel to its ``i``-th destination argument after fusion.

    A kernel takes its destinations as its last arguments and returns them written. Fusion replaces such an argument,
    as the init of a linalg op, by ``tensor.empty`` where its old value is not read; bufferization would then
    allocate, and the kernel would no longer write where it is told to. The argument is put back in place of the
    ``tensor.empty``; a result that comes from anything else is copied into it. ::

        func.func private @k(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> attributes {kc.kernel} {
          %e = tensor.empty() : tensor<4xf32>
          %y = linalg.generic .. ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) ..
          return %y : tensor<4xf32>

    becomes ::

          %y = linalg.generic .. ins(%x : tensor<4xf32>) outs(%out : tensor<4xf32>) ..
          return %y : tensor<4xf32>
    """

    name: ClassVar[str] = "kc-pin-destinations"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for function in walk_ops(op, "func.func"):
            if "kc.kernel" in function.attributes and len(function.regions[0].blocks):
                _pin(function, ctx)


def _pin(function: Any, ctx: PassContext) -> None:
    block = function.regions[0].blocks[0]
    end = list(block.operations)[-1].operation
    values = list(end.operands)
    destinations = list(block.arguments)[len(block.arguments) - len(values) :]
    if [v.type for v in values] != [d.type for d in destinations]:
        ctx.error(function, "a kernel's last arguments must be its destinations, one for each result")
    for i, (value, destination) in enumerate(zip(values, destinations, strict=True)):
        if not _writes(value, destination):
            end.operands[i] = _copied(value, destination, end)


def _init(value: Any) -> tuple[Any, int] | None:
    """(op, number of the operand that the op writes ``value`` to), for ops that write in place."""
    if isinstance(value, ir.BlockArgument):
        return None
    op, number = value.owner.operation, value.result_number
    if op.name.startswith("linalg."):
        return op, len(op.operands) - len(op.results) + number
    if op.name in ("tensor.insert", "tensor.insert_slice"):
        return op, 1
    if op.name == "scf.for":
        block = op.regions[0].blocks[0]
        yielded = list(block.operations)[-1].operation.operands[number]
        if _is_updated(yielded, block.arguments[1 + number]):
            return op, 3 + number
    return None


def _is_updated(value: Any, carried: Any) -> bool:
    """Whether ``value`` is ``carried`` after a chain of ops that write in place."""
    while value != carried:
        if not isinstance(value, ir.BlockArgument) and value.owner.operation.name == "scf.if":
            op, number = value.owner.operation, value.result_number
            ends = [list(region.blocks[0].operations)[-1].operation for region in op.regions]
            return all(_is_updated(end.operands[number], carried) for end in ends)
        init = _init(value)
        if init is None:
            return False
        value = init[0].operands[init[1]]
    return True


def _writes(value: Any, destination: Any) -> bool:
    """Whether ``value`` is ``destination`` as a chain of ops (a fill, then a reduction; a loop that updates what it
    carries) has written it.

    A ``tensor.empty`` at the chain's beginning is replaced by ``destination``.
    """
    while True:
        init = _init(value)
        if init is None:
            return False
        owner, position = init
        current = owner.operands[position]
        if current == destination:
            return True
        if isinstance(current, ir.BlockArgument):
            return False
        if current.owner.operation.name == "tensor.empty":
            owner.operands[position] = destination
            return True
        value = current


def _copied(value: Any, destination: Any, end: Any) -> Any:
    """``value`` copied into ``destination`` before ``end``."""
    loc = end.location
    with ir.InsertionPoint(end):
        copy = ir.Operation.create(
            "linalg.copy",
            results=[value.type],
            operands=[value, destination],
            attributes={"operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1])},
            regions=1,
            loc=loc,
        )
    element = value.type.element_type
    body = copy.regions[0].blocks.append(element, element, arg_locs=[loc, loc])
    with ir.InsertionPoint(body):
        ir.Operation.create("linalg.yield", operands=[body.arguments[0]], loc=loc)
    return copy.results[0]
