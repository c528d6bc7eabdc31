"""``kc-pin-destinations``: a kernel's results stay tied to its destination arguments."""
from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.rewrite import walk_ops


@dataclasses.dataclass(frozen=True)
class PinDestinations(Pass):
    """Says in the IR that result ``i`` of a kernel is written into its ``i``-th destination argument.

    A kernel takes its destinations as its last arguments and returns them written. Fusion may replace such an argument as
    the init of a linalg op by ``tensor.empty`` when its old value is not read; the kernel would then allocate. With
    ``bufferization.materialize_in_destination``, ``eliminate-empty-tensors`` puts the argument back. ::

        func.func private @k(%x: tensor<4xf32>, %out: tensor<4xf32>) -> tensor<4xf32> attributes {kc.kernel} {
          %y = linalg.generic .. outs(%out : tensor<4xf32>) ..
          return %y : tensor<4xf32>

    becomes ::

          %y = linalg.generic .. outs(%out : tensor<4xf32>) ..
          %z = bufferization.materialize_in_destination %y in %out : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          return %z : tensor<4xf32>
    """

    name: ClassVar[str] = "kc-pin-destinations"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("bufferization",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for function in walk_ops(op, "func.func"):
            if "kc.kernel" not in function.attributes:
                continue
            block = function.regions[0].blocks[0]
            end = list(block.operations)[-1].operation
            values = list(end.operands)
            destinations = list(block.arguments)[len(block.arguments) - len(values) :]
            if [v.type for v in values] != [d.type for d in destinations]:
                ctx.error(function, "a kernel's last arguments must be its destinations, one for each result")
            with ir.InsertionPoint(end):
                for i, (value, destination) in enumerate(zip(values, destinations, strict=True)):
                    pinned = ir.Operation.create(
                        "bufferization.materialize_in_destination",
                        results=[value.type],
                        operands=[value, destination],
                        loc=function.location,
                    )
                    end.operands[i] = pinned.results[0]
