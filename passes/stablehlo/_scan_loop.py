"""``chlo.scan`` as a ``stablehlo.while``."""

from __future__ import annotations

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.stablehlo._build import Builder


def scan_loop(op: ir.Operation, ctx: PassContext) -> list[ir.Value]:
    """The results of a ``chlo.scan`` (outputs, then carries), computed in front of it by a loop.

    Step k takes position k of the scanned dimension (the last ones first when it runs in reverse) of every input,
    without that dimension, and the carries; the body gives an element of every output, written at that position, and
    the new carries. The body's ops move into the loop. Shapes must be static.
    """
    return _Loop(op, ctx).results()


class _Loop:
    def __init__(self, op: ir.Operation, ctx: PassContext):
        self.op, self.loc = op, op.location
        count = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
        self.inputs, self.inits = list(op.operands)[:count], list(op.operands)[count:]
        self.outputs = [r.type for r in list(op.results)[: len(op.results) - len(self.inits)]]
        self.axis = ir.IntegerAttr(op.attributes["dimension"]).value
        self.reverse = "is_reverse" in op.attributes and bool(ir.BoolAttr(op.attributes["is_reverse"]).value)
        shapes = [ir.RankedTensorType(t) for t in (*(v.type for v in self.inputs), *self.outputs)]
        if not shapes or not all(s.has_static_shape for s in shapes):
            ctx.error(
                op,
                f"'{op.name}' of shapes that are only known at run time cannot be compiled",
                ["nearest thing that works: static shapes, or a stablehlo.while"],
            )
        self.length = shapes[0].shape[self.axis]
        self.number = ir.RankedTensorType.get([], ir.IntegerType.get_signless(64), loc=self.loc)

    def results(self) -> list[ir.Value]:
        b = Builder(self.op)
        start = [b.splat(0, self.number), *self.inits]
        start += [b.splat(0, t) for t in self.outputs]
        types = [v.type for v in start]
        loop = b.op("while", start, types, regions=2)
        test, body = (r.blocks.append(*types, arg_locs=[self.loc] * len(types)) for r in loop.regions)
        inside = b.at_end(test)
        inside.op("return", [inside.compare("LT", test.arguments[0], inside.splat(self.length, self.number))], [])
        self._step(b.at_end(body), body)
        carries = len(self.inits)
        return [*list(loop.results)[1 + carries :], *list(loop.results)[1 : 1 + carries]]

    def _step(self, b: Builder, block: ir.Block) -> None:
        counter, *carried = block.arguments
        carries, outputs = carried[: len(self.inits)], carried[len(self.inits) :]
        place = counter
        if self.reverse:
            place = b.bin("subtract", b.splat(self.length - 1, self.number), counter)
        zero = b.splat(0, self.number)
        source = self.op.regions[0].blocks[0]
        values = [self._slice(b, v, place, zero) for v in self.inputs]
        for argument, value in zip(source.arguments, [*values, *carries], strict=True):
            argument.replace_all_uses_with(value)
        *inner, end = [o.operation for o in source.operations]
        returned = list(end.operands)
        marker = b.op("return", [], [])
        for moved in inner:
            moved.move_before(marker)
        marker.erase()
        following = [b.bin("add", counter, b.splat(1, self.number)), *returned[len(outputs) :]]
        for value, target in zip(returned, outputs, strict=False):
            part = b.reshape(value, [1 if a == self.axis else n for a, n in enumerate(b.shape(target))])
            at = [place if a == self.axis else zero for a in range(len(b.shape(target)))]
            following.append(b.make("dynamic_update_slice", [target, part, *at], target.type))
        b.op("return", following, [])

    def _slice(self, b: Builder, value: ir.Value, place: ir.Value, zero: ir.Value) -> ir.Value:
        """Position ``place`` of the scanned dimension, without that dimension."""
        sizes = [1 if a == self.axis else n for a, n in enumerate(b.shape(value))]
        at = [place if a == self.axis else zero for a in range(len(sizes))]
        attributes: dict[str, ir.Attribute] = {"slice_sizes": ir.DenseI64ArrayAttr.get(sizes)}
        part = b.make("dynamic_slice", [value, *at], b.tensor(sizes, b.element(value)), attributes)
        del sizes[self.axis]
        return b.reshape(part, sizes)
