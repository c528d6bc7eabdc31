"""``kc-stablehlo-to-signless``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import ir
from kc.pass_base import Pass, PassContext
from kc.pass_manager import run_pipeline
from kc.rewrite import walk_ops


@dataclasses.dataclass(frozen=True)
class StablehloToSignless(Pass):
    """Integers become signless; which were unsigned is written down first.

    Below StableHLO integer types carry no sign, the ops do. Every StableHLO and CHLO op with an unsigned operand or
    result gets ``kc.unsigned = array<i1: ...>`` (operands in order, then results), function arguments and results that
    were unsigned get ``kc.dtype = "ui8"`` and so on. Before / after::

        %r = stablehlo.divide %a, %b : tensor<4xui8>
        %r = stablehlo.divide %a, %b {kc.unsigned = array<i1: true, true, true>} : tensor<4xi8>
    """

    name: ClassVar[str] = "kc-stablehlo-to-signless"
    level: ClassVar[str] = "stablehlo"
    dialects: ClassVar[tuple[str, ...]] = ("stablehlo",)

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        found = False
        for inner in walk_ops(op):
            if inner.name == "func.func":
                found |= _mark_function(inner)
            elif inner.name.split(".")[0] in ("stablehlo", "chlo", "interpreter"):
                flags = [_unsigned(v.type) for v in (*inner.operands, *inner.results)]
                if any(flags):
                    inner.attributes["kc.unsigned"] = ir.DenseBoolArrayAttr.get(flags)
                    found = True
            elif inner.name != "builtin.module":
                self._check(inner, ctx)
        if found:
            run_pipeline(op, "builtin.module(stablehlo-convert-to-signless)")

    @staticmethod
    def _check(op: ir.Operation, ctx: PassContext) -> None:
        # what a tensor holds makes no difference to its size
        if op.name == "tensor.dim" or op.name.split(".")[0] == "func":
            return
        if any(_unsigned(v.type) for v in (*op.operands, *op.results)):
            ctx.error(
                op,
                f"'{op.name}' has unsigned integers, but only StableHLO and CHLO ops say what they mean by them",
                ["nearest thing that works: the same op of stablehlo, or signless integers"],
            )


def _unsigned(type_: ir.Type) -> bool:
    if not isinstance(type_, ir.RankedTensorType):
        return False
    inner = ir.RankedTensorType(type_).element_type
    return isinstance(inner, ir.IntegerType) and ir.IntegerType(inner).is_unsigned


def _mark_function(function: ir.Operation) -> bool:
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    found = False
    for name, types in (("arg_attrs", kind.inputs), ("res_attrs", kind.results)):
        if not any(map(_unsigned, types)):
            continue
        found = True
        old = list(ir.ArrayAttr(function.attributes[name])) if name in function.attributes else [None] * len(types)
        new = []
        for type_, attr in zip(types, old, strict=True):
            entries = {} if attr is None else {a.name: a.attr for a in ir.DictAttr(attr)}
            if _unsigned(type_):
                entries["kc.dtype"] = ir.StringAttr.get(str(ir.RankedTensorType(type_).element_type))
            new.append(ir.DictAttr.get(entries))
        function.attributes[name] = ir.ArrayAttr.get(new)
    return found
