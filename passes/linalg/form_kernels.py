"""kc-form-kernels: cuts a program on tensors into kernels."""
from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import ir
from kc.kernels.cluster import Clustering
from kc.kernels.destinations import Undestined
from kc.kernels.graph import BlockGraph
from kc.kernels.outline import Outliner
from kc.kernels.policy import Policy
from kc.kernels.prepare import prepare
from kc.kernels.structured import Cache
from kc.pass_base import Pass, PassContext
from kc.rewrite import walk_ops

_CONTROL = ("scf.for", "scf.while", "scf.if", "scf.execute_region", "scf.index_switch")


@dataclasses.dataclass(frozen=True)
class FormKernels(Pass):
    """Group producers and consumers into fused kernels and outline each as a function in destination-passing style.

    Every function of the module that is not itself a kernel is cut up, its loops' and branches' bodies included:
    elementwise ops join the contraction, reduction or elementwise op they feed or follow, reductions over the same
    rows join each other, and softmax between two contractions becomes attention, as far as ``kc.kernels.analyze`` can
    prove the result to be of one family. Cheap producers (fills, iota, broadcasts, transposes, widening casts) are
    repeated in each consumer. No contraction or reduction is computed twice. What is left in the caller: calls,
    control flow, reshapes and slices.

    Before::

        func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x2xf32>) -> tensor<8x2xf32> {
          %0 = linalg.matmul ins(%x, %w : ...) outs(%zero : tensor<8x2xf32>) -> tensor<8x2xf32>
          %1 = linalg.generic ... ins(%0 : ...) outs(%empty : ...) { math.tanh }
          return %1 : tensor<8x2xf32>
        }

    After::

        func.func @main(%x: tensor<8x4xf32>, %w: tensor<4x2xf32>) -> tensor<8x2xf32> {
          %0 = tensor.empty() : tensor<8x2xf32>
          %1 = call @main_k0(%x, %w, %0) : (tensor<8x4xf32>, tensor<4x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
          return %1 : tensor<8x2xf32>
        }
        func.func private @main_k0(%x, %w, %out) -> tensor<8x2xf32>
            attributes {kc.kernel, kc.kind = "contraction"} { ... }
    """

    name: ClassVar[str] = "kc-form-kernels"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "func", "linalg", "tensor")

    #: most ops in one kernel
    max_ops: int = 256
    #: most arguments of one kernel, destinations included
    max_operands: int = 32

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        module_block = op.regions[0].blocks[0]
        policy = Policy(max_ops=self.max_ops, max_operands=self.max_operands)
        names = {
            ir.StringAttr(inner.attributes["sym_name"]).value
            for inner in (view.operation for view in module_block.operations)
            if "sym_name" in inner.attributes
        }
        for function in walk_ops(op, ["func.func"]):
            if len(function.regions[0].blocks) == 0 or {"kc.kernel", "kc.impl", "kc.answer"} & set(function.attributes):
                continue
            if len(function.regions[0].blocks) > 1:
                ctx.error(function, "kernels can be formed only in structured control flow (scf), not between blocks")
            prefix = ir.StringAttr(function.attributes["sym_name"]).value
            prepare(function)
            self._block(function.regions[0].blocks[0], module_block, prefix, names, policy, ctx)

    def _block(self, block: ir.Block, module_block: ir.Block, prefix: str, names: set[str], policy: Policy,
               ctx: PassContext) -> None:  # fmt: skip
        graph = BlockGraph(block, Cache())
        clustering = Clustering(graph, policy)
        try:
            functions = Outliner(graph, clustering, prefix, names).run(module_block)
        except Undestined as error:
            ctx.error(error.value, f"kernel formation: {error}")
        ctx.count("kernels-formed", len(functions))
        for op in [view.operation for view in block.operations]:
            if op.name in _CONTROL:
                for region in op.regions:
                    for inner in region.blocks:
                        self._block(inner, module_block, prefix, names, policy, ctx)
