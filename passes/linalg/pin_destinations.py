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
    """(linalg op, number of the operand that the op writes ``value`` to)."""
    if isinstance(value, ir.BlockArgument) or not value.owner.operation.name.startswith("linalg."):
        return None
    op = value.owner.operation
    return op, len(op.operands) - len(op.results) + value.result_number


def _writes(value: Any, destination: Any) -> bool:
    """Whether ``value`` is ``destination`` as a chain of linalg ops (a fill, then a reduction) has written it.

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
