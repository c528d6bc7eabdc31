"""kc-propagate-reshapes: moves reshapes past linalg ops, so that they do not stand between ops that should fuse."""
from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import ir
from kc.kernels.expand import Split, expand_loops, find_splits_of_operands, find_splits_of_results
from kc.kernels.slices import expand_before_slice
from kc.pass_base import Pass, PassContext
from kc.rewrite import walk_ops


@dataclasses.dataclass(frozen=True)
class PropagateReshapes(Pass):
    """Move ``tensor.collapse_shape`` below, and ``tensor.expand_shape`` above, the linalg ops they feed or follow.

    A linalg op on a collapsed tensor becomes the op on the uncollapsed one with one more loop, where the collapsed
    axis is indexed by a parallel loop alone; likewise for an op whose result is expanded. PyTorch's batched products
    come as ``collapse, batch_matmul, expand``; afterwards all ops of an attention block work on the same axes and
    fuse. A slice of a tensor that is then expanded (one of PyTorch's joined q, k, v) becomes a slice of the expanded
    tensor.

    Before::

        %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
        %1 = linalg.generic ... ins(%0) outs(%e : tensor<6x4xf32>) { math.exp }

    After::

        %0 = linalg.generic ... ins(%x) outs(%e : tensor<2x3x4xf32>) { math.exp }
        %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
    """

    name: ClassVar[str] = "kc-propagate-reshapes"
    anchor: ClassVar[str] = "func.func"
    level: ClassVar[str] = "linalg"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "linalg", "tensor")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        if len(op.regions[0].blocks) == 0 or "kc.kernel" in op.attributes:
            return
        for item in walk_ops(op, ["tensor.expand_shape"]):
            if expand_before_slice(item):
                ctx.count("slices-moved")
        present = {o.name for o in walk_ops(op)}
        names = {name for name in present if name.startswith("linalg.") and name != "linalg.fill"}
        if present.isdisjoint(("tensor.collapse_shape", "tensor.expand_shape")):
            return
        for finder, order in ((find_splits_of_operands, 1), (find_splits_of_results, -1)):
            ops = [o for o in walk_ops(op, names) if len(o.results) == 1][::order] if names else []
            for item in ops:
                splits: dict[int, Split] = finder(item)
                if splits:
                    with item.location:
                        expand_loops(item, splits)
                    ctx.count("ops-expanded")
