"""Passes as a user writes them, for tests of kc-opt: good ones, one that fails in each way a pass can fail."""
from __future__ import annotations

import dataclasses
from typing import ClassVar, Literal

import kc
from kc.bindings import arith, ir
from kc.rewrite import walk_ops


@kc.rewrite("arith.addi", level="linalg", name="test-add-to-sub")
def add_to_sub(op, rewriter):
    """Turn integer additions into subtractions, but not those marked ``keep``."""
    if "keep" in op.attributes:
        return False
    with rewriter.ip:
        new = arith.subi(op.lhs, op.rhs)
    rewriter.replace_op(op, new)
    return True


@dataclasses.dataclass(frozen=True)
class Mark(kc.Pass):
    """Mark every op of a function with its options."""

    name: ClassVar[str] = "test-mark"
    anchor: ClassVar[str] = "func.func"
    level: ClassVar[str] = "linalg"
    count: int = 1
    sizes: tuple[int, ...] = ()
    mode: Literal["fast", "exact"] = "fast"
    label: str = ""
    strict: bool = False
    limit: int | None = None

    def run(self, op: ir.Operation, ctx: kc.PassContext) -> None:
        ctx.count("marked")
        text = f"{self.count} {self.sizes} {self.mode} '{self.label}' {self.strict} {self.limit}"
        op.attributes["test.mark"] = ir.StringAttr.get(text, ctx.context)


@dataclasses.dataclass(frozen=True)
class Talk(kc.Pass):
    """Emit a diagnostic at every ``arith.constant``."""

    name: ClassVar[str] = "test-talk"
    level: ClassVar[str] = "linalg"
    severity: Literal["error", "warning", "remark"] = "remark"

    def run(self, op: ir.Operation, ctx: kc.PassContext) -> None:
        for constant in walk_ops(op, "arith.constant"):
            notes = [(constant.parent, "inside this function")]
            if self.severity == "error":
                ctx.error(constant, "no constants, please", notes)
            elif self.severity == "warning":
                ctx.warn(constant, "a constant", notes)
            else:
                ctx.remark(constant, "a constant", notes)


@dataclasses.dataclass(frozen=True)
class Misbehave(kc.Pass):
    """Do one of the things that a pass must not do."""

    name: ClassVar[str] = "test-misbehave"
    level: ClassVar[str] = "linalg"
    how: Literal["raise", "invalid", "emit", "crash", "abort"] = "raise"

    def run(self, op: ir.Operation, ctx: kc.PassContext) -> None:
        if self.how == "raise":
            raise KeyError("no such thing")
        if self.how == "invalid":
            function = walk_ops(op, "func.func")[0]
            function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], [], context=ctx.context))
        elif self.how == "emit":
            op.location.emit_error("emitted, and not raised")
        elif self.how == "crash":
            from kc.bindings import rewrite

            patterns = rewrite.RewritePatternSet()
            patterns.add("arith.addi", lambda op, rewriter: True)
            patterns.freeze()
            patterns.freeze()  # crashes in native code
        else:
            import os

            os.abort()
