"""``kc-convert-stablehlo-control-flow``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import PassContext
from kc.passes.conversion._convert import StablehloConversion, check_types
from kc.passes.conversion._emit import Emitter, is_int, ranked
from kc.rewrite import replace_op, walk_ops


@dataclasses.dataclass(frozen=True)
class ConvertStablehloControlFlow(StablehloConversion):
    """``while``, ``if``, ``case`` to ``scf``; ``optimization_barrier`` to its operands.

    Integer scalars that a loop carries (counters, predicates) are carried as plain integers, so that they stay on the
    host. A ``case`` whose index is out of range takes the last branch. Before / after::

        %r = stablehlo.while(%i = %c0) : tensor<i32> cond { ... stablehlo.return %p : tensor<i1> } do { ... }

        %s = tensor.extract %c0[] : tensor<i32>
        %w = scf.while (%a = %s) : (i32) -> i32 {
          %i = tensor.from_elements %a : tensor<i32> ... scf.condition(%q) %a : i32
        } do { ... scf.yield %n : i32 }
        %r = tensor.from_elements %w : tensor<i32>
    """

    name: ClassVar[str] = "kc-convert-stablehlo-control-flow"
    converts: ClassVar[frozenset[str]] = frozenset(
        {"stablehlo.while", "stablehlo.if", "stablehlo.case", "stablehlo.optimization_barrier"}
    )

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        # innermost first: a block that moves takes converted ops along
        for found in reversed(walk_ops(op, self.converts)):
            check_types(found, ctx)
            replace_op(found, self.convert(Emitter.before(found), found, ctx))

    def convert(self, e: Emitter, op: ir.Operation, ctx: PassContext) -> Sequence[ir.Value]:
        if op.name == "stablehlo.optimization_barrier":
            return list(op.operands)
        if op.name == "stablehlo.while":
            return _while(e, op)
        return _branch(e, op)


def _on_host(type_: ir.Type) -> bool:
    return isinstance(type_, ir.RankedTensorType) and ranked(type_).rank == 0 and is_int(ranked(type_).element_type)


def _unwrap(e: Emitter, values: Sequence[ir.Value]) -> list[ir.Value]:
    return [e.extract(v) if _on_host(v.type) else v for v in values]


def _wrap(e: Emitter, values: Sequence[ir.Value], types: Sequence[ir.Type]) -> list[ir.Value]:
    return [e.from_elements([v], t) if _on_host(t) else v for v, t in zip(values, types, strict=True)]


def _take_block(source: ir.Region, target: ir.Region) -> tuple[ir.Block, ir.Operation]:
    """Move the only block of ``source`` to ``target``, its integer scalar arguments unwrapped; its old terminator."""
    block = source.blocks[0]
    block.append_to(target)
    terminator = list(block.operations)[-1].operation
    for argument in block.arguments:
        if _on_host(argument.type):
            tensor = argument.type
            argument.set_type(ranked(tensor).element_type)
            first = block.operations[0].operation
            wrapped = Emitter.before(first).op("tensor.from_elements", [argument], [tensor])
            argument.replace_all_uses_except(wrapped.result, wrapped)
    return block, terminator


def _while(e: Emitter, op: ir.Operation) -> list[ir.Value]:
    types = [r.type for r in op.results]
    inits = _unwrap(e, op.operands)
    loop = e.op("scf.while", inits, [v.type for v in inits], regions=2)
    block, end = _take_block(op.regions[0], loop.regions[0])
    at = Emitter.before(end)
    at.op("scf.condition", [at.extract(end.operands[0]), *block.arguments], [])
    end.erase()
    _, end = _take_block(op.regions[1], loop.regions[1])
    at = Emitter.before(end)
    at.op("scf.yield", _unwrap(at, end.operands), [])
    end.erase()
    return _wrap(e, list(loop.results), types)


def _branch(e: Emitter, op: ir.Operation) -> list[ir.Value]:
    types = [r.type for r in op.results]
    selector = e.extract(op.operands[0])
    inner = [ranked(t).element_type if _on_host(t) else t for t in types]
    regions = list(op.regions)
    if op.name == "stablehlo.if":
        branch = e.op("scf.if", [selector], inner, regions=2)
        order = regions
    else:
        cases = ir.DenseI64ArrayAttr.get(list(range(len(regions) - 1)))
        branch = e.op(
            "scf.index_switch", [e.to_int(selector, ir.IndexType.get())], inner, {"cases": cases}, regions=len(regions)
        )
        order = [regions[-1], *regions[:-1]]  # the default comes first
    for source, target in zip(order, branch.regions, strict=True):
        _, end = _take_block(source, target)
        at = Emitter.before(end)
        at.op("scf.yield", _unwrap(at, end.operands), [])
        end.erase()
    return _wrap(e, list(branch.results), types)
