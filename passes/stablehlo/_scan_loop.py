"""``chlo.scan`` as a ``stablehlo.while``."""

from __future__ import annotations

from collections.abc import Sequence

from kc.bindings import ir
from kc.pass_base import PassContext


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
        outer = ir.InsertionPoint(self.op)
        start = [self._constant(outer, self.number, 0), *self.inits]
        start += [self._constant(outer, t, 0) for t in self.outputs]
        types = [v.type for v in start]
        loop = self._op(outer, "stablehlo.while", start, types, regions=2)
        test, body = (r.blocks.append(*types, arg_locs=[self.loc] * len(types)) for r in loop.regions)
        inside = ir.InsertionPoint(test)
        bit = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1), loc=self.loc)
        less = {"comparison_direction": ir.Attribute.parse("#stablehlo<comparison_direction LT>")}
        operands = [test.arguments[0], self._constant(inside, self.number, self.length)]
        self._op(inside, "stablehlo.return", [self._op(inside, "stablehlo.compare", operands, [bit], less).result], [])
        self._step(body)
        carries = len(self.inits)
        return [*list(loop.results)[1 + carries :], *list(loop.results)[1 : 1 + carries]]

    def _step(self, block: ir.Block) -> None:
        ip = ir.InsertionPoint(block)
        counter, *carried = block.arguments
        carries, outputs = carried[: len(self.inits)], carried[len(self.inits) :]
        place = counter
        if self.reverse:
            last = self._constant(ip, self.number, self.length - 1)
            place = self._op(ip, "stablehlo.subtract", [last, counter], [self.number]).result
        zero = self._constant(ip, self.number, 0)
        source = self.op.regions[0].blocks[0]
        values = [self._slice(ip, v, place, zero) for v in self.inputs]
        for argument, value in zip(source.arguments, [*values, *carries], strict=True):
            argument.replace_all_uses_with(value)
        *inner, end = [o.operation for o in source.operations]
        returned = list(end.operands)
        marker = self._op(ip, "stablehlo.return", [], [])
        for moved in inner:
            moved.move_before(marker)
        marker.erase()
        one = self._constant(ip, self.number, 1)
        following = [self._op(ip, "stablehlo.add", [counter, one], [self.number]).result]
        following += returned[len(outputs) :]
        for value, target in zip(returned, outputs, strict=False):
            kind = ir.RankedTensorType(target.type)
            shape = [1 if a == self.axis else n for a, n in enumerate(kind.shape)]
            row = ir.RankedTensorType.get(shape, kind.element_type, loc=self.loc)
            part = self._op(ip, "stablehlo.reshape", [value], [row]).result
            at = [place if a == self.axis else zero for a in range(kind.rank)]
            following.append(self._op(ip, "stablehlo.dynamic_update_slice", [target, part, *at], [kind]).result)
        self._op(ip, "stablehlo.return", following, [])

    def _slice(self, ip: ir.InsertionPoint, value: ir.Value, place: ir.Value, zero: ir.Value) -> ir.Value:
        """Position ``place`` of the scanned dimension, without that dimension."""
        kind = ir.RankedTensorType(value.type)
        sizes = [1 if a == self.axis else n for a, n in enumerate(kind.shape)]
        row = ir.RankedTensorType.get(sizes, kind.element_type, loc=self.loc)
        at = [place if a == self.axis else zero for a in range(kind.rank)]
        part = self._op(
            ip, "stablehlo.dynamic_slice", [value, *at], [row], {"slice_sizes": ir.DenseI64ArrayAttr.get(sizes)}
        )
        del sizes[self.axis]
        thin = ir.RankedTensorType.get(sizes, kind.element_type, loc=self.loc)
        return self._op(ip, "stablehlo.reshape", [part.result], [thin]).result

    def _constant(self, ip: ir.InsertionPoint, type_: ir.Type, value: int) -> ir.Value:
        """Through text, which has a form for every element type."""
        element = ir.RankedTensorType(type_).element_type
        text = f"{value}.0" if isinstance(element, ir.FloatType) else str(value)
        if isinstance(element, ir.ComplexType):
            text = f"({value}.0,0.0)"
        elif str(element) == "i1":
            text = "true" if value else "false"
        made = ir.Operation.parse(f'"stablehlo.constant"() {{value = dense<{text}> : {type_}}} : () -> {type_}')
        ip.insert(made)
        return made.results[0]

    def _op(
        self,
        ip: ir.InsertionPoint,
        name: str,
        operands: Sequence[ir.Value],
        results: Sequence[ir.Type],
        attributes: dict[str, ir.Attribute] | None = None,
        regions: int = 0,
    ) -> ir.Operation:
        return ir.Operation.create(
            name,
            results=list(results),
            operands=list(operands),
            attributes=attributes or {},
            regions=regions,
            loc=self.loc,
            ip=ip,
        )
