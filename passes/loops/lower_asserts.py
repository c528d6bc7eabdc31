"""kc-lower-asserts: a failed assertion fails the call with its message, not the process."""
from __future__ import annotations

import dataclasses
from typing import ClassVar

from kc.bindings import arith, ir, scf
from kc.pass_base import Pass, PassContext
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
          %0 = llvm.mlir.addressof @kc_assert_0 : !llvm.ptr
          func.call @kc_raise(%0) : (!llvm.ptr) -> ()
        }
    """

    name: ClassVar[str] = "kc-lower-asserts"
    anchor: ClassVar[str] = "builtin.module"
    level: ClassVar[str] = "loops"
    dialects: ClassVar[tuple[str, ...]] = ("arith", "func", "llvm", "scf")

    def run(self, op: ir.Operation, ctx: PassContext) -> None:
        checks = walk_ops(op, ["cf.assert"])
        if not checks:
            return
        body = op.regions[0].blocks[0]
        _declare_raise(op, body)
        names: dict[str, str] = {}
        for check in checks:
            message = ir.StringAttr(check.attributes["msg"]).value
            if message not in names:
                names[message] = f"kc_assert_{len(names)}"
                _message_global(body, names[message], message, check.location)
            with ir.InsertionPoint(check), check.location:
                true = arith.constant(ir.IntegerType.get_signless(1), 1)
                branch = scf.IfOp(arith.xori(check.operands[0], true))
                with ir.InsertionPoint(branch.then_block):
                    pointer = ir.Type.parse("!llvm.ptr")
                    address = ir.Operation.create(
                        "llvm.mlir.addressof",
                        results=[pointer],
                        attributes={"global_name": ir.FlatSymbolRefAttr.get(names[message])},
                    ).result
                    callee = {"callee": ir.FlatSymbolRefAttr.get("kc_raise")}
                    ir.Operation.create("func.call", results=[], operands=[address], attributes=callee)
                    scf.yield_([])
            erase_op(check)


def _declare_raise(module: ir.Operation, body: ir.Block) -> None:
    if "kc_raise" in ir.SymbolTable(module):
        return
    parsed = ir.Module.parse("func.func private @kc_raise(!llvm.ptr)")  # the op does not keep its module alive
    parsed.body.operations[0].operation.clone(ip=ir.InsertionPoint.at_block_begin(body))


def _message_global(body: ir.Block, name: str, message: str, location: ir.Location) -> None:
    data = message.encode() + b"\0"
    array = ir.Type.parse(f"!llvm.array<{len(data)} x i8>")
    ir.Operation.create(
        "llvm.mlir.global",
        regions=1,
        attributes={
            "sym_name": ir.StringAttr.get(name),
            "global_type": ir.TypeAttr.get(array),
            "value": ir.StringAttr.get(data),
            "constant": ir.UnitAttr.get(),
            "linkage": ir.Attribute.parse("#llvm.linkage<internal>"),
            "addr_space": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 0),
        },
        loc=location,
        ip=ir.InsertionPoint.at_block_begin(body),
    )
