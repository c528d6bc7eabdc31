"""``kc-flatten-tuples``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.rewrite import walk_ops

_SOURCES = (
    "stablehlo.after_all",
    "stablehlo.create_token",
    "stablehlo.custom_call",
    "stablehlo.get_tuple_element",
    "stablehlo.infeed",
    "stablehlo.outfeed",
    "stablehlo.recv",
    "stablehlo.send",
    "stablehlo.tuple",
)
_TRANSFERS = ("stablehlo.infeed", "stablehlo.outfeed", "stablehlo.recv", "stablehlo.send")


@dataclasses.dataclass(frozen=True)
class FlattenTuples(Pass):
    """Values of tuple type become their elements, tokens vanish: in functions, calls, control flow and custom calls.

    Nested tuples are flattened in order. An entry function gives and takes the elements as separate arrays, and no
    tokens. Ops with side effects keep the order in which they stand, so that tokens, which demand less, say nothing
    more; each transfer keeps one that it needs to be valid. Before / after::

        func.func @f(%t: tuple<tensor<4xf32>, !stablehlo.token>) -> tuple<tensor<4xf32>> {
          %x = stablehlo.get_tuple_element %t[0] : (tuple<...>) -> tensor<4xf32>
          %r = stablehlo.tuple %x : tuple<tensor<4xf32>>
          return %r : tuple<tensor<4xf32>>

        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          return %x : tensor<4xf32>
    """

    name: ClassVar[str] = "kc-flatten-tuples"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "stablehlo"
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        functions = [f for f in op.regions[0].blocks[0].operations if f.operation.name == "func.func"]
        signatures = any(
            _special(t)
            for f in functions
            for t in (*_function_type(f.operation).inputs, *_function_type(f.operation).results)
        )
        if not signatures and not walk_ops(op, _SOURCES):
            return
        for function in functions:
            _function(function.operation, ctx)


def _special(type_: ir.Type) -> bool:
    return isinstance(type_, ir.TupleType) or str(type_) == "!stablehlo.token"


def _flat(type_: ir.Type) -> list[ir.Type]:
    """The types of the values that one of this type becomes."""
    if isinstance(type_, ir.TupleType):
        tuple_ = ir.TupleType(type_)
        return [t for k in range(tuple_.num_types) for t in _flat(tuple_.get_type(k))]
    return [] if _special(type_) else [type_]


def _function_type(function: ir.Operation) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)


def _function(function: ir.Operation, ctx: PassContext) -> None:
    kind = _function_type(function)
    for name, types in (("arg_attrs", kind.inputs), ("res_attrs", kind.results)):
        if name in function.attributes and any(map(_special, types)):
            old = list(ir.ArrayAttr(function.attributes[name]))
            new = [old[k] if len(_flat(t)) == 1 else ir.DictAttr.get({}) for k, t in enumerate(types) for _ in _flat(t)]
            function.attributes[name] = ir.ArrayAttr.get(new)
    inputs = [t for type_ in kind.inputs for t in _flat(type_)]
    results = [t for type_ in kind.results for t in _flat(type_)]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))
    flattening = _Flattening(ctx)
    for region in function.regions:
        flattening.region(region)


class _Flattening:
    """Flattens the ops of a function. ``values``: what each value of a special type has become."""

    def __init__(self, ctx: PassContext):
        self.ctx = ctx
        self.values: dict[ir.Value, list[ir.Value]] = {}

    def region(self, region: ir.Region) -> None:
        for block in region.blocks:
            arguments = list(block.arguments)
            changed = any(_special(a.type) for a in arguments)
            if changed:
                for argument in arguments:
                    new = [block.add_argument(t, argument.location) for t in _flat(argument.type)]
                    if _special(argument.type):
                        self.values[argument] = new
                    else:
                        argument.replace_all_uses_with(new[0])
            stale = [done for op in list(block.operations) for done in self._op(op.operation)]
            for op in reversed(stale):
                op.erase()
            if changed:
                for number in reversed(range(len(arguments))):
                    block.erase_argument(number)

    def _expand(self, values: Sequence[ir.Value]) -> list[ir.Value]:
        return [new for value in values for new in (self.values[value] if _special(value.type) else [value])]

    def _op(self, op: ir.Operation) -> list[ir.Operation]:
        """Flattens one op; gives it back when it is to be erased."""
        name = op.name
        if name in ("stablehlo.after_all", "stablehlo.create_token"):
            self.values[op.results[0]] = []
            return [op]
        if name == "stablehlo.tuple":
            self.values[op.results[0]] = self._expand(op.operands)
            return [op]
        if name == "stablehlo.get_tuple_element":
            return self._element(op)
        types = [v.type for v in (*op.operands, *op.results)]
        blocks = [b for r in op.regions for b in r.blocks]
        if not any(map(_special, types)) and not any(_special(a.type) for b in blocks for a in b.arguments):
            for region in op.regions:
                self.region(region)
            return []
        new = self._rebuild(op)
        for region in new.regions:
            self.region(region)
        return [op]

    def _element(self, op: ir.Operation) -> list[ir.Operation]:
        source = op.operands[0]
        number = ir.IntegerAttr(op.attributes["index"]).value
        tuple_ = ir.TupleType(source.type)
        start = sum(len(_flat(tuple_.get_type(k))) for k in range(number))
        taken = self.values[source][start : start + len(_flat(tuple_.get_type(number)))]
        if _special(op.results[0].type):
            self.values[op.results[0]] = taken
        else:
            op.results[0].replace_all_uses_with(taken[0])
        return [op]

    def _rebuild(self, op: ir.Operation) -> ir.Operation:
        """The op on flattened values, in front of it, with its regions."""
        if "output_operand_aliases" in op.attributes and any(_special(v.type) for v in op.operands):
            aliases = ir.ArrayAttr(op.attributes["output_operand_aliases"])
            if len(aliases):
                self.ctx.error(
                    op,
                    f"'{op.name}' with output_operand_aliases takes a tuple or a token, which moves what they number",
                    ["nearest thing that works: the same call on arrays"],
                )
        operands = self._expand(op.operands)
        results = [t for r in op.results for t in _flat(r.type)]
        point = ir.InsertionPoint(op)
        if op.name in _TRANSFERS:  # these do not verify without a token
            token = ir.Type.parse("!stablehlo.token")
            made = ir.Operation.create("stablehlo.create_token", results=[token], loc=op.location, ip=point)
            operands.append(made.result)
            results.append(token)
        new = ir.Operation.create(
            op.name,
            results=results,
            operands=operands,
            attributes=_attributes(op, len(operands), len(results)),
            regions=len(op.regions),
            loc=op.location,
            ip=point,
        )
        for source, target in zip(op.regions, new.regions, strict=True):
            for block in list(source.blocks):
                block.append_to(target)
        flat = iter(new.results)
        for result in op.results:
            values = [next(flat) for _ in _flat(result.type)]
            if _special(result.type):
                self.values[result] = values
            else:
                result.replace_all_uses_with(values[0])
        return new


def _attributes(op: ir.Operation, operands: int, results: int) -> dict[str, ir.Attribute]:
    """The attributes of ``op``; layouts that do not fit the flattened values are the default ones and go."""
    kept = {name: op.attributes[name] for name in op.attributes}
    if "operand_layouts" in kept:
        layouts = list(ir.ArrayAttr(kept["operand_layouts"]))
        if len(layouts) == len(op.operands):
            layouts = [x for x, v in zip(layouts, op.operands, strict=True) if str(v.type) != "!stablehlo.token"]
        kept["operand_layouts"] = ir.ArrayAttr.get(layouts)
    if "result_layouts" in kept:
        layouts = list(ir.ArrayAttr(kept["result_layouts"]))
        if len(layouts) == len(op.results):
            layouts = [x for x, v in zip(layouts, op.results, strict=True) if str(v.type) != "!stablehlo.token"]
        kept["result_layouts"] = ir.ArrayAttr.get(layouts)
    wrong = len(ir.ArrayAttr(kept["operand_layouts"])) != operands if "operand_layouts" in kept else False
    wrong |= len(ir.ArrayAttr(kept["result_layouts"])) != results if "result_layouts" in kept else False
    if wrong:
        kept.pop("operand_layouts", None)
        kept.pop("result_layouts", None)
    return kept
