"""A ``linalg.generic`` on buffers, ready to be emitted into kernels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.gpu import _bodies as bodies
from kc.passes.gpu._launch import Arith, Extent, end_loop, for_loop
from kc.passes.gpu._memory import extent_of, load, store
from kc.passes.gpu._selection import Selection, find_selection

_DYNAMIC = ir.ShapedType.get_dynamic_size()

# One entry per output: the fold that makes it, None for another form; a value, None where nothing reads it.
Folds = Sequence[Any]
Values = list[Any]


class Generic:
    """One ``linalg.generic`` on memrefs and scalars. Emitting it moves its body into the kernel, so it can be done
    once.
    """

    def __init__(self, op: Any, ctx: PassContext, inits: Mapping[int, Any] | None = None) -> None:
        self.op, self.ctx, self.inits = op, ctx, dict(inits or {})
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
        """Whether every input that varies in a reduction loop has the innermost such loop as its last axis."""
        lasts = []
        for value, index_map in zip(self.inputs, self.maps, strict=False):
            results = list(index_map.results)
            used = set(self.reduction) & {d for e in results for d in bodies.dims_of(e)}
            if isinstance(value.type, ir.MemRefType) and used:
                last = results[-1]
                lasts.append(isinstance(last, ir.AffineDimExpr) and last.position == max(self.reduction))
        return bool(lasts) and all(lasts)

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
            value = self.inits.get(i)
            if value is None:
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
        self._move([o.operation for o in self.block.operations if o.operation != terminator], point)
        return results

    def inline_elements(self, a: Arith, point: dict[int, Extent], selection: Selection) -> None:
        """Move all of the body but the combiner of ``selection`` to the ambient insertion point.

        ``selection.elements`` are then the values there.
        """
        elements = list(selection.elements)
        for i, (value, argument) in enumerate(zip(self.inputs, list(self.block.arguments), strict=False)):
            if isinstance(value.type, ir.MemRefType):
                value = load(a, value, self._coordinates(a, i, point))
            elements = [value if element == argument else element for element in elements]
            argument.replace_all_uses_with(value)
        selection.elements = elements
        kept = [*selection.operations(), self._terminator()]
        self._move([o.operation for o in self.block.operations if o.operation not in kept], point)

    def _move(self, ops: Sequence[Any], point: dict[int, Extent]) -> None:
        """Move ``ops`` of the body to the ambient insertion point."""
        here = ir.InsertionPoint.current
        for op in ops:
            op.detach_from_parent()
            here.insert(op)
            self._replace_indices(op, point)

    def selection(self) -> Selection | None:
        """How the reduction picks elements, if that is what it does."""
        return find_selection(self._accumulators(), list(self._terminator().operands))

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


def static_product(extents: Sequence[Extent], dims: Sequence[int]) -> int | None:
    sizes = [extents[d] for d in dims]
    if not all(isinstance(size, int) for size in sizes):
        return None
    return math.prod(size for size in sizes if isinstance(size, int))
