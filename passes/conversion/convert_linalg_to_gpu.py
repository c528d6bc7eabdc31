"""``kc-convert-linalg-to-gpu``: every linalg op left in host code becomes a ``gpu.launch``."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any, ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.passes.gpu import _bodies as bodies
from kc.passes.gpu._launch import (
    Arith,
    Extent,
    compare,
    end_loop,
    for_loop,
    if_block,
    launch_points,
    make_launch,
)
from kc.passes.gpu._memory import extent_of, is_contiguous, load, store

_DYNAMIC = ir.ShapedType.get_dynamic_size()

# One entry per output: the fold that makes it, None for another form; a value, None where nothing reads it.
Folds = Sequence[Any]
Values = list[Any]


@dataclasses.dataclass(frozen=True)
class ConvertLinalgToGpu(Pass):
    """Maps ``linalg.generic`` on memrefs to blocks and threads.

    This is the general road: right for every body, with one thread per output element and the reduction loops inside
    it. The parallel loops are flattened in the order of the first output's axes, the innermost one fastest over
    threads, so that neighbouring threads touch neighbouring addresses. A reduction with an associative combiner over
    a long innermost loop, with few outputs, gets one block per output instead: each thread folds every ``block``-th
    element, then a tree in shared memory folds the threads. Half-precision arithmetic is done in f32, and half
    accumulators are kept in f32.

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
        for target in found:
            if target.name == "memref.copy":
                self._copy(target)
            elif target.name == "linalg.generic":
                self._generic(target, ctx)
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

    def _generic(self, op: Any, ctx: PassContext) -> None:
        generic = _Generic(op, ctx)
        bodies.widen_half(generic.block)
        with ir.InsertionPoint(op):
            a = Arith(op.location)
            extents = generic.extents(a)
            folds = generic.known_folds()
            wants_block = generic.reduction and self._wants_block(generic, extents)
            if wants_block and all(folds):
                self._block_per_output(generic, a, extents, folds)
            else:
                if wants_block:
                    ctx.remark(op, "one thread per output does this reduction: its combiner has no known tree form")
                launch_points(
                    op.location,
                    [extents[d] for d in generic.parallel],
                    lambda i, at: generic.emit(i, at, extents),
                    self.block,
                )
        op.erase()

    def _wants_block(self, generic: _Generic, extents: Sequence[Extent]) -> bool:
        length, outputs = _static_product(extents, generic.reduction), _static_product(extents, generic.parallel)
        if length is not None and length < self.min_reduction:
            return False
        return generic.innermost_is_reduced() or (outputs is not None and outputs <= self.max_outputs)

    def _block_per_output(self, generic: _Generic, a: Arith, extents: Sequence[Extent], folds: Folds) -> None:
        outputs = a.product([extents[d] for d in generic.parallel])
        if isinstance(outputs, int) and outputs == 0:
            return
        length = _static_product(extents, generic.reduction)
        block = self.block if length is None else min(self.block, max(32, 1 << (length - 1).bit_length()))
        space = ir.Attribute.parse("#gpu.address_space<workgroup>")
        shared = [ir.MemRefType.get([block], fold.type, memory_space=space, loc=a.location) for fold in folds]
        _, inside = make_launch(a, outputs, block, shared)
        thread, tiles = inside.arguments[3], list(inside.arguments)[12:]
        with ir.InsertionPoint.at_block_terminator(inside):
            k = Arith(a.location)
            point = dict(
                zip(
                    generic.parallel,
                    k.delinearize(inside.arguments[0], [extents[d] for d in generic.parallel]),
                    strict=False,
                )
            )
            reduced = [extents[d] for d in generic.reduction]
            initial = generic.initial(k, point, folds)
            starts = [fold.neutral(k) for fold in folds]
            loop, loop_body = for_loop(k, thread, k.product(reduced), block, starts)
            with ir.InsertionPoint(loop_body):
                inner = Arith(a.location)
                point.update(zip(generic.reduction, inner.delinearize(loop_body.arguments[0], reduced), strict=False))
                carried = list(loop_body.arguments)[1:]
                end_loop(inner, loop_body, generic.inline(inner, point, folds, carried))
            for tile, partial in zip(tiles, loop.results, strict=False):
                store(k, partial, tile, [thread])
            self._tree(k, block, thread, tiles, folds)
            with ir.InsertionPoint.at_block_terminator(if_block(k, compare(k, "eq", thread, 0))):
                t = Arith(a.location)
                totals = [
                    fold.combine(t, first, load(t, tile, [thread]))
                    for fold, first, tile in zip(folds, initial, tiles, strict=False)
                ]
                generic.write(t, point, totals)

    def _tree(self, a: Arith, block: int, thread: Any, tiles: Sequence[Any], folds: Folds) -> None:
        """Fold the ``block`` values of every tile into its first, all tiles in step."""
        _loop, body = for_loop(a, 1, block.bit_length(), 1, [])
        with ir.InsertionPoint(body):
            step = Arith(a.location)
            step.op("gpu.barrier", [], [])
            stride = step.op("arith.shrui", [step.value(block), body.arguments[0]], [step.index_type])
            with ir.InsertionPoint.at_block_terminator(if_block(step, compare(step, "ult", thread, stride))):
                t = Arith(a.location)
                other = t.add(thread, stride)
                for tile, fold in zip(tiles, folds, strict=False):
                    total = fold.combine(t, load(t, tile, [thread]), load(t, tile, [other]))
                    store(t, total, tile, [thread])
            end_loop(step, body, [])


class _Generic:
    """One ``linalg.generic`` on memrefs and scalars. Emitting it moves its body into the kernel, so it can be done
    once.
    """

    def __init__(self, op: Any, ctx: PassContext) -> None:
        self.op, self.ctx = op, ctx
        self.block = op.regions[0].blocks[0]
        counts = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
        self.operands = list(op.operands)
        self.inputs, self.outputs = self.operands[: counts[0]], self.operands[counts[0] :]
        self.maps = [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(op.attributes["indexing_maps"])]
        kinds = ["reduction" in str(kind) for kind in ir.ArrayAttr(op.attributes["iterator_types"])]
        if len(op.results):
            ctx.error(op, "this linalg op is still on tensors: run one-shot-bufferize first")
        self.reduction = [d for d, reduced in enumerate(kinds) if reduced]
        self.parallel = self._parallel_order([d for d, reduced in enumerate(kinds) if not reduced])

    def _parallel_order(self, dims: list[int]) -> list[int]:
        """Loops in the order of the first output's axes: the last one is contiguous in memory there."""
        axes = [e.position for e in self.maps[len(self.inputs)].results if isinstance(e, ir.AffineDimExpr)]
        first = [d for d in dims if d not in axes]
        return first + [d for d in axes if d in dims]

    def innermost_is_reduced(self) -> bool:
        """Whether the last axis of some input runs over a reduction loop."""
        for value, index_map in zip(self.inputs, self.maps, strict=False):
            results = list(index_map.results)
            if isinstance(value.type, ir.MemRefType) and results and isinstance(results[-1], ir.AffineDimExpr):
                return results[-1].position in self.reduction and results[-1].position == max(self.reduction)
        return False

    def extents(self, a: Arith) -> list[Extent]:
        """The extent of every loop, read off the operands' shapes."""
        found: dict[int, Extent] = {}
        for value, index_map in zip(self.operands, self.maps, strict=False):
            if not isinstance(value.type, ir.MemRefType):
                continue
            for axis, expression in enumerate(index_map.results):
                if isinstance(expression, ir.AffineDimExpr):
                    d = expression.position
                    if value.type.shape[axis] != _DYNAMIC:
                        found[d] = value.type.shape[axis]
                    elif d not in found:
                        found[d] = extent_of(a, value, axis)
        count = self.maps[0].n_dims
        missing = [d for d in range(count) if d not in found]
        if missing:
            self.ctx.error(self.op, f"the extent of loop {missing[0]} is not the extent of any operand's axis")
        return [found[d] for d in range(count)]

    def emit(self, a: Arith, at: list[Extent], extents: Sequence[Extent]) -> None:
        """The whole op for one point of the parallel loops, reductions as serial loops that carry the accumulators."""
        point = dict(zip(self.parallel, at, strict=False))
        folds = self.known_folds()
        carried = self.initial(a, point, folds)
        self.write(a, point, self._reduce(a, self.reduction, extents, point, folds, carried))

    def _reduce(
        self,
        a: Arith,
        dims: Sequence[int],
        extents: Sequence[Extent],
        point: dict[int, Extent],
        folds: Folds,
        carried: Values,
    ) -> Values:
        if not dims:
            return self.inline(a, point, folds, carried)
        loop, body = for_loop(a, 0, extents[dims[0]], 1, [value for value in carried if value is not None])
        point[dims[0]] = body.arguments[0]
        with ir.InsertionPoint(body):
            inner = Arith(a.location)
            end_loop(inner, body, self._reduce(inner, dims[1:], extents, point, folds, list(body.arguments)[1:]))
        return list(loop.results)

    def known_folds(self) -> Folds:
        """For every output the fold that makes it, None where the body has another form."""
        yielded = list(self._terminator().operands)
        return [
            bodies.find_fold(argument, value) for argument, value in zip(self._accumulators(), yielded, strict=False)
        ]

    def _terminator(self) -> Any:
        return list(self.block.operations)[-1].operation

    def _accumulators(self) -> list[Any]:
        return list(self.block.arguments)[len(self.inputs) :]

    def _coordinates(self, a: Arith, position: int, point: dict[int, Extent]) -> list[Any]:
        dims: list[Extent] = [point.get(d, 0) for d in range(self.maps[position].n_dims)]
        try:
            return [a.value(bodies.affine_value(a, e, dims)) for e in self.maps[position].results]
        except ValueError as error:
            self.ctx.error(self.op, f"cannot map this op to the GPU: {error}")

    def initial(self, a: Arith, point: dict[int, Extent], folds: Folds) -> Values:
        """The outputs' values before the op, in their fold's type; None where the body does not look at them."""
        values: Values = []
        for i, (output, argument, fold) in enumerate(zip(self.outputs, self._accumulators(), folds, strict=False)):
            if not self.reduction and not bodies.users_of(argument):
                values.append(None)
                continue
            value = load(a, output, self._coordinates(a, len(self.inputs) + i, point))
            values.append(
                value if fold is None or fold.type == value.type else a.op("arith.extf", [value], [fold.type])
            )
        return values

    def inline(self, a: Arith, point: dict[int, Extent], folds: Folds, carried: Values) -> Values:
        """Move the body to the ambient insertion point; returns what it yields, accumulators in their fold's type."""
        for i, (value, argument) in enumerate(zip(self.inputs, list(self.block.arguments), strict=False)):
            if not bodies.users_of(argument):
                continue
            if isinstance(value.type, ir.MemRefType):
                value = load(a, value, self._coordinates(a, i, point))
            argument.replace_all_uses_with(value)
        for argument, value in zip(self._accumulators(), carried, strict=False):
            if value is None:
                continue
            if value.type == argument.type:
                argument.replace_all_uses_with(value)
            else:  # widened: the extension of the accumulator is the carried value itself
                extension = bodies.users_of(argument)[0]
                extension.results[0].replace_all_uses_with(value)
                extension.erase()
        terminator = self._terminator()
        results = list(terminator.operands)
        for i, fold in enumerate(folds):
            if self.reduction and fold is not None and fold.type != results[i].type:
                results[i] = results[i].owner.operation.operands[0]  # what the rounding at the end rounds
        here = ir.InsertionPoint.current
        for op in [o.operation for o in self.block.operations]:
            if op != terminator:
                op.detach_from_parent()
                here.insert(op)
                self._replace_indices(op, point)
        return results

    def _replace_indices(self, root: Any, point: dict[int, Extent]) -> None:
        """Replace ``linalg.index`` in and below ``root``."""
        found: list[Any] = []

        def visit(op: Any) -> ir.WalkResult:
            if op.name == "linalg.index":
                found.append(op.operation)
            return ir.WalkResult.ADVANCE

        root.walk(visit)
        for op in found:
            with ir.InsertionPoint(op):
                dim = ir.IntegerAttr(op.attributes["dim"]).value
                op.results[0].replace_all_uses_with(Arith(op.location).value(point[dim]))
            op.erase()

    def write(self, a: Arith, point: dict[int, Extent], values: Values) -> None:
        """Store the outputs, accumulators rounded to the element type."""
        for i, (value, output) in enumerate(zip(values, self.outputs, strict=False)):
            element = output.type.element_type
            if value.type != element:
                value = a.op("arith.truncf", [value], [element])
            store(a, value, output, self._coordinates(a, len(self.inputs) + i, point))


def _static_product(extents: Sequence[Extent], dims: Sequence[int]) -> int | None:
    sizes = [extents[d] for d in dims]
    if not all(isinstance(size, int) for size in sizes):
        return None
    return math.prod(size for size in sizes if isinstance(size, int))
