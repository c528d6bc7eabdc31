"""Writing chosen terms back into the function that they came from."""
from __future__ import annotations

from typing import TYPE_CHECKING

from kc.agents.builtin.egraph.extract import ExtractionError
from kc.agents.builtin.egraph.saturate import Classes, Node
from kc.agents.builtin.egraph.terms import Encoder, Program, neutral, used_values

if TYPE_CHECKING:
    from kc.bindings import ir


def emit(function: ir.Operation, encoder: Encoder, program: Program, classes: Classes, chosen: dict[int, Node]) -> None:
    """Let every op that has no term, and the return, use the chosen terms; what is dead then is erased.

    Ops are made where they are first needed, in order of the text, so that each stands before its uses.
    """
    from kc.rewrite import walk_ops

    known: dict[ir.Value, str] = dict(encoder.names)
    told = {value for value, name in known.items() if name in program.roots}
    made: dict[int, ir.Value] = {}
    number_of = {value: number for number, value in enumerate(program.leaves)}
    ready = {number_of[argument] for argument in function.regions[0].blocks[0].arguments if argument in number_of}
    for op in [o.operation for o in function.regions[0].blocks[0].operations]:
        if any(result in known and result not in number_of for result in op.results):
            continue  # has a term: made again where it is needed
        here = _Emitter(op, program, classes, chosen, made, ready)
        replaced = {value: here.value(classes.of[known[value]]) for value in used_values(op) if value in told}
        for inner in (op, *walk_ops(op)):
            for position, value in enumerate(list(inner.operands)):
                if value in replaced:
                    inner.operands[position] = replaced[value]
        ready |= {number_of[result] for result in op.results if result in number_of}
    terms = {value for value in known if value not in number_of}
    for op in reversed([o.operation for o in function.regions[0].blocks[0].operations]):
        if op.results and all(not list(r.uses) for r in op.results) and any(r in terms for r in op.results):
            op.erase()


class _Emitter:
    """Makes the terms that one op needs, in front of it."""

    def __init__(self, op: ir.Operation, program: Program, classes: Classes, chosen: dict[int, Node],
                 made: dict[int, ir.Value], ready: set[int]):
        from kc.bindings import ir

        self.location, self.ip = op.location, ir.InsertionPoint(op)
        self.program, self.classes, self.chosen, self.made, self.ready = program, classes, chosen, made, ready

    def value(self, c: int) -> ir.Value:
        """The value of class ``c``."""
        if c not in self.made:
            self.made[c] = self._make(c, self.chosen[c])
        return self.made[c]

    def _op(self, name: str, operands: list[ir.Value], kind: ir.Type, **attributes: ir.Attribute) -> ir.Value:
        from kc.bindings import ir

        return ir.Operation.create(f"stablehlo.{name}", results=[kind], operands=operands, attributes=attributes,
                                   loc=self.location, ip=self.ip).result

    def _make(self, c: int, node: Node) -> ir.Value:
        from kc.bindings import ir

        parameters = node.parameters
        element, shape = self.classes.types[c]
        kind = ir.RankedTensorType.get(list(shape), ir.Type.parse(element), loc=self.location)
        if node.form == "Value":
            if parameters[0] not in self.ready:
                raise ExtractionError("a term needs the result of a later op")
            return self.program.leaves[parameters[0]]
        if node.form == "Fill":
            return self._fill(parameters[0], kind)
        operands = [self.value(o) for o in node.operands]
        if node.form in ("Un", "Bin"):
            return self._op(parameters[0], operands, kind)
        if node.form == "Compare":
            direction = ir.Attribute.parse(f"#stablehlo<comparison_direction {parameters[0]}>")
            return self._op("compare", operands, kind, comparison_direction=direction)
        if node.form in ("Select", "Convert", "Reshape"):
            return self._op(node.form.lower(), operands, kind)
        if node.form == "Reduce":
            return self._reduce(parameters[0], operands[0], parameters[1], kind)
        if node.form == "Dot":
            numbers = ir.Attribute.parse(_dot_numbers(len(shape), *parameters))
            return self._op("dot_general", operands, kind, dot_dimension_numbers=numbers)
        dims = ir.DenseI64ArrayAttr.get(list(parameters[0]))
        if node.form == "Transpose":
            return self._op("transpose", operands, kind, permutation=dims)
        assert node.form == "Broadcast", node.form
        return self._op("broadcast_in_dim", operands, kind, broadcast_dimensions=dims)

    def _fill(self, text: str, kind: ir.RankedTensorType) -> ir.Value:
        """A constant all of whose elements are the number that ``text`` says."""
        from kc.bindings import ir

        element = kind.element_type
        if isinstance(element, ir.IntegerType):
            number: ir.Attribute = ir.IntegerAttr.get(element, int(text))
        else:
            number = ir.FloatAttr.get(element, float(text), loc=self.location)
        return self._op("constant", [], kind, value=ir.DenseElementsAttr.get_splat(kind, number))

    def _reduce(self, name: str, operand: ir.Value, dims: tuple[int, ...], kind: ir.RankedTensorType) -> ir.Value:
        from kc.bindings import ir

        scalar = ir.RankedTensorType.get([], kind.element_type, loc=self.location)
        initial = self._fill(neutral(name, str(kind.element_type))[0], scalar)
        made = ir.Operation.create(
            "stablehlo.reduce", results=[kind], operands=[operand, initial], regions=1, loc=self.location, ip=self.ip,
            attributes={"dimensions": ir.DenseI64ArrayAttr.get(list(dims))},
        )
        block = made.regions[0].blocks.append(scalar, scalar, arg_locs=[self.location] * 2)
        with ir.InsertionPoint(block), self.location:
            both = ir.Operation.create(f"stablehlo.{name}", results=[scalar], operands=list(block.arguments))
            ir.Operation.create("stablehlo.return", operands=[both.result])
        return made.result


def _dot_numbers(rank: int, left_swapped: int, right_swapped: int) -> str:
    """The attribute of ``dot_general`` for products of the matrices in the last two dimensions."""
    batch = ", ".join(map(str, range(rank - 2)))
    left, right = rank - 2 if left_swapped else rank - 1, rank - 1 if right_swapped else rank - 2
    return (f"#stablehlo.dot<lhs_batching_dimensions = [{batch}], rhs_batching_dimensions = [{batch}], "
            f"lhs_contracting_dimensions = [{left}], rhs_contracting_dimensions = [{right}]>")
