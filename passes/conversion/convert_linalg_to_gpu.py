"""``kc-convert-linalg-to-gpu``: every linalg op left in host code becomes a ``gpu.launch``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.gpu._block_reduction import fold_per_output, select_per_output
from kc.passes.gpu._bodies import widen_half
from kc.passes.gpu._fills import fold_fills
from kc.passes.gpu._generic import Generic, static_product
from kc.passes.gpu._launch import Arith, Extent, launch_points
from kc.passes.gpu._memory import extent_of, is_contiguous, load, store


@dataclasses.dataclass(frozen=True)
class ConvertLinalgToGpu(Pass):
    """Maps ``linalg.generic`` on memrefs to blocks and threads.

    This is the general road: right for every body, with one thread per output element and the reduction loops inside
    it. The parallel loops are flattened in the order of the first output's axes, the innermost one fastest over
    threads, so that neighbouring threads touch neighbouring addresses. A reduction with an associative combiner over
    a long innermost loop, with few outputs, gets one block per output instead: each thread folds every ``block``-th
    element, then a tree in shared memory folds the threads. So does one that picks an element (arg max), in order.
    Half-precision arithmetic is done in f32, and half accumulators are kept in f32.

    Named ops must be generalised first (``linalg-generalize-named-ops``). ``memref.copy`` of buffers that are not
    contiguous is mapped in the same way.

    ::

        linalg.generic {... ["parallel"]} ins(%x : memref<1000xf32>) outs(%y : memref<1000xf32>) {...}
        // becomes
        gpu.launch blocks(%b, ..) in (4, 1, 1) threads(%t, ..) in (256, 1, 1) {
          %i = %b * 256 + %t
          scf.if %i < 1000 { load %x[%i]; ...; store %y[%i] }
        }
    """

    name: ClassVar[str] = "kc-convert-linalg-to-gpu"
    anchor: ClassVar[str] = "func.func"
    level: ClassVar[tuple[str, str]] = ("loops", "gpu")
    #: threads of a block
    block: int = 256
    #: a reduction gets a block per output when it has at least this many elements
    min_reduction: int = 64
    #: and at most this many outputs, unless its innermost loop is contiguous in memory
    max_outputs: int = 2048

    def __post_init__(self) -> None:
        if self.block < 32 or self.block > 1024 or self.block & (self.block - 1):
            raise ValueError("block must be a power of two from 32 to 1024")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        found: list[Any] = []

        def visit(inner: Any) -> ir.WalkResult:
            if inner.name in ("gpu.launch", "gpu.module"):
                return ir.WalkResult.SKIP
            if inner.name.startswith("linalg.") and inner.name not in ("linalg.yield", "linalg.index"):
                found.append(inner.operation)
                return ir.WalkResult.SKIP
            if inner.name == "memref.copy":
                found.append(inner.operation)
            return ir.WalkResult.ADVANCE

        op.walk(visit, ir.WalkOrder.PRE_ORDER)
        inits, found = fold_fills(found)
        for target in found:
            if target.name == "memref.copy":
                self._copy(target)
            elif target.name == "linalg.generic":
                self._generic(target, inits.get(target, {}), ctx)
            else:
                ctx.error(
                    target,
                    f"'{target.name}' is not in generic form: run linalg-generalize-named-ops before {self.name}",
                )

    # ---------------------------------------------------------------------------------------------------- copies

    def _copy(self, op: Any) -> None:
        source, target = op.operands
        if all(is_contiguous(v.type) for v in (source, target)):
            return  # kc-gpu-host-memory makes it one call
        with ir.InsertionPoint(op):
            a = Arith(op.location)
            extents = [extent_of(a, source, axis) for axis in range(source.type.rank)]

            def body(inner: Arith, ivs: list[Extent]) -> None:
                at = [inner.value(iv) for iv in ivs]
                store(inner, load(inner, source, at), target, at)

            launch_points(op.location, extents, body, self.block)
        op.erase()

    # --------------------------------------------------------------------------------------------------- generics

    def _generic(self, op: Any, inits: Mapping[int, Any], ctx: PassContext) -> None:
        generic = Generic(op, ctx, inits)
        selection = generic.selection() if generic.reduction else None
        if selection is None:
            widen_half(generic.block)
        with ir.InsertionPoint(op):
            a = Arith(op.location)
            extents = generic.extents(a)
            folds = generic.known_folds()
            empty = static_product(extents, generic.parallel) == 0
            by_blocks = bool(generic.reduction) and not empty and self._wants_block(generic, extents)
            if by_blocks and all(folds):
                fold_per_output(generic, a, extents, folds, self.block)
            elif by_blocks and selection is not None:
                select_per_output(generic, a, extents, selection, self.block)
            else:
                if by_blocks:
                    ctx.remark(op, "one thread per output does this reduction: its combiner has no known tree form")
                launch_points(
                    op.location,
                    [extents[d] for d in generic.parallel],
                    lambda i, at: generic.emit(i, at, extents),
                    self.block,
                )
        op.erase()

    def _wants_block(self, generic: Generic, extents: Sequence[Extent]) -> bool:
        length, outputs = static_product(extents, generic.reduction), static_product(extents, generic.parallel)
        if length is not None and length < self.min_reduction:
            return False
        return generic.innermost_is_reduced() or (outputs is not None and outputs <= self.max_outputs)
