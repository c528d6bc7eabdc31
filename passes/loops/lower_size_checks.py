"""``kc-lower-size-checks``."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import arith, ir, scf
from kc.pass_base import Pass, PassContext
from kc.passes.loops._messages import Messages, declare
from kc.rewrite import erase_op, walk_ops


@dataclasses.dataclass(frozen=True)
class LowerSizeChecks(Pass):
    """Calls of functions that carry ``kc.check`` to calls of the runtime's ``kc_fail_check``, taken when they fail.

    Unlike a failed ``cf.assert`` (``kc-lower-asserts``), a failed check of sizes leaves the program at once: what
    follows would read beyond its arrays. Checks that are known to hold go.

    Before::

        func.call @kc_check_0(%ok, %m, %n) : (i1, index, index) -> ()

    After::

        scf.if %failed {
          %text = llvm.mlir.addressof @kc_message_0 : !llvm.ptr
          func.call @kc_fail_check(%text, %m, %n) : (!llvm.ptr, index, index) -> ()
        }
    """

    name: ClassVar[str] = "kc-lower-size-checks"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "loops"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "func", "llvm", "scf")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        body = op.regions[0].blocks[0]
        texts: dict[str, str] = {}
        for view in list(body.operations):
            function = view.operation
            if "kc.check" in function.attributes:
                name = ir.StringAttr(function.attributes["sym_name"]).value
                texts[name] = ir.StringAttr(function.attributes["kc.check"]).value
                erase_op(function)
        if not texts:
            return
        declare(op, "kc_fail_check", "(!llvm.ptr, index, index)")
        messages = Messages(op)
        for call in walk_ops(op, ["func.call"]):
            callee = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
            if callee not in texts:
                continue
            holds, *numbers = call.operands
            if not _is_true(holds):
                with ir.InsertionPoint(call), call.location:
                    true = arith.constant(ir.IntegerType.get_signless(1), 1)
                    branch = scf.IfOp(arith.xori(holds, true))
                    with ir.InsertionPoint(branch.then_block):
                        messages.call("kc_fail_check", texts[callee], numbers)
                        scf.yield_([])
            erase_op(call)


def _is_true(value: ir.Value) -> bool:
    op = value.owner
    if isinstance(op, ir.Block) or op.name != "arith.constant":
        return False
    return bool(ir.IntegerAttr(op.attributes["value"]).value)
