"""kc-lower-asserts: a failed assertion fails the call with its message, not the process."""
from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import arith, ir, scf
from kc.pass_base import Pass, PassContext
from kc.passes.loops._messages import Messages, declare
from kc.rewrite import erase_op, walk_ops


@dataclasses.dataclass(frozen=True)
class LowerAsserts(Pass):
    """``cf.assert`` in host code to a call of the runtime's ``kc_raise``.

    Upstream lowers ``cf.assert`` to ``abort()``. kc's runtime notes the message, lets the call end, and raises it as an
    exception of that call. What follows a failed assertion still runs, so it must be memory-safe without it
    (``kc-legalize-asserts`` sees to that).

    Before::

        cf.assert %ok, "index must be smaller than dim size"

    After::

        %true = arith.constant true
        %failed = arith.xori %ok, %true : i1
        scf.if %failed {
          %0 = llvm.mlir.addressof @kc_message_0 : !llvm.ptr
          func.call @kc_raise(%0) : (!llvm.ptr) -> ()
        }
    """

    name: ClassVar[str] = "kc-lower-asserts"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "loops"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "func", "llvm", "scf")

    def acts_on(self) -> frozenset[str]:
        """See ``Pass.acts_on``."""
        return frozenset({"cf.assert"})

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        checks = walk_ops(op, ["cf.assert"])
        if not checks:
            return
        declare(op, "kc_raise", "(!llvm.ptr)")
        messages = Messages(op)
        for check in checks:
            message = ir.StringAttr(check.attributes["msg"]).value
            with ir.InsertionPoint(check), check.location:
                true = arith.constant(ir.IntegerType.get_signless(1), 1)
                branch = scf.IfOp(arith.xori(check.operands[0], true))
                with ir.InsertionPoint(branch.then_block):
                    messages.call("kc_raise", message)
                    scf.yield_([])
            erase_op(check)

