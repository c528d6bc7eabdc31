"""Passes with faults planted in them, for tests of ``kc bisect`` and ``kc reduce``."""
from __future__ import annotations

import dataclasses
import os
from typing import ClassVar, Literal

import kc
from kc.bindings import ir
from kc.rewrite import walk_ops


@dataclasses.dataclass(frozen=True)
class Plant(kc.Pass):
    """Do something wrong to each op named ``op`` (with ``nth``, only to that one, from 0)."""

    name: ClassVar[str] = "test-plant"
    level: ClassVar[str] = "linalg"
    how: Literal["swap", "become", "crash", "hang", "raise", "invalid", "error", "illegal"] = "swap"
    op: str = "arith.subf"
    into: str = "arith.addf"
    nth: int = -1

    def run(self, op: ir.Operation, ctx: kc.PassContext) -> None:
        for number, found in enumerate(walk_ops(op, self.op)):
            if self.nth in (-1, number):
                self._spoil(found, ctx)

    def _spoil(self, op: ir.Operation, ctx: kc.PassContext) -> None:
        if self.how == "swap":
            first, second = op.operands[0], op.operands[1]
            op.operands[0] = second
            op.operands[1] = first
        elif self.how == "become":
            with ir.InsertionPoint(op), op.location:
                new = ir.Operation.create(self.into, results=[r.type for r in op.results], operands=list(op.operands))
            op.results[0].replace_all_uses_with(new.results[0])
            op.erase()
        elif self.how == "crash":
            os.abort()
        elif self.how == "hang":
            while True:
                pass
        elif self.how == "raise":
            raise KeyError(f"no rule for {op.name}")
        elif self.how == "error":
            ctx.error(op, f"'{op.name}' cannot be done")
        elif self.how == "illegal":
            with ir.InsertionPoint(op), op.location:
                ir.Operation.create("memref.alloc", results=[ir.MemRefType.get([1], ir.F32Type.get())],
                                    attributes={"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])})  # fmt: skip
        else:
            function = op
            while function.name != "func.func":
                function = function.parent.operation
            function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], []))
