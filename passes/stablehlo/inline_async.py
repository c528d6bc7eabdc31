"""``kc-inline-async``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.rewrite import replace_op, walk_ops


@dataclasses.dataclass(frozen=True)
class InlineAsync(Pass):
    """An asynchronous op runs where it is started: a process of kc's does one thing at a time.

    ``async_done`` becomes the value that ``async_start`` computed. Before / after::

        %f = "stablehlo.async_start"(%x) ({
        ^bb0(%a: tensor<4xf32>):
          %0 = "stablehlo.all_gather"(%a) ...
          stablehlo.return %0 : tensor<8xf32>
        }) : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>>
        %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>

        %r = "stablehlo.all_gather"(%x) ...

    Run it after inlining: a future that crosses a call or a region has no form below.
    """

    name: ClassVar[str] = "kc-inline-async"
    level: ClassVar[str] = "stablehlo"
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for start in walk_ops(op, "stablehlo.async_start"):
            block = start.regions[0].blocks[0]
            for argument, operand in zip(list(block.arguments), list(start.operands), strict=True):
                argument.replace_all_uses_with(operand)
            *body, end = [view.operation for view in block.operations]
            for inner in body:
                inner.move_before(start)
            for use in list(start.results[0].uses):
                done = use.owner.operation
                if done.name != "stablehlo.async_done" or len(end.operands) != len(done.results):
                    ctx.error(
                        done,
                        f"'{done.name}' uses a future: only 'stablehlo.async_done' can in a compiled program",
                        [(start, "the future is made here")],
                    )
                replace_op(done, list(end.operands))
            start.erase()
