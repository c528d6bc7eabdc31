"""``kc-convert-loops-to-gpu``: loops that load and store device memory run on the device."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.gpu import _nests as nests
from kc.passes.gpu._launch import Arith, Extent, launch_points, launch_single
from kc.passes.gpu._memory import load, store
from kc.passes.gpu._updates import LastWriter, make_atomic


@dataclasses.dataclass(frozen=True)
class ConvertLoopsToGpu(Pass):
    """Maps loop nests of scalar loads and stores in host code to ``gpu.launch``.

    Candidates are the outermost ``scf`` loops (and an ``scf.if`` that stores) which touch device memory and hold
    nothing that only the host can do: a launch, a call, an allocation, a copy, a linalg op. Loops whose iterations are
    independent become threads: ``scf.parallel``, and ``scf.for`` when every buffer that the body writes is only
    accessed at an index that is the loop's variable (or a fixed one-to-one function of it). These may be the outermost
    loops of the nest, or loops further in that are independent over all iterations of those around them: each thread
    then runs the outer ones (a scatter of rows: a thread per column; a scan of planes: a thread per column and plane).
    Loops that are marked ``kc.independent`` (the chunks of a sort) or ``kc.unique`` (the updates of a scatter with
    unique indices) count as such.

    Where the only writes are updates such as ``x[k] = f(x[k], v)`` they are done atomically (by one instruction, or a
    loop around compare-and-swap) and all loops become threads. Where the only writes are stores ``x[k] = v`` of what
    nothing reads, a first launch notes for every place which iteration comes last, and in the second one that
    iteration alone stores: the result is that of the loop. Updates whose result depends on their order (float
    additions, by rounding) keep it where loops further in give threads enough and those around them are short.
    Everything else runs in a single thread, with a remark: right, and slow.

    Scalars that the loop returns travel through a device buffer of one element; the host's load of it comes after the
    launch. Run ``loop-invariant-code-motion`` first, and ``scf-forall-to-parallel``.

    ::

        scf.for %i = %c0 to %n step %c1 { %v = memref.load %x[%i]; memref.store %v, %y[%i] }
        // becomes
        gpu.launch blocks(..) in (ceildiv(%n, 256), 1, 1) threads(..) in (256, 1, 1) { scf.if %i < %n { .. } }
    """

    name: ClassVar[str] = "kc-convert-loops-to-gpu"
    anchor: ClassVar[str] = "func.func"
    level: ClassVar[tuple[str, str]] = ("loops", "gpu")
    #: threads of a block
    block: int = 256

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        for region in op.regions:
            for block in region.blocks:
                self._block(block, ctx)

    def _block(self, block: Any, ctx: PassContext) -> None:
        for op in [o.operation for o in block.operations]:
            if op.name.startswith(("gpu.", "linalg.")):
                continue
            if nests.runs_on_device(op):
                self._launch(op, ctx)
                continue
            for region in op.regions:
                for inner in region.blocks:
                    self._block(inner, ctx)

    def _launch(self, op: Any, ctx: PassContext) -> None:
        plan = nests.plan(op)
        if plan is None:
            self._single(op)
            if op.name != "scf.if":
                ctx.remark(
                    op, f"this {op.name} runs in a single GPU thread: its iterations are not known to be independent"
                )
            return
        if plan.stores:
            self._last_writer(op, plan)
            return
        for update in plan.updates:
            make_atomic(update)
        with ir.InsertionPoint(op):
            self._points(op, plan)

    def _points(self, op: Any, plan: nests.Plan, finish: Callable[[Arith, Extent], None] | None = None) -> None:
        """Launch one thread per iteration of the plan's loops, in place of ``op``; ``finish`` gets its number."""
        a = Arith(op.location)
        bounds = [bound for loop in plan.loops for bound in nests.bounds(loop)]
        extents: list[Extent] = [a.trip_count(lower, upper, step) for lower, upper, step in bounds]

        def body(inner: Arith, at: list[Extent]) -> None:
            if finish is not None:
                linear: Extent = 0
                for i, extent in zip(at, extents, strict=True):
                    linear = inner.add(inner.mul(linear, extent), i)
                finish(inner, linear)
            ivs = [
                inner.value(inner.add(lower, inner.mul(i, step)))
                for i, (lower, _, step) in zip(at, bounds, strict=True)
            ]
            nests.move_nest(op, plan.groups, ivs)

        if launch_points(op.location, extents, body, self.block) is None:
            op.erase()

    def _last_writer(self, op: Any, plan: nests.Plan) -> None:
        """Two launches of the nest: the first finds for every place which iteration comes last, the second stores."""
        with ir.InsertionPoint(op):
            a = Arith(op.location)
            last = LastWriter(a, plan.stores, nests.trips(plan.loops, 1 << 31), self.block)
            search = op.clone().operation
            copy = nests.plan(search)
            assert copy is not None and copy.stores, "a copy of a nest has the nest's plan"
            self._points(search, copy, lambda _, linear: last.claim(copy.stores, linear))
        after = ir.InsertionPoint.after(op)
        with ir.InsertionPoint(op):
            self._points(op, plan, lambda _, linear: last.guard(plan.stores, linear))
        with after:
            last.free(Arith(a.location))

    def _single(self, op: Any) -> None:
        """Move ``op`` into a kernel of one thread; its results come back through device buffers."""
        kinds = [value.type for value in op.results]
        with ir.InsertionPoint(op):
            a = Arith(op.location)
            segments = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])}
            buffers = [
                a.op("memref.alloc", [], [ir.MemRefType.get([], kind, loc=op.location)], segments) for kind in kinds
            ]
            launch = launch_single(op.location, lambda inner: None)
        with ir.InsertionPoint.after(launch):
            after = Arith(op.location)
            for value, buffer in zip(list(op.results), buffers, strict=True):
                value.replace_all_uses_with(load(after, buffer, []))
                after.op("memref.dealloc", [buffer], [])
        terminator = list(launch.regions[0].blocks[0].operations)[-1].operation
        op.move_before(terminator)
        with ir.InsertionPoint(terminator):
            inside = Arith(op.location)
            for value, buffer in zip(list(op.results), buffers, strict=True):
                store(inside, value, buffer, [])
